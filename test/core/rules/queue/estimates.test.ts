import {expect, test} from 'vitest';
import {drain} from '../../../../source/core/operations/drain.js';
import {estimateWaits} from '../../../../source/core/rules/queue/estimates.js';
import {entryFor, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {createTestWorld, person} from '../../../_helpers/world.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';

const boss = person('root', 'root', 0);

test('estimates come from the ends of reservations and limits of jobs, in the order of the line', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await reserve(world, {requester: boss, count: 1, ids: [0], durationSeconds: 600});
	const join = async (id: string, wants: {count: number; ids?: readonly number[]}, timeLimitSeconds?: number) =>
		world.store.commit(
			planJoin(
				entryFor(
					{id, requester: boss, wanted: wants, tenure: {type: 'run', timeLimitSeconds}, waitSeconds: undefined},
					world.host,
					world.now(),
				),
				'box',
			),
		);
	await join('a', {count: 1, ids: [0]}, 100);
	await join('b', {count: 1, ids: [0]});
	await join('c', {count: 1, ids: [0]});
	await join('d', {count: 5});
	// GPU 1 is free, and the line does not take it: so it is not to be counted on.
	await join('e', {count: 1, ids: [1]});
	expect(estimateWaits(await readCurrent(world))).toEqual(
		new Map([
			['a', 600],
			['b', 700],
		]),
	);
	expect(queueRows(await readCurrent(world)).map((row) => row.isPossible)).toEqual([true, true, true, false, true]);
	// Of what is out of service nobody knows when it is back.
	await drain(world, boss, [0], undefined);
	expect(estimateWaits(await readCurrent(world)).size).toBe(0);
});
