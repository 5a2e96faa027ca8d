import {describe, expect, test} from 'vitest';
import type {AuditEntry, Lease} from '../../../source/core/model/types.js';
import {reduce} from '../../../source/tui/state/reducer.js';
import {stateOf} from '../_harness.js';
import {createBox, lease, sceneTime} from '../_world.js';

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
	expect(await flashAfter([quiet, quiet], [reminded, reminded])).toEqual({
		level: 'warning',
		text: 'your reservation of GPUs 0,1 ends in 9m',
		next: 'canhazgpu extend --gpu-ids 0,1 --duration 1h',
	});
});

test('the reminder for many GPUs shows them as a range', async () => {
	const many = (one: Lease) => [one, one, one, one];
	expect(await flashAfter(many(quiet), many(reminded))).toMatchObject({
		text: 'your reservation of GPUs 0-3 ends in 9m',
		next: 'canhazgpu extend --gpu-ids 0-3 --duration 1h',
	});
});

test('top reminds the user once for each end time of a reservation', async () => {
	expect(await flashAfter([reminded], [reminded])).toBeUndefined();
	expect(await flashAfter([reminded], [lease('alice', {expiryTime: end + 3600, remindedOf: end})])).toBeUndefined();
	const later = lease('alice', {expiryTime: end + 10, remindedOf: end + 10});
	expect(await flashAfter([reminded], [later])).toMatchObject({level: 'warning'});
});

test('top shows no reminder for reservations of other users', async () => {
	expect(await flashAfter([], [lease('bob', {expiryTime: end, remindedOf: end})])).toBeUndefined();
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
