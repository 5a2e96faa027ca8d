import {afterEach, describe, expect, test} from 'vitest';
import type {AuditEntry, Lease} from '../../../source/core/model/types.js';
import {reduce} from '../../../source/tui/state/reducer.js';
import {endSession, keys, startMonitor, stateOf, type Session} from '../_harness.js';
import {createBox, lease, sceneTime, type Box} from '../_world.js';

const size = {columns: 80, rows: 24};
const end = sceneTime + 570;

/** The message when the second snapshot follows the first. */
async function flashAfter(before: readonly Lease[], now: readonly Lease[]) {
	const boxOf = async (leases: readonly Lease[]) => createBox(4, {leases: {...leases}});
	const state = await stateOf(await boxOf(before), size);
	const {snapshot} = await stateOf(await boxOf(now), size);
	return reduce({...state, flash: undefined}, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 0}).flash;
}

const quiet = lease('alice', {expiryTime: end});
const reminded = lease('alice', {expiryTime: end, remindedOf: end});

test('top reminds the holder that a reservation ends soon, with the command to extend', async () => {
	expect(await flashAfter([quiet, quiet], [reminded, reminded])).toMatchObject({
		level: 'warning',
		text: 'your reservation of GPUs 0,1 ends at 14:41',
		next: 'canhazgpu extend --gpu-ids 0,1 --duration 1h',
	});
});

test('the reminder for many GPUs shows them as a range', async () => {
	const many = (one: Lease) => [one, one, one, one];
	expect(await flashAfter(many(quiet), many(reminded))).toMatchObject({
		text: 'your reservation of GPUs 0-3 ends at 14:41',
		next: 'canhazgpu extend --gpu-ids 0-3 --duration 1h',
	});
});

test('top reminds the user once for each end time of a reservation', async () => {
	expect(await flashAfter([reminded], [reminded])).toBeUndefined();
	expect(await flashAfter([reminded], [lease('alice', {expiryTime: end + 3600, remindedOf: end})])).toBeUndefined();
	const later = lease('alice', {expiryTime: end + 10, remindedOf: end + 10});
	expect(await flashAfter([reminded], [later])).toMatchObject({level: 'warning'});
});

test('the reminder for one of two own shares of a GPU names that share in its command', async () => {
	const share = (leaseId: string, changes: Partial<Lease>) =>
		lease('alice', {leaseId, memoryMiB: 8192, expiryTime: end + 3600, ...changes});
	const stateWith = async (...shares: readonly Lease[]) => {
		const box = await createBox(1);
		await box.write({kind: 'shares', index: 0, capacityMiB: 80_000, shares});
		return stateOf(box, size);
	};

	const state = await stateWith(share('a', {expiryTime: end}), share('b', {}));
	const {snapshot} = await stateWith(share('a', {expiryTime: end, remindedOf: end}), share('b', {}));
	expect(
		reduce({...state, flash: undefined}, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 0}).flash,
	).toMatchObject({
		next: 'canhazgpu extend --gpu-ids 0 --lease a --duration 1h',
	});
});

test('top shows no reminder for reservations of other users', async () => {
	expect(await flashAfter([], [lease('bob', {expiryTime: end, remindedOf: end})])).toBeUndefined();
});

describe('the shown reminder of top', () => {
	let session: Session | undefined;

	afterEach(async () => {
		await endSession(session);
		session = undefined;
	});

	/** Starts top on two GPUs, and waits for the reminder of both. */
	async function startReminded(): Promise<readonly [Box, Session]> {
		const box = await createBox(2, {leases: {0: quiet, 1: quiet}});
		session = startMonitor(box, {size: {columns: 140, rows: 32}});
		await session.shows(/> 0 +Mine/v);
		await box.write({kind: 'lease', index: 0, lease: reminded}, {kind: 'lease', index: 1, lease: reminded});
		await session.shows('WARN your reservation of GPUs 0,1 ends at');
		return [box, session];
	}

	test('disappears at the next key, and v still shows it', async () => {
		const [, {press, hides, shows}] = await startReminded();
		await press('k');
		await hides('WARN your reservation');
		await press('v');
		await shows('$ canhazgpu extend --gpu-ids');
	});

	test('stays while a filter is typed over it', async () => {
		const [box, {press, hides, shows}] = await startReminded();
		await press('/');
		await hides('WARN your reservation');
		const later = lease('alice', {expiryTime: end + 10, remindedOf: end + 10});
		await box.write({kind: 'lease', index: 0, lease: later});
		await expect.poll(() => session!.store.getState().flash?.text).toContain('GPU 0 ');
		await press('alice', keys.enter);
		await shows('WARN your reservation of GPU 0 ends at');
	});

	test('does not hide the message about an unknown key', async () => {
		const [, {press, shows}] = await startReminded();
		await press('b');
		await shows('WARN b is not a key of the monitor');
	});

	test('names only the GPUs whose reservations have not changed, and disappears when all have changed', async () => {
		const state = await stateOf(await createBox(2, {leases: {0: quiet, 1: quiet}}), size);
		const read = async (before: typeof state, leases: Readonly<Record<number, Lease>>) => {
			const {snapshot} = await stateOf(await createBox(2, {leases}), size);
			return reduce(before, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 0});
		};

		const both = await read(state, {0: reminded, 1: reminded});
		expect(both.flash?.text).toBe('your reservation of GPUs 0,1 ends at 14:41');
		const extended = lease('alice', {expiryTime: end + 3600, remindedOf: end});
		const one = await read(both, {0: extended, 1: reminded});
		expect(one.flash?.text).toBe('your reservation of GPU 1 ends at 14:41');
		expect((await read(one, {0: extended, 1: reminded})).flash).toBe(one.flash);
		expect((await read(one, {0: extended})).flash).toBeUndefined();
	});
});

describe('the message of top that a reservation went back to the pool', () => {
	const entry = (id: string, changes: Partial<AuditEntry> = {}): AuditEntry => ({
		id,
		time: sceneTime,
		kind: 'ended',
		account: 'alice',
		gpus: [0, 1],
		reason: 'reclaimed',
		leaseId: 'a',
		...changes,
	});

	async function flashWith(before: readonly AuditEntry[], entries: readonly AuditEntry[]) {
		const state = await stateOf(await createBox(4, {}), size);
		const known = {...state, flash: undefined, events: {...state.events, entries: before}};
		return reduce(known, {kind: 'events-arrived', entries}).flash;
	}

	const first = entry('1', {kind: 'granted', reason: undefined});

	test('appears once, with the command that reserves again', async () => {
		expect(await flashWith([first], [first, entry('2')])).toEqual({
			level: 'warning',
			text: 'your reservation of GPUs 0,1 was idle and went back to the pool',
			next: 'canhazgpu reserve --gpus 2',
		});
		expect(await flashWith([first, entry('2')], [first, entry('2'), entry('3', {kind: 'joined'})])).toBeUndefined();
		expect(await flashWith([], [first, entry('2')])).toBeUndefined();
	});

	test('appears for a reservation beyond the limit, but not for reservations of others or after another end', async () => {
		expect(await flashWith([first], [first, entry('2', {reason: 'beyond-limit'})])).toMatchObject({
			text: 'your reservation of GPUs 0,1 was beyond your limit and went back to the pool',
		});
		expect(await flashWith([first], [first, entry('2', {account: 'bob'})])).toBeUndefined();
		expect(await flashWith([first], [first, entry('2', {reason: 'exited'})])).toBeUndefined();
	});
});
