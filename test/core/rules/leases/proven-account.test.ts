import {describe, expect, test} from 'vitest';
import type {Host} from '../../../../source/core/model/ports.js';
import type {GpuRecord, Lease, ProcessIdentity} from '../../../../source/core/model/types.js';
import {isRoot, mayChange, requesterOf, provenAccount} from '../../../../source/core/rules/leases/ownership.js';
import {testHost} from '../../../_helpers/machine/host.js';

const wrapper: ProcessIdentity = {pid: 71, startTicks: 5, namespace: '4026531836'};

/** A caller with uid 0 in its own namespace. According to the kernel, the wrapper belongs to the same account. */
const inside = (changes: Partial<Host> = {}): Host =>
	testHost({
		account: {name: 'root', uid: 0, userNamespace: '1000/4026532590'},
		runsAsCaller: ({pid}) => pid === wrapper.pid,
		...changes,
	});

const leaseOf = (changes: Partial<Lease> = {}): Lease => ({
	user: 'alice',
	actualUser: 'alice',
	type: 'run',
	startTime: 0,
	machine: 'machine-1',
	bootId: 'boot-1',
	holder: wrapper,
	...changes,
});

const gpusWith = (...leases: readonly Lease[]): {readonly gpus: readonly GpuRecord[]} => ({
	gpus: leases.map((lease, index) => ({kind: 'leased', index, raw: '', lease})),
});

test('provenAccount returns the account whose wrapper or job the caller is part of', () => {
	for (const lease of [leaseOf(), leaseOf({holder: {...wrapper, pid: 70}, job: wrapper})]) {
		const outsideName = provenAccount(gpusWith(leaseOf({actualUser: 'bob', holder: {pid: 9}}), lease), inside());
		expect(outsideName).toBe('alice');
		const requester = requesterOf({...inside().account, outsideName});
		expect(requester).toMatchObject({account: 'alice', label: 'alice'});
		expect(isRoot(requester)).toBe(false);
		expect(mayChange(requester, leaseOf())).toBe(true);
		expect(mayChange(requester, leaseOf({actualUser: 'root'}))).toBe(false);
	}
});

test('provenAccount accepts the lease of a share as proof', () => {
	const shared: GpuRecord = {kind: 'shared', index: 0, raw: '', shares: [leaseOf({memoryMiB: 1024})]};
	expect(provenAccount({gpus: [shared]}, inside())).toBe('alice');
});

test('provenAccount is undefined outside of a user namespace', () => {
	expect(provenAccount(gpusWith(leaseOf()), inside({account: {name: 'bob', uid: 1001}}))).toBeUndefined();
});

describe('provenAccount is undefined for', () => {
	test.each<[string, readonly Lease[], Partial<Host>?]>([
		['a lease of another machine', [leaseOf({machine: 'machine-2'})]],
		['a lease of another boot', [leaseOf({bootId: 'boot-0'})]],
		['a boot that is unknown on both sides', [leaseOf({bootId: undefined})], {bootId: undefined}],
		['a process without a start time', [leaseOf({holder: {...wrapper, startTicks: undefined}})]],
		['a process of an unknown pid namespace', [leaseOf({holder: {...wrapper, namespace: undefined}})]],
		['a lease without an account', [leaseOf({actualUser: undefined})]],
		['a lease that was itself taken in a namespace', [leaseOf({actualUser: 'root@userns:1000/4026532590'})]],
		['leases of two accounts', [leaseOf(), leaseOf({actualUser: 'alicia'})]],
		['a process of another account', [leaseOf()], {runsAsCaller: () => false}],
	])('%s', (_, leases, changes) => {
		expect(provenAccount(gpusWith(...leases), inside(changes))).toBeUndefined();
	});
});
