import {expect, test} from 'vitest';
import {createProvider} from '../../source/app/gpus/gpus.js';
import type {Config} from '../../source/config/config.js';
import {emptyPlan} from '../../source/core/model/plan.js';
import {entryFor, planJoin} from '../../source/core/rules/queue/queue.js';
import {createTestWorld, person, startTime} from '../_helpers/world.js';

test('a simulated GPU has a process for a running job, but none for a waiting request', async () => {
	const {host, clock, memory} = await createTestWorld({gpuCount: 2});
	const waits = {
		id: 'waits',
		requester: person('bob'),
		wanted: {count: 2},
		tenure: {type: 'run'},
		waitSeconds: undefined,
	} as const;
	const lease = {user: 'bob', type: 'run', startTime: 0, holder: {pid: 7}} as const;
	await memory.commit(planJoin(entryFor(waits, host, startTime), 'box'));
	await memory.commit({
		...emptyPlan,
		writes: [
			{kind: 'lease', index: 0, lease},
			{kind: 'lease', index: 1, lease: {...lease, partialQueueId: waits.id}},
		],
	});
	const config: Config = {get: () => undefined} as unknown as Config;
	const {gpus} = await createProvider('fake', {clock, config, host, store: memory}).observe();
	expect(gpus.map(({processes}) => processes?.length)).toEqual([1, 0]);
});
