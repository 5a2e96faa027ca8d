import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	accountName,
	doubtAbout,
	isRoot,
	mayChange,
	owns,
	requesterOf,
} from '../../../../source/core/rules/leases/ownership.js';
import type {Account} from '../../../../source/core/model/ports.js';
import type {Lease} from '../../../../source/core/model/types.js';

/** Account names that a user database can contain. They can contain anything but a colon. */
const name = fc.oneof(
	fc.constantFrom('root', 'ada', 'bob', 'ada@example.com', String.raw`DOMAIN\ada`, '0'),
	fc.string().filter((text) => !text.includes(':')),
);
const uid = fc.constantFrom(0, 1000, 1001, 65_534);
const outside = fc.record({name, uid});
const inside = fc.record({
	name,
	uid,
	userNamespace: fc.constantFrom('61002/4026532590', '61003/4026532590', '61002/4026532591', '?/?'),
});

const leaseOf = (account: Account): Lease => ({
	user: 'label',
	actualUser: accountName(account),
	type: 'manual',
	startTime: 0,
});

test('isRoot is false for every account in a user namespace', () => {
	fc.assert(
		fc.property(inside, (account) => {
			expect(isRoot(requesterOf(account))).toBe(false);
		}),
	);
});

test('mayChange never lets an account in a user namespace change a lease of an account outside', () => {
	fc.assert(
		fc.property(inside, outside, (account, owner) => {
			expect(mayChange(requesterOf(account), leaseOf(owner))).toBe(false);
			expect(mayChange(requesterOf(account, owner.name), leaseOf(owner))).toBe(false);
		}),
	);
});

test('mayChange lets only the owner, or root outside of namespaces, change a lease of an account in a namespace', () => {
	fc.assert(
		fc.property(inside, fc.oneof(inside, outside), (owner, account) => {
			const isSame =
				account.name === owner.name && 'userNamespace' in account && account.userNamespace === owner.userNamespace;
			expect(owns(requesterOf(account), leaseOf(owner))).toBe(isSame);
			expect(mayChange(requesterOf(account), leaseOf(owner))).toBe(
				isSame || (account.uid === 0 && !('userNamespace' in account)),
			);
		}),
	);
});

test('mayChange outside of user namespaces compares account names and allows root everything', () => {
	fc.assert(
		fc.property(outside, outside, (account, owner) => {
			const requester = requesterOf(account);
			expect(requester).toMatchObject({account: account.name, label: account.name});
			expect(doubtAbout(requester)).toBeUndefined();
			expect(mayChange(requester, leaseOf(owner))).toBe(account.uid === 0 || account.name === owner.name);
		}),
	);
});
