import {expect, test} from 'vitest';
import {secondsToNextEnd} from '../../../../source/core/rules/leases/liveness.js';
import {nextReadMs} from '../../../../source/core/rules/queue/wake-up.js';
import {createTestWorld, startTime} from '../../../_helpers/world.js';

const lease = {user: 'eve', type: 'manual', start_time: startTime, last_heartbeat: startTime};

test.each([
	['a waiting request reads again when a reservation ends', {...lease, expiry_time: startTime + 1}, 1001],
	[
		'a waiting request ignores an expiry that the Go canhazgpu wrote for a job',
		{...lease, type: 'run', expiry_time: startTime - 5},
		2000,
	],
	[
		'a waiting request ignores an expiry of GPUs that another waiting request holds',
		{...lease, expiry_time: startTime - 5, partial_queue_id: 'somebody'},
		2000,
	],
])('%s', async (_, record, milliseconds) => {
	const world = await createTestWorld({gpuCount: 1});
	world.memory.state.gpus.set(0, JSON.stringify(record));
	const snapshot = await world.store.read();
	const options = {nextEndSeconds: secondsToNextEnd(snapshot, world.host), random: 0};
	expect(nextReadMs(snapshot, 'own', options)).toBe(milliseconds);
});
