/** Random scans of idle and used GPUs, with every fault that a reading can have. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import type {GpuReading, Observation} from '../../../../source/core/model/types.js';
import {longestGapSeconds} from '../../../../source/core/rules/policy/idle-rules.js';
import {createReclaimer} from '../../../../source/core/operations/reclaim.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {createTestWorld, idleReading, observationOf} from '../../../_helpers/world.js';
import {isLong} from '../../../_helpers/slow.js';
import {alice, hour, joinAs, minute, setPolicy, usedReading} from './_idle.js';

const gpuCount = 4;
const afterSeconds = 10 * minute;

/** The GPUs of each model. A request for two GPUs accepts only GPUs of the same model. */
const models = [
	[0, 2],
	[1, 3],
];

const ofTwoModels = Array.from({length: gpuCount}, (_, index) => ({
	...idleReading(index),
	name: models[0]!.includes(index) ? 'A100' : 'H100',
}));

/** The number of the observer that never sees processes, as in a container. */
const partialObserver = 3;

/** Faults of a reading. With each of them it is unknown whether the GPU is used. */
const faults: Readonly<Record<string, (reading: GpuReading) => GpuReading | undefined>> = {
	missing: () => undefined,
	broken: (reading) => ({index: reading.index, failure: 'lost', processes: undefined, unknown: {}}),
	'hidden processes': (reading) => ({...reading, processes: undefined, memoryUsedMiB: 3, utilizationPercent: 0}),
	'unknown memory': (reading) => ({
		...reading,
		memoryUsedMiB: undefined,
		processes: [],
		utilizationPercent: 0,
		unknown: {memoryUsedMiB: '[Unknown Error]'},
	}),
	'unknown utilization': (reading) => ({
		...idleReading(reading.index),
		utilizationPercent: undefined,
		unknown: {utilizationPercent: '[Unknown Error]'},
	}),
	'unreadable instances': (reading) => ({...idleReading(reading.index), isMigEnabled: true, migInstances: [{}]}),
	'unknown mode': (reading) => ({...idleReading(reading.index), unknown: {isMigEnabled: '[Unknown Error]'}}),
	unhealthy: (reading) => ({...idleReading(reading.index), health: [{kind: 'xid', words: 'Xid 79'}]}),
};

/** Readings of a GPU that can be granted: its memory shows that it is free, even if its processes or its load are unknown. */
const grantable: ReadonlySet<string> = new Set(['idle', 'hidden processes', 'unknown utilization']);

const gpuStep = fc.oneof(
	{weight: 60, arbitrary: fc.constant('idle')},
	{weight: 1, arbitrary: fc.constant('used')},
	{weight: 1, arbitrary: fc.constantFrom(...Object.keys(faults))},
);

const step = fc.record({
	seconds: fc.oneof(
		{weight: 40, arbitrary: fc.integer({min: 20, max: 280})},
		{weight: 1, arbitrary: fc.integer({min: 301, max: 900})},
	),
	gpus: fc.array(gpuStep, {minLength: gpuCount, maxLength: gpuCount}),
	observer: fc.nat(3),
	scan: fc.oneof(
		{weight: 60, arbitrary: fc.constant('made')},
		{weight: 1, arbitrary: fc.constantFrom('failed', 'partial', 'posted', 'old')},
	),
	store: fc.oneof(
		{weight: 40, arbitrary: fc.constant('up')},
		{weight: 1, arbitrary: fc.constantFrom('down', 'conflicts', 'loses the answer')},
	),
	waits: fc.oneof(
		{weight: 30, arbitrary: fc.constant('same')},
		{weight: 1, arbitrary: fc.constantFrom('join', 'leave', 'stop', 'wake')},
	),
	jump: fc.oneof({weight: 60, arbitrary: fc.constant(0)}, {weight: 1, arbitrary: fc.integer({min: -7200, max: 7200})}),
});

test('only idle reservations are reclaimed, and with idle.when=wanted only for a request that can use the GPUs', async () => {
	let reclaimed = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.array(step, {minLength: 40, maxLength: 60}),
			fc.boolean(),
			fc.constantFrom(1, 2),
			async (steps, isWanted, count) => {
				let store: (typeof steps)[number]['store'] = 'up';
				let isRecorded = true;
				const world = await createTestWorld({
					gpuCount,
					wrap: (memory) => ({
						...memory,
						async read(options) {
							if (store === 'down') {
								isRecorded = false;
								throw new CanhazgpuError('store-unreachable', 'gone');
							}

							return memory.read(options);
						},
						async commit(plan) {
							if (store === 'conflicts') {
								store = 'up';
								return 'conflict';
							}

							const outcome = await memory.commit(plan);
							if (store === 'loses the answer') {
								throw new CanhazgpuError('store-unreachable', 'gone');
							}

							return outcome;
						},
					}),
				});
				await setPolicy(world, {
					'idle.after': '10m',
					'idle.grace': '5m',
					'idle.when': isWanted ? 'wanted' : 'always',
				});
				await reserve(world, {requester: alice, count: 2, ids: [0, 1], durationSeconds: 240 * hour});
				await reserve(world, {requester: alice, count: 1, ids: [2], durationSeconds: 240 * hour});
				const observers = Array.from({length: 4}, () => createReclaimer(world));
				/** The GPUs whose processes each observer has seen. */
				const seenBy = observers.map(() => new Set<number>());
				const leases: ReadonlyArray<readonly number[]> = [[0, 1], [2]];
				/** When a scan last showed that the reservation was in use, in seconds of a clock that never steps. */
				const busyAt = [0, 0];
				const seenAt = [0, 0];
				/** The seconds by which the store's clock was set back without a restart of the idle time. */
				let hiddenSeconds = 0;
				let isWaited = false;
				let isStopped = false;
				for (const {seconds, gpus, observer, scan, waits, jump, ...rest} of steps) {
					world.pass(seconds);
					world.jump(jump);
					hiddenSeconds += jump < 0 && -jump <= longestGapSeconds ? -jump : 0;
					if (waits === 'join' && !isWaited) {
						await joinAs(world, {id: 'waiter', count, readings: ofTwoModels});
						isWaited = true;
					} else if (waits === 'leave') {
						await world.memory.commit({...emptyPlan, writes: [{kind: 'leave', id: 'waiter'}]});
						isWaited = false;
					} else if (waits === 'stop' || waits === 'wake') {
						isStopped = waits === 'stop';
						world.processes.set(world.host.self.pid, isStopped ? 'stopped' : 'alive');
					}

					const readings = gpus.flatMap((kind, index) => {
						const reading = kind === 'idle' ? idleReading(index) : usedReading(index);
						const seen = faults[kind] === undefined ? reading : faults[kind](reading);
						return seen === undefined ? [] : [observer === partialObserver ? {...seen, processes: undefined} : seen];
					});
					const nowMs = world.clock.monotonicMs();
					const changes: Partial<Observation> =
						scan === 'failed'
							? {gpus: [], failure: {message: 'no answer'}}
							: scan === 'partial'
								? {isPartial: true}
								: scan === 'posted'
									? {isPosted: true}
									: {};
					const observation = observationOf(readings, {
						takenAtMs: scan === 'old' ? nowMs - 6000 : nowMs,
						...changes,
					});
					const before = await world.memory.read();
					({store} = rest);
					isRecorded = true;
					await observers[observer]!.look(before, observation);
					store = 'up';
					const after = await world.memory.read();
					for (const [lease, ids] of leases.entries()) {
						const isUnseen = (id: number): boolean =>
							(observer === partialObserver && gpus[id] === 'idle') ||
							(gpus[id] === 'hidden processes' && !seenBy[observer]!.has(id));
						const isIdle = scan !== 'failed' && observer !== partialObserver && ids.every((id) => gpus[id] === 'idle');
						/** Whether the observer can never see some of the processes. Such an observation says nothing. */
						const isHidden =
							scan !== 'failed' &&
							ids.some((id) => isUnseen(id)) &&
							ids.every((id) => gpus[id] === 'idle' || isUnseen(id));
						const isGone = ids.every((id) => before.gpus[id]!.kind === 'leased' && after.gpus[id]!.kind === 'free');
						if (isGone) {
							reclaimed++;
							expect(isIdle && scan === 'made').toBe(true);
							const isUsable = (id: number): boolean => after.gpus[id]!.kind === 'free' && grantable.has(gpus[id]!);
							const isServed = models.some((model) => model.filter((id) => isUsable(id)).length >= count);
							expect((isWaited && !isStopped && isServed) || !isWanted).toBe(true);
							// A step of the store's clock adds less than the longest gap between scans, or the idle time starts again.
							expect(nowMs / 1000 - busyAt[lease]!).toBeGreaterThanOrEqual(afterSeconds);
							// A step of the store's clock back hides a part of the time without scans.
							expect(nowMs / 1000 - seenAt[lease]!).toBeLessThanOrEqual(longestGapSeconds + 1 + hiddenSeconds);
						}

						// A partial scan says nothing about the reservation, and a scan that is too old can only end idle times.
						if (!isIdle && !isHidden && isRecorded && scan !== 'partial') {
							busyAt[lease] = nowMs / 1000;
						}

						if (scan === 'made' && isRecorded && !isHidden) {
							seenAt[lease] = nowMs / 1000;
						}
					}

					if (scan === 'made' || scan === 'old') {
						for (const {index, processes} of readings) {
							if (processes !== undefined) {
								seenBy[observer]!.add(index);
							}
						}
					}
				}
			},
		),
		{numRuns: isLong ? 1000 : 60},
	);
	expect(reclaimed).toBeGreaterThan(0);
});
