/** Reservations of several GPUs as one row each: when rows are folded, what they show, and what keys do. */
import {afterEach, expect, test} from 'vitest';
import type {Lease} from '../../../source/core/model/types.js';
import type {Size, State} from '../../../source/tui/state/state.js';
import {chosenGpus, selectedGpu, visibleRows} from '../../../source/tui/state/gpus/rows.js';
import {gpuText} from '../../../source/tui/state/gpus/fold.js';
import {tableRowsOf} from '../../../source/tui/layout.js';
import {after, frameOf, keys, pressing, startMonitor, stateOf, type Session, type Step} from '../_harness.js';
import {eventsArrived} from '../_scene.js';
import {busy, createBox, gpuReading, lease, run, type Box} from '../_world.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {createLarge} from './_large.js';

let session: Session | undefined;

afterEach(() => {
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
	session = undefined;
});

const quiet: Step = {kind: 'ticked', nowMs: 9000};

const sizeOf = (name: string): Size => {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	return {columns, rows};
};

const firstCells = (state: State): readonly string[] => visibleRows(state).map((row) => gpuText(row));

for (const name of ['60x15', '80x24', '120x32', '200x50'] as const) {
	test(`64 GPUs at ${name} have one row for each reservation, and the key g shows a row for each GPU`, async () => {
		const state = await stateOf(await createLarge(), sizeOf(name), {}, [eventsArrived, quiet]);
		await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot(`../frames/${name}/folded.txt`);
		expect(visibleRows(state)).toHaveLength(16);
		const unfolded = after(state, 'toggle-fold');
		expect(visibleRows(unfolded)).toHaveLength(64);
		expect(frameOf(unfolded)).toContain('One row for each GPU; g folds reservations');
		expect(visibleRows(after(unfolded, 'toggle-fold'))).toHaveLength(16);
	});
}

/** Eight GPUs: a job on three that are not adjacent, a pair, and three single ones. */
const createMixed = async (more: Readonly<Record<number, Lease>> = {}): Promise<Box> =>
	createBox(8, {
		leases: {
			0: run('alice', {leaseId: 'job'}),
			2: run('alice', {leaseId: 'job'}),
			5: run('alice', {leaseId: 'job'}),
			3: lease('bob', {leaseId: 'pair'}),
			4: lease('bob', {leaseId: 'pair'}),
			...more,
		},
		readings: [
			busy(0, 'alice', 'python train.py', {gibibytes: 10, percent: 100}),
			gpuReading(1),
			busy(2, 'alice', 'python train.py', {gibibytes: 30, percent: 50}),
			gpuReading(3),
			gpuReading(4),
			{...busy(5, 'alice', 'python train.py', {gibibytes: 50, percent: 0}), temperatureCelsius: 84},
			gpuReading(6),
			gpuReading(7),
		],
	});

test('GPUs that all fit on the screen have one row each until the key g groups them by reservation', async () => {
	for (const name of ['60x15', '80x24', '120x32', '200x50']) {
		const state = await stateOf(await createMixed(), sizeOf(name));
		const fits = visibleRows(state).length <= tableRowsOf(state);
		expect([name, fits, firstCells(state).length]).toEqual([name, true, 8]);
	}

	const state = await stateOf(await createMixed(), sizeOf('120x32'));
	const folded = after(state, 'toggle-fold', quiet);
	expect(firstCells(folded)).toEqual(['0,2,5 (3)', '1', '3,4 (2)', '6', '7']);
	expect(frameOf(folded)).toContain('by reservation g');
	expect(firstCells(after(folded, 'toggle-fold'))).toHaveLength(8);
});

test('the row of a reservation shows the mean load and the highest temperature of its GPUs', async () => {
	const box = await createMixed();
	const [row] = visibleRows(after(await stateOf(box, sizeOf('120x32')), 'toggle-fold'));
	expect(row?.reading).toMatchObject({
		utilizationPercent: 50,
		memoryUsedMiB: 30 * 1024,
		memoryTotalMiB: gpuReading(0).memoryTotalMiB,
		temperatureCelsius: 84,
	});
	const partly = await createBox(2, {
		leases: {0: run('alice', {leaseId: 'job'}), 1: run('alice', {leaseId: 'job'})},
		readings: [
			busy(0, 'alice', 'python', {gibibytes: 10, percent: 80}),
			{...gpuReading(1), utilizationPercent: undefined, failure: 'GPU is lost'},
		],
	});
	const [unread] = visibleRows(after(await stateOf(partly, sizeOf('80x24')), 'toggle-fold'));
	expect(unread?.reading?.utilizationPercent).toBe(80);
	// The row shows the fault of one of its GPUs.
	expect(frameOf(after(await stateOf(partly, sizeOf('80x24')), 'toggle-fold'))).toMatch(
		/0,1 \(2\) +Mine .*GPU is lost/v,
	);
	const nothing = await createBox(2, {
		leases: {0: run('alice', {leaseId: 'job'}), 1: run('alice', {leaseId: 'job'})},
		readings: [gpuReading(0), gpuReading(1)].map((reading) => ({...reading, utilizationPercent: undefined})),
	});
	expect(
		visibleRows(after(await stateOf(nothing, sizeOf('80x24')), 'toggle-fold'))[0]?.reading?.utilizationPercent,
	).toBeUndefined();
});

test('the key g keeps the selection on the same reservation', async () => {
	const start = await stateOf(await createMixed(), sizeOf('120x32'));
	const onFive = after(start, ...Array.from({length: 5}, () => 'line-down' as const));
	expect(selectedGpu(onFive)).toBe(5);
	const folded = after(onFive, 'toggle-fold');
	expect([selectedGpu(folded), chosenGpus(folded)]).toEqual([0, [0, 2, 5]]);
	const tagged = after(folded, 'toggle-tag', 'line-down', 'toggle-tag');
	expect(chosenGpus(tagged)).toEqual([0, 2, 3, 4, 5]);
	expect(frameOf(tagged)).toMatch(/ \*0,2,5 \(3\)/v);
	// The row tags all its GPUs if one of them is not tagged, and removes all tags otherwise.
	const unfolded = after(tagged, 'toggle-fold', 'first-line', 'toggle-tag');
	expect(chosenGpus(unfolded)).toEqual([2, 3, 4, 5]);
	const again = after(unfolded, 'toggle-fold', 'first-line', 'toggle-tag');
	expect(chosenGpus(again)).toEqual([0, 2, 3, 4, 5]);
	expect(chosenGpus(after(again, 'first-line', 'toggle-tag'))).toEqual([3, 4]);
});

test('rows of reservations are sorted by the values that they show', async () => {
	const state = after(await stateOf(await createMixed(), sizeOf('120x32')), 'toggle-fold');
	const byTemperature = after(state, ...Array.from({length: 7}, () => 'sort-next' as const));
	expect(byTemperature.gpus.sort.by).toBe('temperature');
	expect(firstCells(byTemperature)[0]).toBe('0,2,5 (3)');
	const filtering = after(state, 'open-filter', {kind: 'typed', text: 'alice'});
	expect(firstCells(filtering)).toEqual(['0,2,5 (3)']);
	expect(frameOf(filtering)).toContain('3 of 8 GPUs');
	// A search finds a GPU in the row of its reservation.
	const found = after(state, 'open-search', {kind: 'typed', text: 'gpu4'}, 'keep-search');
	expect(selectedGpu(found)).toBe(3);
});

test('the key g has no effect on reservations of single GPUs', async () => {
	const state = await stateOf(await createBox(4, {leases: {1: lease('bob')}}), sizeOf('80x24'));
	const pressed = after(state, 'toggle-fold');
	expect(frameOf(pressed)).toContain('No reservation has several GPUs');
	expect(pressed.view.isFolded).toBeUndefined();
	const linear = await stateOf(await createLarge(), sizeOf('80x24'), {isLinear: true});
	expect(visibleRows(linear)).toHaveLength(64);
	expect(after(linear, 'toggle-fold').flash?.text).toBe('The screen-reader view always shows each GPU on its own');
});

test('the release dialog on the row of a reservation includes all its GPUs', async () => {
	const state = await stateOf(await createMixed(), sizeOf('80x24'), {}, ['toggle-fold', pressing(release)]);
	expect(frameOf(state)).toContain('Release GPUs 0,2,5 now? y/N');
	expect(frameOf(state)).toContain('$ canhazgpu release --gpu-ids 0,2,5');
});

test('the key x on the row of a reservation releases all its GPUs in one commit, and the key z restores them', async () => {
	const box = await createMixed({6: lease('alice', {leaseId: 'mine'}), 7: lease('alice', {leaseId: 'mine'})});
	session = startMonitor(box, {size: {columns: 80, rows: 24}});
	await session.shows(/> 0 +Mine/v);
	await session.press('g', keys.end);
	await session.shows(/> 6,7 \(2\) +Mine/v);
	const commits: unknown[] = [];
	const {commit} = box.store;
	Object.assign(box.store, {
		async commit(plan: {writes: unknown}) {
			commits.push(plan.writes);
			return commit(plan as never);
		},
	});

	await session.press('x', 'y');
	await session.shows('released GPUs 6,7');
	expect(commits).toHaveLength(1);
	const owners = async (): Promise<readonly string[]> => {
		const {gpus} = await box.store.read();
		return gpus.map((record) => (record.kind === 'leased' ? (record.lease.leaseId ?? '?') : '-'));
	};

	expect(await owners()).toEqual(['job', '-', 'job', 'pair', 'pair', 'job', '-', '-']);
	await session.press('z');
	await session.shows(/6,7 \(2\) +Mine/v);
	const [six, seven] = (await owners()).slice(6);
	expect([six === seven, six === '-']).toEqual([true, false]);
});

test('the key K on the row of a reservation asks about the processes of all its GPUs, each once', async () => {
	const leases = {0: run('alice', {leaseId: 'job'}), 1: run('alice', {leaseId: 'job'})};
	const box = await createBox(2, {leases});
	const spread = {pid: 77, startTicks: 5, user: 'alice', name: 'torchrun', memoryUsedMiB: 900};
	const second = {pid: 78, startTicks: 5, user: 'alice', name: 'ray', memoryUsedMiB: 10};
	box.readings = [
		{...gpuReading(0), processes: [spread]},
		{...gpuReading(1), processes: [spread, second]},
	];
	const sent: unknown[] = [];
	session = startMonitor(box, {
		size: {columns: 80, rows: 24},
		ports: {
			sendSignal(...words) {
				sent.push(words);
				return 'sent';
			},
		},
	});
	await session.shows(/> 0 +Mine/v);
	await session.press('g');
	await session.shows(/> 0,1 \(2\) +Mine/v);
	await session.press('K');
	await session.shows('$ kill -TERM 77');
	expect(frameOf(session.store.getState()).match(/torchrun/gv)).toHaveLength(1 + 1);
	await session.press(keys.down);
	await session.shows('$ kill -TERM 78');
	await session.press('y');
	await session.shows('sent SIGTERM to process 78');
	expect(sent).toEqual([[{pid: 78, startTicks: 5}, 'SIGTERM']]);
});
