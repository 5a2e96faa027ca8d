/** Taking somebody out of the line, by the beginning of an id. */
import {expect, test} from 'vitest';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {createTestWorld, person} from '../../../_helpers/world.js';

const alice = person('alice');
const bob = person('bob', 'bob', 1001);

test('an own entry goes, by the beginning of its id, and its waiter says so', async () => {
	const world = await createLiveWorld(1);
	await reserve(world, {requester: alice, count: 1, durationSeconds: 3600});
	const answer = acquire(
		world,
		{requester: bob, count: 1, tenure: {type: 'run'}},
		{waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined},
	);
	await eventually(() => world.memory.state.line.length === 1);
	const [id] = world.memory.state.line;
	expect(await leaveQueue(world, alice, id!)).toMatchObject({kind: 'not-yours'});
	expect(await leaveQueue(world, bob, 'nobody')).toEqual({kind: 'not-found'});
	expect(await leaveQueue(world, bob, id!.slice(0, 8))).toEqual({kind: 'left', id, freed: []});
	expect(await answer).toEqual({kind: 'gave-up', reason: 'removed'});
});

test('leaving by id: ambiguous beginnings and what cannot be read', async () => {
	const world = await createTestWorld();
	world.memory.state.line.push('abc-1', 'abc-2', 'garbage');
	world.memory.state.entries.set('garbage', '!');
	for (const id of ['abc-1', 'abc-2']) {
		world.memory.state.entries.set(
			id,
			JSON.stringify({
				id,
				user: 'alice',
				requested_count: 1,
				requested_ids: [],
				allocated_gpus: [],
				reservation_type: 'run',
				enqueue_time: world.now(),
				last_heartbeat: world.now(),
			}),
		);
	}

	expect(await leaveQueue(world, alice, 'abc')).toEqual({kind: 'ambiguous', ids: ['abc-1', 'abc-2']});
	expect(await leaveQueue(world, alice, 'garbage')).toEqual({kind: 'not-found'});
	expect(await leaveQueue(world, person('root', 'root', 0), 'garbage')).toEqual({
		kind: 'left',
		id: 'garbage',
		freed: [],
	});
	expect(await leaveQueue(world, alice, 'abc-1')).toEqual({kind: 'left', id: 'abc-1', freed: []});
	expect(world.memory.state.line).toEqual(['abc-2']);
});
