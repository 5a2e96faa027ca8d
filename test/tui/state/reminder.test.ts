import {expect, test} from 'vitest';
import type {Lease} from '../../../source/core/model/types.js';
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
