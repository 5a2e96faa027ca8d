/** Reservations that hold memory without load: they are shown and reported, and never go back because of it. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {GpuReading, Observation} from '../../../../source/core/model/types.js';
import {createReclaimer} from '../../../../source/core/operations/reclaim.js';
import {claimReminders} from '../../../../source/core/operations/reminders.js';
import {extend, readStatus} from '../../../../source/core/operations/reservations.js';
import {parkedOf} from '../../../../source/core/rules/policy/idle-rules.js';
import {statusJson} from '../../../../source/format/json/status-json.js';
import {reminderText} from '../../../../source/format/reminder-text.js';
import {detailText} from '../../../../source/format/status-labels.js';
import {isLong} from '../../../_helpers/slow.js';
import {idleReading, observationOf, startTime} from '../../../_helpers/world.js';
import {alice, createIdleBox, hour, joinAs, minute, parkedReading, usedReading} from './_idle.js';

const always = {'idle.after': '5m', 'idle.grace': '5m', 'idle.when': 'always'} as const;

const parked = [0, 1, 2, 3].map((index) => parkedReading(index));

type IdleBox = Awaited<ReturnType<typeof createIdleBox>>;

/** Since when GPU 0 is parked, as all interfaces show it. */
async function parkedSince({world}: IdleBox): Promise<number | undefined> {
	const snapshot = await world.memory.read();
	const [record] = snapshot.gpus;
	return record?.kind === 'leased' ? parkedOf(record.lease, snapshot)?.since : undefined;
}

test('a reservation that holds memory without load is shown as parked after two hours, and is never reclaimed', async () => {
	const box = await createIdleBox(always);
	await joinAs(box.world, {ids: [0]});
	box.world.see(() => observationOf(parked));
	await box.lookFor(120, parked);
	expect(await parkedSince(box)).toBeUndefined();
	await box.lookFor(1, parked);
	expect(await parkedSince(box)).toBe(startTime + minute);
	const view = await readStatus(box.world);
	expect(detailText(view.rows[0]!)).toMatch(/^parked since \d\d:\d\d \(no load\), expires in /v);
	expect(statusJson(view.rows, view.observation)[0]).toMatchObject({
		parked_since: new Date((startTime + minute) * 1000).toISOString().replace('.000', ''),
	});
	await box.lookFor(20 * 60, parked);
	expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	expect(await box.kinds()).toEqual([]);
});

test('if only one GPU of a reservation holds memory without load, only that GPU is shown as parked', async () => {
	const box = await createIdleBox(always);
	const readings = [idleReading(0), parkedReading(1), idleReading(2), idleReading(3)];
	box.world.see(() => observationOf(readings));
	await box.lookFor(121, readings);
	const {rows} = await readStatus(box.world);
	expect(rows.map((row) => row.parked !== undefined)).toEqual([false, true, false, false]);
});

test('a GPU with load does not count as parked, even before its load has been stored', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(121, parked);
	box.world.see(() => observationOf([0, 1, 2, 3].map((index) => usedReading(index))));
	expect(detailText((await readStatus(box.world)).rows[0]!)).toMatch(/^expires in /v);
});

test('only one of many programs notifies the owner of parked GPUs', async () => {
	const box = await createIdleBox(always);
	const owner = {account: 'alice', uid: 1000, reachesAll: false};
	await box.lookFor(120, parked);
	expect((await claimReminders(box.world, owner)).reminders).toEqual([]);
	await box.lookFor(1, parked);
	const claims = await Promise.all(Array.from({length: 10}, async () => claimReminders(box.world, owner)));
	const reminders = claims.flatMap((claim) => claim.reminders);
	expect(reminders.map((reminder) => reminderText(reminder, 'box').replaceAll(/\d\d:\d\d/gv, 'HH:MM'))).toEqual([
		'canhazgpu on box: your reservation of GPUs 0,1 has held memory without any load since HH:MM. It is not taken from you. If you do not need it: canhazgpu release --gpu-ids 0,1',
	]);
	await box.lookFor(300, parked);
	expect((await claimReminders(box.world, owner)).reminders).toEqual([]);
	expect((await box.world.store.audit()).map(({reason}) => reason)).toContain(
		'alice was told that GPUs 0,1 hold memory without load',
	);
});

test('the notice about parked GPUs is sent after the quiet time', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(121, parked);
	const date = new Date(box.world.now() * 1000);
	const from = date.getHours() * 60 + date.getMinutes();
	const quiet = {events: ['idle'], quiet: {from, until: (from + 3) % 1440}} as const;
	const owner = {account: 'alice', uid: 1000, reachesAll: false, own: quiet};
	expect((await claimReminders(box.world, owner)).reminders).toEqual([]);
	await box.lookFor(3, parked);
	expect((await claimReminders(box.world, owner)).reminders).toMatchObject([{kind: 'parked'}]);
});

describe('the time without load starts again', () => {
	const breaks: ReadonlyArray<readonly [string, Partial<GpuReading>]> = [
		['when a GPU has load', {utilizationPercent: 1}],
		['when the load is unknown', {utilizationPercent: undefined, unknown: {utilizationPercent: '[N/A]'}}],
		['when the memory is unknown', {memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Unknown Error]'}}],
		['when a GPU is broken', {failure: 'lost'}],
	];
	const rest = parked.slice(1);
	test.each<readonly [string, readonly GpuReading[], Partial<Observation>]>([
		...breaks.map(([name, changes]) => [name, [{...parked[0]!, ...changes}, ...rest], {}] as const),
		['when a GPU is missing', rest, {}],
		['when no GPU holds memory', [0, 1, 2, 3].map((index) => idleReading(index)), {}],
		['when a scan fails', [], {failure: {message: 'no answer'}}],
	])('%s', async (_, gpus, changes) => {
		const box = await createIdleBox({...always, 'idle.after': '5h'});
		await box.lookFor(100, parked);
		await box.lookAfter(minute, gpus, changes);
		await box.lookFor(120, parked);
		expect(await parkedSince(box)).toBeUndefined();
		await box.lookFor(1, parked);
		expect(await parkedSince(box)).toBe(startTime + 102 * minute);
	});

	test('when no program observed the GPUs for more than five minutes', async () => {
		const box = await createIdleBox(always);
		await box.lookFor(100, parked);
		await box.lookAfter(301, parked);
		await box.lookFor(119, parked);
		expect(await parkedSince(box)).toBeUndefined();
	});

	test('when the owner runs extend --keep', async () => {
		const box = await createIdleBox(always);
		await box.lookFor(130, parked);
		const change = {atLeast: hour, keepSeconds: hour};
		await extend(box.world, alice, {by: 'label', label: 'alice'}, change);
		await box.lookFor(30, parked);
		expect(await parkedSince(box)).toBeUndefined();
	});
});

test('another program can continue the time without load', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(60, parked);
	const other = createReclaimer(box.world);
	for (let passed = 0; passed < 61; passed++) {
		box.world.pass(minute);
		await other.look(await box.world.memory.read(), observationOf(parked, {takenAtMs: box.world.clock.monotonicMs()}));
	}

	expect(await parkedSince(box)).toBe(startTime + minute);
});

test('load that only another program has seen starts the two hours again', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(60, parked);
	box.world.pass(minute);
	const used = [0, 1, 2, 3].map((index) => usedReading(index));
	const takenAtMs = box.world.clock.monotonicMs();
	await createReclaimer(box.world).look(await box.world.memory.read(), observationOf(used, {takenAtMs}));
	await box.lookFor(120, parked);
	expect(await parkedSince(box)).toBeUndefined();
	await box.lookFor(1, parked);
	expect(await parkedSince(box)).toBe(startTime + 62 * minute);
});

test('a job that pauses for less than ten minutes causes no writes', async () => {
	const box = await createIdleBox(always);
	const {count} = (await box.world.memory.read()).revision;
	for (let turn = 0; turn < 20; turn++) {
		await box.lookFor(9, parked);
		await box.lookFor(
			1,
			[0, 1, 2, 3].map((index) => usedReading(index)),
		);
	}

	expect((await box.world.memory.read()).revision.count).toBe(count);
});

test('without idle.after, no time without load is stored', async () => {
	const box = await createIdleBox({});
	const {count} = (await box.world.memory.read()).revision;
	await box.lookFor(130, parked);
	expect((await box.world.memory.read()).revision.count).toBe(count);
	expect(await parkedSince(box)).toBeUndefined();
});

test('in random histories, a reservation is parked only after two hours without load, and keeps its GPUs', async () => {
	const unknownLoad = {...parkedReading(0), utilizationPercent: undefined};
	const step = fc.record({
		seconds: fc.oneof({weight: 60, arbitrary: fc.integer({min: 100, max: 299})}, fc.integer({min: 301, max: 900})),
		gpu: fc.oneof(
			{weight: 60, arbitrary: fc.constant(parkedReading(0))},
			fc.constantFrom(usedReading(0), unknownLoad, undefined),
		),
		// Each program looks for a while. One that looks only now and then has no ten minutes without load to store.
		observer: fc.oneof({weight: 60, arbitrary: fc.constant(0)}, fc.nat(2)),
	});
	let shown = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(step, {minLength: 40, maxLength: 80}), async (steps) => {
			const box = await createIdleBox(always);
			const observers = Array.from({length: 3}, () => createReclaimer(box.world));
			let brokenAt = box.world.now();
			for (const {seconds, gpu, observer} of steps) {
				box.world.pass(seconds);
				const readings = gpu === undefined ? [parkedReading(1)] : [gpu, parkedReading(1)];
				const observation = observationOf(readings, {takenAtMs: box.world.clock.monotonicMs()});
				await observers[observer]!.look(await box.world.memory.read(), observation);
				const now = box.world.now();
				brokenAt = gpu?.utilizationPercent === 0 && seconds <= 300 ? brokenAt : now;
				const isShown = (await parkedSince(box)) !== undefined;
				shown += isShown ? 1 : 0;
				// Load that another program sees in the first ten minutes leaves no trace, because nothing is stored yet.
				expect(isShown && now - brokenAt < 2 * hour - 10 * minute).toBe(false);
				expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
			}
		}),
		{numRuns: isLong ? 500 : 30},
	);
	expect(shown).toBeGreaterThan(0);
});
