import {expect, test} from 'vitest';
import {byModel, liveUsage} from '../../../../source/core/rules/pool/report.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {planServedModels} from '../../../../source/core/rules/processes/served-model.js';
import type {GpuProcess} from '../../../../source/core/model/types.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {createTestWorld, historyOf, idleReading, observationOf, person} from '../../../_helpers/world.js';
import {makeReport} from '../../../../source/core/operations/history/report.js';
import {createSharedGpus} from '../../../../source/core/live/shared-scanner.js';
import {isLeased} from '../../../_helpers/leased.js';

const alice = person('alice');
const serving = (user: string | undefined, model: string): GpuProcess => ({
	pid: 7,
	user,
	commandLine: `vllm serve ${model}`,
});
const seeing = (...processes: readonly GpuProcess[]) =>
	observationOf([{...idleReading(0), memoryUsedMiB: 9000, processes}]);

test('the first model that the holder serves is the lease’s, and goes into its usage record', async () => {
	const world = await createTestWorld();
	const asked = {requester: alice, count: 1, ids: [0], durationSeconds: 600};
	await reserve(world, asked);
	await world.store.commit(planServedModels(await world.store.read(), seeing(serving('alice', 'lab/one'))));
	await world.store.commit(planServedModels(await world.store.read(), seeing(serving('alice', 'lab/two'))));
	world.pass(3600 / 2 / 6);
	const window = {from: 0, to: world.now()};
	const live = await makeReport([], liveUsage(await world.store.read()), {window, split: byModel});
	expect(live.rows.map(({key}) => key)).toEqual(['lab/one']);
	await release(world, alice, {by: 'label', label: 'alice'});
	expect(await historyOf(world.store)).toMatchObject([{gpuId: 0, model: 'lab/one'}]);

	await reserve(world, asked);
	await release(world, alice, {by: 'label', label: 'alice'});
	const report = await makeReport(world.store.history(0, world.now()), [], {
		window: {from: 0, to: world.now()},
		split: byModel,
	});
	expect(report.rows.map(({key}) => key).toSorted()).toEqual(['lab/one', 'unknown']);
});

test('what a squatter or an unknown user serves is not the holder’s', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 600});
	const snapshot = await world.store.read();
	for (const user of ['bob', undefined]) {
		expect(planServedModels(snapshot, seeing(serving(user, 'lab/x'))).writes).toEqual([]);
	}
});

test('the scanner for all writes it down, once', async () => {
	const world = await createLiveWorld(1);
	await reserve(world, {requester: alice, count: 1, durationSeconds: 600});
	world.see(() => seeing(serving('alice', 'lab/one')));
	let commits = 0;
	const store = {
		...world.store,
		async commit(plan: Parameters<typeof world.store.commit>[0]) {
			commits++;
			return world.store.commit(plan);
		},
	};
	const gpus = createSharedGpus({...world, store, name: 'fake', intervalMs: 10, createScanner: () => world.gpus});
	await gpus.observe();
	await gpus.observe();
	await gpus.close!();
	expect(commits).toBe(1);
	const {gpus: records} = await world.store.read();
	expect(records.filter(isLeased).map(({lease}) => lease.model)).toEqual(['lab/one']);
});
