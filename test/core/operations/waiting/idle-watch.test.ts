/** How a waiting request watches idle reservations. */
import {describe, expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {eventually} from '../../../_helpers/eventually.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {entryRecord, person} from '../../../_helpers/world.js';
import {bob, free, hold, start, wants} from './_waiting.js';

const root = person('root', 'root', 0);

/** Creates a world in which alice holds the only GPU and idle reservations are reclaimed. All scans but the first of each request hang. */
async function createHangingWorld() {
	const world = await createLiveWorld(1);
	await changePolicy(world, root, [{key: 'idle.after', value: '5m'}]);
	await hold(world, [0]);
	const before = world.scans();
	const hanging = Promise.withResolvers<never>();
	const hangs = {
		...world,
		gpus: {
			...world.gpus,
			observe: async () => (world.scans() === before ? world.gpus.observe() : hang()),
		},
	};
	let isHanging = false;
	const hang = async () => {
		isHanging = true;
		return hanging.promise;
	};

	return {world, hangs, hasHung: async () => eventually(() => isHanging)};
}

describe('a scan that hangs', {timeout: 20_000}, () => {
	test('does not delay a grant', async () => {
		const {world, hangs, hasHung} = await createHangingWorld();
		const waiter = start(hangs, wants());
		await hasHung();
		await free(world, 0);
		expect(await waiter.answer).toMatchObject({kind: 'granted', gpus: [0]});
	});

	test('does not delay the cancellation of a request', async () => {
		const {hangs, hasHung} = await createHangingWorld();
		const waiter = start(hangs, wants());
		await hasHung();
		waiter.abort();
		expect(await waiter.answer).toMatchObject({kind: 'gave-up', reason: 'aborted'});
	});
});

test('a waiting request watches idle reservations even if a request of the Go canhazgpu is first in the queue', async () => {
	const world = await createLiveWorld(2);
	await changePolicy(world, root, [{key: 'idle.after', value: '5m'}]);
	await hold(world, [0]);
	await hold(world, [1]);
	const {now} = await world.store.read();
	const {entry} = entryRecord('go', {user: 'carol', requestedCount: 2, enqueueTime: now, lastHeartbeat: now});
	await world.store.commit({...emptyPlan, writes: [{kind: 'join', entry}]});
	const waiter = start(world, wants({requester: bob}));
	await waiter.waits();
	await eventually(async () => {
		const [record] = (await world.store.read()).gpus;
		return record?.kind === 'leased' && record.lease.idle !== undefined;
	});
	waiter.abort();
	await waiter.answer;
});
