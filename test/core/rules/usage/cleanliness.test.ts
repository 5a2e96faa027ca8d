/** With `clean=on`, a GPU is granted only if nothing of its previous holder is left on it. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {createAlertRecorder} from '../../../../source/core/operations/record-alerts.js';
import {readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {judgeUsage} from '../../../../source/core/rules/usage/gpu-usage.js';
import {nextBaselines, type CleanRule} from '../../../../source/core/rules/usage/cleanliness.js';
import type {GpuProcess, GpuReading, MemoryBaseline, Snapshot} from '../../../../source/core/model/types.js';
import {blockText} from '../../../../source/format/queue/refusal.js';
import {detailText} from '../../../../source/format/status-labels.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';

const root = person('root', 'root', 0);
const alice = person('alice');

const left: GpuProcess = {pid: 7, user: 'bob', name: 'python3', kind: 'compute', memoryUsedMiB: 300};
const desktop: GpuProcess = {pid: 8, user: 'gdm', kind: 'graphics', memoryUsedMiB: 200};

/** Creates a pool of idle GPUs whose readings differ in this way. */
async function box(...readings: ReadonlyArray<Partial<GpuReading>>) {
	const world = await createTestWorld({gpuCount: readings.length});
	let shown = readings;
	world.see(() => observationOf(shown.map((reading, index) => ({...idleReading(index), ...reading}))));
	await changePolicy(world, root, [{key: 'clean', value: 'on'}]);
	return {
		world,
		show(...next: ReadonlyArray<Partial<GpuReading>>) {
			shown = next;
		},
	};
}

const ask = async (world: TestWorld, more: {force?: boolean} = {}) =>
	reserve(world, {requester: alice, count: 1, durationSeconds: 60, ...more});

/** Scans the GPUs and records the memory baselines. */
async function scan(world: TestWorld): Promise<void> {
	const [snapshot, observation] = await Promise.all([world.store.read(), world.gpus.observe()]);
	await createAlertRecorder(world)(snapshot, observation);
}

describe('a GPU with leftover memory or processes under clean=on', () => {
	const rule: CleanRule = {limitMiB: () => 131};
	const reading = (more: Partial<GpuReading>): GpuReading => ({...idleReading(0), ...more});

	test.each<[GpuReading, Record<string, unknown>]>([
		[reading({}), {kind: 'idle'}],
		[reading({memoryUsedMiB: 131, processes: [desktop]}), {kind: 'idle'}],
		[reading({memoryUsedMiB: 132}), {kind: 'used', memoryUsedMiB: 132, isDirty: true}],
		[reading({processes: [left]}), {kind: 'used', memoryUsedMiB: 3, isDirty: true}],
		[reading({memoryUsedMiB: 1025}), {kind: 'used', memoryUsedMiB: 1025}],
		[reading({processes: undefined}), {kind: 'unknown'}],
	])('and with the reading %j is judged as %j', (seen, expected) => {
		expect(judgeUsage(seen, 1024, rule)).toMatchObject(expected);
		// Without the policy, the leftovers do not matter.
		expect(judgeUsage(seen, 1024).kind).toBe((seen.memoryUsedMiB ?? 0) > 1024 ? 'used' : 'idle');
	});

	test('is granted only with force', async () => {
		const {world} = await box({processes: [left], memoryUsedMiB: 303}, {});
		expect(await ask(world)).toMatchObject({kind: 'granted', gpus: [1]});
		const refused = await ask(world);
		expect(refused).toMatchObject({
			kind: 'refused',
			blocked: [{block: {kind: 'unreserved', users: ['bob'], isDirty: true}}, {block: {kind: 'leased'}}],
		});
		expect(refused.kind === 'refused' && blockText(refused.blocked[0]!.block, world.now())).toBe(
			'is not clean yet: processes of bob are on it',
		);
		const {rows} = await readStatus(world);
		expect(rows[0]!.state).toBe('unreserved');
		expect(detailText(rows[0]!)).toBe('not clean yet: PID 7 (python3)');
		expect(await ask(world, {force: true})).toMatchObject({kind: 'granted', gpus: [0]});
	});

	test('is granted to a waiting request as soon as the GPU is clean', async () => {
		const {world, show} = await box({processes: [left]});
		const waiting = acquire(
			world,
			{requester: alice, count: 1, tenure: {type: 'manual', durationSeconds: 60}},
			{waitSeconds: 600, signal: new AbortController().signal, onProgress: () => undefined},
		);
		while ((await world.store.read()).queue.length === 0) {
			await world.clock.sleep(1);
		}

		const joined = world.scans();
		while (world.scans() < joined + 3) {
			await world.clock.sleep(1);
		}

		expect((await world.store.read()).queue[0]).toMatchObject({entry: {unavailable: [{gpu: 0, kind: 'used'}]}});
		show({});
		expect(await waiting).toMatchObject({kind: 'granted', gpus: [0]});
	});
});

describe('GPU memory that no process uses', () => {
	test('counts as leftover if it exceeds the lowest amount ever seen on the GPU', async () => {
		const {world, show} = await box({memoryUsedMiB: 450}, {memoryUsedMiB: 3});
		await scan(world);
		expect((await world.store.read()).baselines).toEqual(
			new Map([
				[0, {memoryMiB: 450, uuid: 'GPU-0', bootId: world.host.bootId}],
				[1, {memoryMiB: 3, uuid: 'GPU-1', bootId: world.host.bootId}],
			]),
		);
		show({memoryUsedMiB: 500}, {memoryUsedMiB: 500});
		await scan(world);
		expect(await ask(world)).toMatchObject({gpus: [0]});
		const {rows} = await readStatus(world);
		expect(detailText(rows[1]!)).toBe('not clean yet: 500MB are in use, but no process is listed: canhazgpu who 1');
	});

	test('gets a new baseline after clean=on is set again, but not while the GPU is held', async () => {
		const {world, show} = await box({memoryUsedMiB: 3});
		await scan(world);
		show({memoryUsedMiB: 500});
		expect(await ask(world)).toMatchObject({kind: 'refused'});
		await changePolicy(world, root, [{key: 'clean', value: undefined}]);
		expect(await ask(world)).toMatchObject({kind: 'granted'});
		await scan(world);
		expect((await world.store.read()).stored.alerts).toBeUndefined();
		await changePolicy(world, root, [{key: 'clean', value: 'on'}]);
		await scan(world);
		expect((await world.store.read()).baselines.size).toBe(0);
		await release(world, alice, {by: 'gpus', ids: [0]});
		await scan(world);
		expect((await world.store.read()).baselines.get(0)).toMatchObject({memoryMiB: 500});
		expect(await ask(world)).toMatchObject({kind: 'granted'});
	});
});

test('the memory baseline of a GPU never rises until the next boot', () => {
	const anyReading = fc.record({
		uuid: fc.constantFrom('a', 'b'),
		bootId: fc.constantFrom('boot-1', 'boot-2'),
		memoryUsedMiB: fc.option(fc.nat(2000), {nil: undefined}),
		processes: fc.constantFrom<readonly GpuProcess[] | undefined>([], [left], [desktop], undefined),
		kind: fc.constantFrom('free' as const, 'leased' as const),
	});
	const policy: Snapshot['policy'] = new Map([['clean', {value: 'on', since: 0}]]);
	fc.assert(
		fc.property(fc.array(anyReading, {minLength: 1}), (readings) => {
			let baselines: ReadonlyMap<number, MemoryBaseline> = new Map();
			for (const {uuid, bootId, memoryUsedMiB, processes, kind} of readings) {
				const before = baselines.get(0);
				const snapshot = {policy, baselines, gpus: [{kind, index: 0}] as unknown as Snapshot['gpus']};
				const observation = observationOf([{...idleReading(0), uuid, memoryUsedMiB, processes}]);
				baselines = nextBaselines(snapshot, {observation, bootId, memoryThresholdMiB: 1024}) ?? baselines;
				const after = baselines.get(0);
				const isEmpty = kind === 'free' && processes !== undefined && !processes.includes(left);
				if (!isEmpty || memoryUsedMiB === undefined || memoryUsedMiB > 1024) {
					expect(after).toBe(before);
				} else if (before?.uuid === uuid && before.bootId === bootId) {
					expect(after!.memoryMiB).toBe(Math.min(before.memoryMiB, memoryUsedMiB));
				} else {
					expect(after).toEqual({memoryMiB: memoryUsedMiB, uuid, bootId});
				}
			}
		}),
	);
});
