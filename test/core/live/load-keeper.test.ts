/** The load history of a machine: which viewer records it, and how it is read. */
import {expect, test} from 'vitest';
import {createLoadKeeper} from '../../../source/core/live/load-keeper.js';
import {pastHistory, emptyHistory, recorded, seriesOf} from '../../../source/core/live/utilization-history.js';
import {createSharedGpus} from '../../../source/core/live/shared-scanner.js';
import {readPast} from '../../../source/core/operations/history/past.js';
import {loadIn, loadName, namesIn} from '../../../source/core/rules/pool/load-minutes.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createMemoryStore} from '../../../source/store/memory/index.js';
import {createLiveWorld} from '../../_helpers/live-world.js';
import {idleReading, observationOf, startTime} from '../../_helpers/world.js';

const busy = (percent: number | undefined) => observationOf([{...idleReading(0), utilizationPercent: percent}]);

const name = loadName(idleReading(0));

const own = emptyHistory({windowMs: 300_000, stepMs: 1000, coverMs: 5000});

test('the load history returns the load recorded overnight, with a gap for the time without scans', async () => {
	const store = createMemoryStore();
	const keeper = createLoadKeeper(store);
	const begin = startTime - (startTime % 3600);
	const hours = 10;
	let past;
	for (let second = 0; second < hours * 3600; second += 20) {
		// No scans between the third and the fifth hour.
		if (second === 7200) {
			await keeper.end();
		}

		if (second < 7200 || second >= 4 * 3600) {
			await keeper.add(busy(second < 7200 ? 25 : 75), begin + second);
		}

		if (second % 5000 === 0) {
			past = await readPast({store}, {now: begin + second, seconds: 86_400}, past);
		}
	}

	await keeper.end();
	const now = begin + hours * 3600;
	const whole = await readPast({store}, {now, seconds: 86_400});
	expect(await readPast({store}, {now, seconds: 86_400}, past)).toEqual(whole);
	expect(whole.minutes).toHaveLength(8 * 60);
	const history = pastHistory(whole.minutes, own, {name, key: 'gpu', windowMs: hours * 3_600_000, ownOffsetMs: 0});
	const series = seriesOf(history, 'gpu', 'utilization', {columns: 10, nowMs: now * 1000});
	expect(series).toEqual([0.25, 0.25, undefined, undefined, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75]);
	// The edges of a gap are exact to the minute even in narrow columns.
	const narrow = seriesOf(history, 'gpu', 'utilization', {columns: 1200, nowMs: now * 1000});
	expect(narrow.filter((value) => value === undefined)).toHaveLength(240);
});

test("the load graph shows the recorded minutes, followed by the monitor's own readings", async () => {
	const store = createMemoryStore();
	const keeper = createLoadKeeper(store);
	const begin = startTime - (startTime % 60);
	for (let second = 0; second <= 60; second += 2) {
		await keeper.add(busy(20), begin + second);
	}

	let seen = own;
	for (let second = 30; second <= 90; second += 2) {
		seen = recorded(seen, busy(80), {atMs: second * 1000, keyOf: () => 'gpu'});
	}

	const {minutes} = await readPast({store}, {now: begin + 90, seconds: 3600});
	const history = pastHistory(minutes, seen, {name, key: 'gpu', windowMs: 120_000, ownOffsetMs: begin * 1000});
	const series = seriesOf(history, 'gpu', 'utilization', {columns: 4, nowMs: (begin + 90) * 1000});
	expect(series.map((value) => value?.toFixed(2))).toEqual([undefined, '0.20', '0.20', '0.80']);
});

test('only the scanning viewer records the load of each minute', async () => {
	const world = await createLiveWorld(2);
	const gpus = {
		...world.gpus,
		async observe() {
			// Viewers distinguish scans by their time in milliseconds, so two scans in the same millisecond would count as one.
			await world.clock.sleep(2);
			return world.gpus.observe();
		},
	};
	const viewers = [1, 2].map((pid) =>
		createSharedGpus({...world.as(pid), name: 'fake', intervalMs: 60_000, createScanner: () => gpus}),
	);
	for (const viewer of [...viewers, ...viewers]) {
		await viewer.observe();
	}

	for (const viewer of viewers) {
		await viewer.close!();
	}

	const {minutes} = await readPast(world, {now: Date.now() / 1000, seconds: 3600});
	expect(minutes.reduce((sum, {scans}) => sum + scans, 0)).toBe(world.scans());
	for (const line of minutes) {
		expect(namesIn(line)).toEqual([loadName(idleReading(0)), loadName(idleReading(1))]);
		expect(loadIn(line, name)).toEqual({utilization: 0, memory: 0});
	}
});

test('a minute that the store rejects does not delay scans or the record of the next minute', async () => {
	const store = createMemoryStore();
	let isFull = true;
	const keeper = createLoadKeeper({
		loads: {
			...store.loads,
			async append(hour, line) {
				if (isFull) {
					throw new CanhazgpuError('store-refused', 'the disk is full');
				}

				return store.loads.append(hour, line);
			},
		},
	});
	await keeper.add(busy(10), startTime);
	await keeper.add(busy(10), startTime + 60);
	isFull = false;
	await keeper.add(busy(10), startTime + 120);
	expect((await readPast({store}, {now: startTime + 120, seconds: 3600})).minutes).toHaveLength(1);
});

test('the load history is blank for an hour with an invalid record', async () => {
	const store = createMemoryStore();
	const keeper = createLoadKeeper(store);
	for (const second of [0, 60, 3600, 3660]) {
		await keeper.add(busy(10), startTime + second);
	}

	await keeper.end();
	const now = startTime + 3700;
	const question = {now, seconds: 86_400};
	expect((await readPast({store}, question)).minutes).toHaveLength(4);
	const [hour] = store.loads.hours.keys();
	for (const text of [
		'\u{0}'.repeat(1000),
		'99999999 1 0000000000',
		`${'9'.repeat(400)} 1 x`,
		'x'.repeat(2 ** 20 + 1),
	]) {
		store.loads.hours.set(hour!, text);
		expect((await readPast({store}, question)).minutes).toHaveLength(2);
	}
});
