import {expect, test} from 'vitest';
import {decodeHour, hourOf, loadsIn, minuteOf} from '../../source/core/rules/pool/load-minutes.js';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import {withNight} from '../../source/demo/night.js';
import {createMemoryStore} from '../../source/store/memory/index.js';
import {testHost} from '../_helpers/machine/host.js';
import {createVirtualClock} from '../_helpers/virtual-clock.js';

test('the simulated load history of the demo ends in the minute in which the demo starts', async () => {
	const clock = createVirtualClock();
	const begin = clock.now() - (clock.now() % 3600) + 55;
	const store = createMemoryStore({now: () => begin});
	await createPool({store, host: testHost({}), clock}, {gpuCount: 2, provider: 'fake', force: false});
	const hour = hourOf(minuteOf(begin));
	const lines = await withNight(store, {seed: 1, gpuCount: 2, begin}).read(hour - 24, hour);
	const minutes = [...lines].flatMap(([known, text]) =>
		decodeHour(known, text, minuteOf(begin)).map(({minute}) => minute),
	);
	expect(minutes.slice(-3)).toEqual([minuteOf(begin) - 2, minuteOf(begin) - 1, minuteOf(begin)]);
	expect(new Set(minutes).size).toBe(minutes.length);
});

test('the simulated load history of the demo has no utilization for a GPU in MIG mode', async () => {
	const begin = 1_800_000_000;
	const store = createMemoryStore({now: () => begin});
	const host = testHost({});
	await createPool({store, host, clock: createVirtualClock()}, {gpuCount: 2, provider: 'fake', force: false});
	const hour = hourOf(minuteOf(begin));
	const night = withNight(store, {seed: 1, gpuCount: 2, mig: [{gpu: 1, profiles: ['1g.10gb']}], begin});
	const minutes = [...(await night.read(hour - 1, hour))].flatMap(([known, text]) =>
		decodeHour(known, text, minuteOf(begin)),
	);
	expect(minutes.length).toBeGreaterThan(10);
	const known = new Set(
		minutes.map((line) => Array.from(loadsIn(line).values(), ({utilization}) => utilization).join(' ')),
	);
	expect(known).toEqual(new Set(['0 ']));
});
