import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {createSimulatedProvider} from '../../source/gpu/simulated/simulated.js';
import {simulateGpu, type SimulatedLease} from '../../source/gpu/simulated/simulation.js';

const noon = 1_800_000_000;

const setUp = (leases: () => Promise<readonly SimulatedLease[]>, gpuCount = async () => 8) =>
	createSimulatedProvider({gpuCount, leases, monotonicMs: () => 5, nowSeconds: () => noon});

const job: SimulatedLease = {index: 2, user: 'ada', type: 'run', pid: 4242};

test('a simulated idle machine has cool GPUs without load or processes', async () => {
	const {gpus, ...rest} = await setUp(async () => []).observe();
	expect(rest).toEqual({provider: 'fake', simulated: true, takenAtMs: 5, warnings: []});
	expect(gpus.map(({index, uuid}) => [index, uuid])).toEqual(
		Array.from({length: 8}, (_, index) => [index, `SIM-00000000-0000-0000-0000-00000000000${index}`]),
	);
	for (const gpu of gpus) {
		expect(gpu).toMatchObject({name: 'Simulated H100 80GB', utilizationPercent: 0, processes: [], unknown: {}});
		expect(gpu.memoryUsedMiB).toBeLessThan(10);
		expect(gpu.temperatureCelsius).toBeGreaterThanOrEqual(30);
		expect(gpu.temperatureCelsius).toBeLessThanOrEqual(32);
		expect(gpu.powerWatts).toBeGreaterThan(65);
		expect(gpu.powerWatts).toBeLessThan(75);
	}
});

test('leased GPUs of the simulation have load and processes', async () => {
	const {gpus} = await setUp(async () => [job]).observe();
	const loaded = gpus[2];
	const others = gpus.filter((gpu) => gpu !== loaded);
	expect(loaded?.processes).toMatchObject([{pid: 4242, user: 'ada', kind: 'compute'}]);
	expect(loaded?.utilizationPercent).toBeGreaterThan(80);
	expect(loaded?.memoryUsedMiB).toBeGreaterThan(20_000);
	expect(others.every(({processes, utilizationPercent}) => processes?.length === 0 && utilizationPercent === 0)).toBe(
		true,
	);
});

test('the simulation shows an idle machine if the leases cannot be read', async () => {
	const {gpus, failure, warnings} = await setUp(async () => {
		throw new Error('no store');
	}).observe();
	expect(failure).toBeUndefined();
	expect(gpus).toHaveLength(8);
	expect(warnings).toEqual(['Simulated without load: no store']);
});

test('the simulated scan fails if the pool size cannot be read', async () => {
	const provider = setUp(
		async () => [],
		async () => {
			throw new Error('no pool');
		},
	);
	expect(await provider.observe()).toMatchObject({
		gpus: [],
		failure: {message: 'The simulated GPUs cannot be counted: no pool'},
	});
	await expect(provider.count()).rejects.toThrow('no pool');
});

test('a simulated job reaches full load in seconds, while a manual reservation becomes idle', () => {
	const at = (type: 'run' | 'manual', age: number) =>
		simulateGpu({seed: 1, index: 0, seconds: noon + age, lease: {index: 0, user: 'ada', type, startTime: noon}});
	expect(at('run', 0)).toMatchObject({utilizationPercent: 0, processes: []});
	expect(at('run', 20).utilizationPercent).toBeGreaterThan(80);
	expect(at('run', 100_000).utilizationPercent).toBeGreaterThan(80);
	expect(at('manual', 60)).toMatchObject({processes: [{user: 'ada'}]});
	expect(at('manual', 60).utilizationPercent).toBeLessThan(30);
	expect(at('manual', 3600)).toMatchObject({utilizationPercent: 0, processes: []});
});

const input = fc.record({
	seed: fc.integer(),
	index: fc.nat(255),
	seconds: fc.double({min: 0, max: 4e9, noNaN: true}),
	lease: fc.option(
		fc.record({
			index: fc.nat(255),
			user: fc.constant('ada'),
			type: fc.constantFrom('run', 'manual'),
			startTime: fc.option(fc.integer({min: 0, max: 4e9}), {nil: undefined}),
		}),
		{nil: undefined},
	),
});

test('simulateGpu returns the same plausible readings for the same time', () => {
	fc.assert(
		fc.property(input, (time) => {
			const gpu = simulateGpu(time);
			expect(simulateGpu(time)).toEqual(gpu);
			const {
				utilizationPercent = -1,
				memoryUsedMiB = -1,
				memoryTotalMiB = -1,
				powerWatts = -1,
				temperatureCelsius = -1,
			} = gpu;
			expect(utilizationPercent).toBeGreaterThanOrEqual(0);
			expect(utilizationPercent).toBeLessThanOrEqual(100);
			expect(memoryUsedMiB).toBeGreaterThan(0);
			expect(memoryUsedMiB).toBeLessThan(memoryTotalMiB);
			expect(powerWatts).toBeGreaterThan(60);
			expect(powerWatts).toBeLessThan(700);
			expect(temperatureCelsius).toBeGreaterThan(28);
			expect(temperatureCelsius).toBeLessThan(75);
			const ofProcesses = (gpu.processes ?? []).reduce((sum, {memoryUsedMiB: memory = 0}) => sum + memory, 0);
			expect(memoryUsedMiB - ofProcesses).toBeLessThan(10);
		}),
	);
});

test('simulated readings change little within a second', () => {
	fc.assert(
		fc.property(input, (time) => {
			const now = simulateGpu(time);
			const soon = simulateGpu({...time, seconds: time.seconds + 1});
			const change = (field: 'utilizationPercent' | 'temperatureCelsius' | 'powerWatts' | 'memoryUsedMiB') =>
				Math.abs((now[field] ?? 0) - (soon[field] ?? 0));
			expect(change('utilizationPercent')).toBeLessThanOrEqual(10);
			expect(change('temperatureCelsius')).toBeLessThanOrEqual(5);
			expect(change('powerWatts')).toBeLessThanOrEqual(60);
			expect(change('memoryUsedMiB')).toBeLessThanOrEqual(8000);
		}),
	);
});
