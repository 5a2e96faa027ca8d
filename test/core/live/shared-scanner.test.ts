/** Several viewers that share the scans of one viewer, in real time with short intervals. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import type {GpuProvider, World} from '../../../source/core/model/ports.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import type {Observation} from '../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {eventually} from '../../_helpers/eventually.js';
import {createLiveWorld} from '../../_helpers/live-world.js';
import {idleReading, observationOf, person} from '../../_helpers/world.js';
import {createSharedGpus} from '../../../source/core/live/shared-scanner.js';

const intervalMs = 100;

/** Creates a viewer with the same interval as the others. It is closed when the test ends. */
function watch(
	world: World,
	more: {readonly intervalMs?: number; readonly opened?: () => void; readonly closed?: () => void} = {},
): GpuProvider {
	const provider = createSharedGpus({
		...world,
		name: 'fake',
		intervalMs,
		createScanner() {
			more.opened?.();
			return {
				...world.gpus,
				async close() {
					more.closed?.();
				},
			};
		},
		...more,
	});
	onTestFinished(async () => provider.close!());
	return provider;
}

/** Reads this many times, one interval apart, like the monitor. */
async function scanTimes(provider: GpuProvider, times: number): Promise<readonly Observation[]> {
	const seen: Observation[] = [];
	for (let round = 0; round < times; round++) {
		seen.push(await provider.observe());
		await sleep(intervalMs);
	}

	return seen;
}

/** An interval that never passes during a test. */
const longInterval = {intervalMs: 600_000};

const failWith = new CanhazgpuError('store-unreachable', 'away');

test('ten viewers share one scan per interval', async () => {
	const world = await createLiveWorld(2);
	let scan = 0;
	world.see(() => observationOf([{...idleReading(0), utilizationPercent: ++scan}, idleReading(1)]));
	const viewers = Array.from({length: 10}, (_, index) => watch(world.as(index)));
	const rounds = 8;
	const seen = await Promise.all(viewers.map(async (viewer) => scanTimes(viewer, rounds)));
	expect(world.scans()).toBeLessThan(2 * rounds);
	for (const own of seen) {
		const numbers = own.map(({gpus}) => gpus[0]!.utilizationPercent!);
		// Each read returns a newer scan than the previous one.
		expect(new Set(numbers).size).toBe(rounds);
		expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
	}
});

test('every viewer sees the true age of a shared scan', async () => {
	const world = await createLiveWorld(1);
	await watch(world, longInterval).observe();
	await sleep(60);
	const {takenAtMs} = await watch(world.as(2), longInterval).observe();
	expect(world.scans()).toBe(1);
	expect(world.clock.monotonicMs() - takenAtMs).toBeGreaterThanOrEqual(55);
});

test('viewers share a failed scan', async () => {
	const world = await createLiveWorld(1);
	world.see(() => observationOf([], {failure: {message: 'GPU is lost'}}));
	await watch(world, longInterval).observe();
	expect(await watch(world.as(2), longInterval).observe()).toMatchObject({gpus: [], failure: {message: 'GPU is lost'}});
	expect(world.scans()).toBe(1);
});

test('another viewer starts to scan within seconds after the scanning viewer is killed', async () => {
	const world = await createLiveWorld(1);
	// Simulates a viewer that was killed while it had the scanner role.
	await world.store.scans.claim({owner: 'dead', intervalMs}, 1);
	const began = world.clock.monotonicMs();
	const [first] = await scanTimes(watch(world), 2);
	expect(first?.failure).toBeUndefined();
	expect(world.clock.monotonicMs() - began).toBeLessThan(10_000);
	expect(world.scans()).toBe(2);
});

test('another viewer scans at once when the scanning viewer closes', async () => {
	const world = await createLiveWorld(1);
	let open = 0;
	const counted = {opened: () => open++, closed: () => open--};
	const first = watch(world, counted);
	const second = watch(world.as(2), counted);
	await first.observe();
	await second.observe();
	expect(open).toBe(1);
	await first.close!();
	expect(open).toBe(0);
	const began = world.clock.monotonicMs();
	await second.observe();
	expect(world.clock.monotonicMs() - began).toBeLessThan(1500);
	expect({scans: world.scans(), open}).toEqual({scans: 2, open: 1});
});

test('a viewer that is closed while it asks for the scanner role never scans', async () => {
	const world = await createLiveWorld(1);
	const asked = Promise.withResolvers<void>();
	const mayAnswer = Promise.withResolvers<void>();
	const {scans} = world.store;
	let opened = 0;
	const viewer = watch(
		{
			...world,
			store: {
				...world.store,
				scans: {
					...scans,
					async claim(role, seconds) {
						asked.resolve();
						await mayAnswer.promise;
						return scans.claim(role, seconds);
					},
				},
			},
		},
		{
			opened() {
				opened++;
			},
		},
	);
	const seen = viewer.observe();
	await asked.promise;
	await viewer.close!();
	mayAnswer.resolve();
	expect(await seen).toMatchObject({gpus: [], failure: {}});
	expect({opened, scans: world.scans()}).toEqual({opened: 0, scans: 0});
});

slowTest('a scanning viewer that pauses lets another viewer scan', async () => {
	const world = await createLiveWorld(1);
	await watch(world).observe();
	const other = watch(world.as(2));
	await other.observe();
	await eventually(async () => {
		await other.observe();
		return world.scans() > 2;
	});
});

test('the viewer with the shortest interval scans for all viewers', async () => {
	const world = await createLiveWorld(1);
	const slow = watch(world, {intervalMs: 60_000});
	await slow.observe();
	const third = (await scanTimes(watch(world.as(2)), 3))[2];
	expect(world.scans()).toBeGreaterThanOrEqual(2);
	expect(world.clock.monotonicMs() - third!.takenAtMs).toBeLessThan(2000);
});

test('each viewer scans for itself while the store is down, and viewers share scans again afterwards', async () => {
	const live = await createLiveWorld(1);
	let isAway = true;
	const store = {
		...live.store,
		scans: {
			...live.store.scans,
			async latest() {
				if (isAway) {
					throw failWith;
				}

				return live.store.scans.latest();
			},
		},
	};
	let open = 0;
	const counted = {opened: () => open++, closed: () => open--};
	const first = watch({...live, store}, counted);
	const second = watch({...live.as(2), store}, counted);
	expect((await Promise.all([first.observe(), second.observe()])).map(({failure}) => failure)).toEqual([
		undefined,
		undefined,
	]);
	expect(open).toBe(2);
	isAway = false;
	await first.observe();
	await second.observe();
	expect(open).toBe(1);
});

test.each(['', 'garbage', '{"version":1,"scan":{}}'])(
	'viewers replace an invalid shared scan with a new one: %j',
	async (text) => {
		const world = await createLiveWorld(1);
		world.memory.scans.spoil(text);
		expect(await watch(world, longInterval).observe()).toMatchObject({gpus: [{index: 0}]});
		expect(await watch(world.as(2), longInterval).observe()).toMatchObject({gpus: [{index: 0}]});
		expect(world.scans()).toBe(1);
	},
);

test('a viewer does not share its scans with the pool of another machine', async () => {
	const world = await createLiveWorld(1);
	const stranger = watch({...world, host: {...world.host, machineId: 'elsewhere', bootId: 'other'}});
	await stranger.observe();
	expect(await world.store.scans.latest()).toBeUndefined();
	expect(await world.store.scans.claim({owner: 'me', intervalMs}, 1)).toBe(true);
});

test('reserve makes its own scan, so a forged shared scan cannot influence grants', async () => {
	const world = await createLiveWorld(1);
	world.see(() => observationOf([{...idleReading(0), memoryUsedMiB: 40_000}]));
	const watched = watch(world);
	await watched.observe();
	const posted = await world.store.scans.latest();
	world.memory.scans.spoil(posted!.text.replace('40000', '3'));
	expect((await watch(world.as(2)).observe()).gpus[0]?.memoryUsedMiB).toBe(3);
	expect(await reserve(world, {requester: person('alice'), count: 1, durationSeconds: 60})).toMatchObject({
		kind: 'refused',
	});
});

test('a viewer that takes over the scanner role continues the idle times in the shared scan', async () => {
	const world = await createLiveWorld(1);
	const alice = person('alice');
	await reserve(world, {requester: alice, count: 1, durationSeconds: 600});
	const first = watch(world);
	await scanTimes(first, 4);
	await first.close!();
	const second = watch(world.as(2));
	const [, last] = await scanTimes(second, 2);
	expect(last?.idle).toMatchObject([{index: 0}]);
	expect(last!.idle![0]!.seconds).toBeGreaterThan(0.3);
	await release(world, alice, {by: 'label', label: 'alice'});
	expect(await second.observe()).toMatchObject({idle: []});
});

test('a viewer in an isolated job shows shared scans but never shares its own', async () => {
	const world = await createLiveWorld(2);
	const inside = createSharedGpus({
		...world.as(1),
		name: 'fake',
		intervalMs,
		createScanner: () => ({
			...world.gpus,
			observe: async () => ({
				...observationOf([
					idleReading(0),
					{...idleReading(1), failure: 'this process cannot open the device of this GPU'},
				]),
				isPartial: true,
			}),
		}),
	});
	onTestFinished(async () => inside.close!());
	expect(await inside.observe()).toMatchObject({isPartial: true, gpus: [{}, {failure: expect.any(String) as string}]});
	expect(await world.store.scans.latest()).toBeUndefined();
	const outside = watch(world.as(2));
	const [seen] = await Promise.all([scanTimes(outside, 6), scanTimes(inside, 3)]);
	expect(seen.every(({gpus}) => gpus.every(({failure}) => failure === undefined))).toBe(true);
	const shown = await inside.observe();
	expect(shown.isPartial).toBeUndefined();
	// This viewer is the only one again, so it scans for itself.
	await outside.close!();
	await eventually(async () => (await inside.observe()).isPartial === true);
});

test.each([
	['cannot start the GPU tool', observationOf([], {failure: {message: 'no tool', isToolMissing: true}})],
	['sees fewer GPUs', observationOf([idleReading(0)])],
])(
	'a viewer that %s leaves the scans of other viewers as they are, and shows its own if there is no other viewer',
	async (_, less) => {
		const world = await createLiveWorld(2);
		const whole = watch(world.as(1), {intervalMs: 3 * intervalMs});
		await whole.observe();
		const limited = createSharedGpus({
			...world.as(2),
			name: 'fake',
			intervalMs,
			createScanner: () => ({...world.gpus, observe: async () => less}),
		});
		onTestFinished(async () => limited.close!());
		const later = watch(world.as(3), {intervalMs: 3 * intervalMs});
		const [own, ...others] = await Promise.all([scanTimes(limited, 9), scanTimes(whole, 4), scanTimes(later, 4)]);
		expect(own).toContainEqual(expect.objectContaining({gpus: less.gpus, isPartial: true}));
		for (const {gpus, failure} of others.flat()) {
			expect([gpus.length, failure]).toEqual([2, undefined]);
		}

		await Promise.all([whole.close!(), later.close!()]);
		await eventually(async () => (await limited.observe()).gpus.length === less.gpus.length);
	},
);

test('a viewer that cannot start the GPU tool never shares its scans', async () => {
	const world = await createLiveWorld(1);
	world.see(() => observationOf([], {failure: {message: 'no tool', isToolMissing: true}}));
	expect(await watch(world).observe()).toMatchObject({failure: {message: 'no tool'}, isPartial: true});
	world.see(() => observationOf([idleReading(0)]));
	expect((await watch(world.as(2)).observe()).failure).toBeUndefined();
});

test('the viewer that sees most GPUs scans for all viewers', async () => {
	const world = await createLiveWorld(2);
	const whole = () => observationOf([idleReading(0), idleReading(1)]);
	world.see(() => observationOf([idleReading(0)]));
	const numbers = async (viewer: GpuProvider) => (await viewer.observe()).gpus.map(({index}) => index);
	const first = watch(world.as(1));
	const second = watch(world.as(2));
	expect([await numbers(first), await numbers(second)]).toEqual([[0], [0]]);
	const scans = world.scans();
	await Promise.all([scanTimes(first, 5), scanTimes(second, 5)]);
	expect(world.scans() - scans).toBeLessThan(8);
	const better = createSharedGpus({
		...world.as(3),
		name: 'fake',
		intervalMs,
		createScanner: () => ({...world.gpus, observe: async () => ({...whole(), takenAtMs: world.clock.monotonicMs()})}),
	});
	onTestFinished(async () => better.close!());
	expect(await numbers(better)).toEqual([0, 1]);
	const [seen] = await Promise.all([scanTimes(first, 5), scanTimes(better, 5)]);
	expect(seen.slice(1).map(({gpus}) => gpus.length)).toEqual([2, 2, 2, 2]);
});
