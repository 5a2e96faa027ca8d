import {expect, onTestFinished, test} from 'vitest';
import {createDemo} from '../../source/demo/demo.js';
import {demoScenario, demoScenarioFor} from '../../source/demo/scenario.js';
import {estimateWaits} from '../../source/core/rules/queue/estimates.js';
import {ownerOf, requesterOf} from '../../source/core/rules/leases/ownership.js';
import {holdingsIn} from '../../source/core/rules/leases/holdings.js';
import {createAlertRecorder} from '../../source/core/operations/record-alerts.js';
import {createReclaimer} from '../../source/core/operations/reclaim.js';
import {extend, readStatus, reserve} from '../../source/core/operations/reservations.js';
import type {World} from '../../source/core/model/ports.js';
import type {AuditRecord, Need} from '../../source/core/model/types.js';
import type {Scenario} from '../../source/gpu/simulated/scenario.js';
import {createSimulatedProvider} from '../../source/gpu/simulated/simulated.js';
import {testHost} from '../_helpers/machine/host.js';
import {createVirtualClock} from '../_helpers/virtual-clock.js';

const open = async (scenario: Scenario = demoScenario) => {
	const clock = createVirtualClock();
	const startedAtSeconds = clock.now();
	const host = testHost({
		monotonic: {id: 'boot-1', seconds: () => clock.monotonicMs() / 1000},
		account: {name: 'viewer', uid: 1000},
		liveness: (list) => list.map(() => 'unknown'),
	});
	const options = {host, clock, scenario, now: clock.now, memoryThresholdMiB: 1024};
	const gpusOver: Parameters<typeof createDemo>[0]['gpusOver'] = (store) =>
		createSimulatedProvider({
			scenario,
			startedAtSeconds,
			nowSeconds: clock.now,
			monotonicMs: clock.monotonicMs,
			gpuCount: async () => scenario.gpus ?? 8,
			async leases() {
				const {gpus} = await store.read();
				return holdingsIn(gpus)
					.filter(({lease}) => lease.partialQueueId === undefined)
					.map(({index, lease}) => ({
						index,
						shareMiB: lease.memoryMiB,
						user: ownerOf(lease),
						type: lease.type,
						startTime: lease.startTime,
					}));
			},
		});
	const making = createDemo({...options, gpusOver});
	// Users who share a GPU can conflict, and retry after some time.
	const progress = {isMade: scenario.policy === undefined};
	const made = making.finally(() => {
		progress.isMade = true;
	});
	while (!progress.isMade) {
		await clock.pass(0.1);
	}

	const demo = await made;
	onTestFinished(demo.close);
	const world: World = {...options, store: demo.store, gpus: gpusOver(demo.store)};
	return {demo, clock, world};
};

test('the demo starts with a queue and with GPUs in use, available, unreserved and failed', async () => {
	const {world} = await open();
	const {rows, snapshot} = await readStatus(world);
	expect(rows.map(({state, owner, unreservedUsers}) => [state, owner ?? unreservedUsers[0]])).toEqual([
		['in-use', 'ada'],
		['in-use', 'ada'],
		['in-use', 'grace'],
		['in-use', 'alan'],
		['in-use', 'katherine'],
		['available', undefined],
		['unreserved', 'dave'],
		['error', undefined],
	]);
	// A forgotten notebook, and a served model.
	expect(rows[2]).toMatchObject({processes: [], lease: {type: 'manual'}});
	expect(rows[2]?.heldSeconds).toBeCloseTo(6.6 * 3600, -2);
	expect(rows[0]?.model).toMatchObject({provider: 'meta-llama'});
	expect(rows[5]?.reading).toMatchObject({isMigEnabled: true, migInstances: [{profile: '3g.40gb'}, {}, {}]});
	const waiting = snapshot.queue.map((record) => (record.kind === 'entry' ? record.entry.user : record.kind));
	expect(waiting).toEqual(['erin', 'frank']);
	expect(Array.from(estimateWaits(snapshot).values(), (seconds) => Math.round(seconds / 60))).toEqual([12, 2]);
	const [first] = snapshot.queue;
	expect(first?.kind === 'entry' && snapshot.now - first.entry.enqueueTime).toBeCloseTo(22 * 60, -1);
});

test('the demo starts with more than 60 past reservations for reports', async () => {
	const {demo, clock} = await open();
	const usage = await Array.fromAsync(demo.store.history(clock.now() - 30 * 86_400, clock.now()));
	expect(usage.length).toBeGreaterThan(60);
	expect(usage.every(({startTime, endTime}) => startTime < endTime && endTime <= clock.now())).toBe(true);
});

const livesOf = async (minutes: number) => {
	const {demo, clock, world} = await open();
	for (let minute = 0; minute < minutes; minute++) {
		await clock.pass(60);
		// The demo continues only while its state is read.
		await readStatus(world);
	}

	const log = await demo.store.audit();
	return {demo, clock, world, log};
};

const grantsOf = (log: readonly AuditRecord[]) => log.filter(({kind}) => kind === 'granted');

test('the requests of demo users during 40 minutes never get a broken, split or used GPU', async () => {
	const {log, world} = await livesOf(40);
	const served = new Set(grantsOf(log).map(({account}) => account));
	expect([...served].toSorted()).toEqual(
		['ada', 'alan', 'barbara', 'erin', 'frank', 'grace', 'katherine', 'linus'].toSorted(),
	);
	expect(grantsOf(log).length).toBeGreaterThan(30);
	const given = new Set(grantsOf(log).flatMap(({gpus}) => gpus));
	// GPU 5 is split by MIG, and no demo user requests an instance.
	expect(given.has(5) || given.has(6) || given.has(7)).toBe(false);
	// The long job still holds its GPUs.
	const {rows} = await readStatus(world);
	expect(rows.slice(0, 2).map(({owner}) => owner)).toEqual(['ada', 'ada']);
});

test('two runs of the demo produce the same events', async () => {
	const outline = ({log}: {log: readonly AuditRecord[]}) =>
		log.map(({time, kind, account, gpus}) => [Math.round(time), kind, account, gpus]);
	const [first, second] = [await livesOf(10), await livesOf(10)];
	expect(outline(second)).toEqual(outline(first));
	expect(outline(first).length).toBeGreaterThan(10);
});

test('a closed demo records no further events', async () => {
	const {demo, clock} = await open();
	await clock.pass(120);
	await demo.close();
	const before = await demo.store.audit();
	await clock.pass(3600);
	expect(await demo.store.audit()).toEqual(before);
});

test('createDemo rejects a scenario whose user requests more GPUs than the pool has', async () => {
	await expect(open({gpus: 2, people: [{user: 'ada', gpus: 3}]})).rejects.toMatchObject({
		code: 'impossible',
		message: 'Cannot reserve 3 GPUs: the pool has 2',
	});
});

test('the demo grants its viewer an L40S, a MIG instance and a share of a GPU', async () => {
	const {world, clock, demo} = await open(demoScenarioFor('viewer'));
	const viewer = requesterOf(world.host.account);
	const ask = async (need: Need) => {
		const answer = reserve(world, {requester: viewer, count: 1, need, durationSeconds: 600});
		// Demo users may conflict with the request, which retries later.
		await clock.pass(1);
		return answer;
	};

	const gpusOf = async (need: Need) => {
		const answer = await ask(need);
		return answer.kind === 'granted' ? answer.gpus : answer;
	};

	expect([[10], [11]]).toContainEqual(await gpusOf({models: ['l40s']}));
	// GPU 5 is split by MIG.
	expect(await gpusOf({mig: {profile: '1g.10gb'}})).toEqual([5]);
	const shared = (await readStatus(world)).rows[9];
	expect(shared?.shares?.map(({owner, lease}) => [owner, lease.memoryMiB])).toEqual([
		['rosalind', 16_384],
		['emmy', 8192],
	]);
	expect(await gpusOf({shareMiB: 4096})).toEqual([9]);
	// A share that uses too much is recorded after three scans.
	const record = createAlertRecorder(world);
	for (let scans = 0; scans < 4; scans++) {
		await clock.pass(20);
		const {snapshot, observation} = await readStatus(world);
		await record(snapshot, observation);
	}

	expect((await demo.store.audit()).filter(({kind}) => kind === 'overuse')).toMatchObject([
		{account: 'emmy', gpus: [9]},
	]);
});

test('the demo warns its viewer about an idle GPU and reclaims the idle GPU of another user', async () => {
	const {world, clock, demo} = await open(demoScenarioFor('viewer'));
	const viewer = requesterOf(world.host.account);
	const reclaimer = createReclaimer(world);
	const look = async (seconds: number) => {
		for (let passed = 0; passed < seconds; passed += 2) {
			await clock.pass(2);
			const {snapshot, observation} = await readStatus(world);
			await reclaimer.look(snapshot, observation);
		}

		return (await readStatus(world)).rows;
	};

	const {rows: before} = await readStatus(world);
	expect([before[2], before[10]]).toMatchObject([
		{owner: 'grace', warning: {}},
		{owner: 'viewer', warning: undefined, state: 'in-use'},
	]);
	expect((await look(20))[10]?.warning).toBeDefined();
	const kept = extend(world, viewer, {by: 'label', label: 'viewer'}, {atLeast: 7200, keepSeconds: 7200});
	await clock.pass(1);
	expect((await kept).extended.map(({index}) => index)).toEqual([10]);
	const after = await look(34);
	expect([after[2], after[10]]).toMatchObject([{owner: 'erin'}, {owner: 'viewer', warning: undefined}]);
	const log = (await demo.store.audit()).filter(({kind, gpus}) => kind === 'idle' || gpus.includes(2));
	expect(log.map(({kind, account, reason}) => [kind, account, reason])).toEqual(
		expect.arrayContaining([
			['idle', 'viewer', undefined],
			['idle', 'viewer', 'kept'],
			['ended', 'grace', 'reclaimed'],
			['granted', 'erin', undefined],
		]),
	);
});
