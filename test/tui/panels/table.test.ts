/** Order, filter, tags, and a selection that stays on its GPU. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {GpuReading} from '../../../source/core/model/types.js';
import type {Action} from '../../../source/tui/state/actions.js';
import type {State} from '../../../source/tui/state/state.js';
import {chosenGpus, selectedGpu, selectedRow, taggedGpus, visibleRows} from '../../../source/tui/state/gpus/rows.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {after, frameOf, pressing, stateOf} from '../_harness.js';
import {createBox, createScene, gpuReading, lease, waiter} from '../_world.js';

const size = {columns: 120, rows: 32};

const order = (state: State): readonly number[] => visibleRows(state).map(({index}) => index);

const scan = (gpus: readonly GpuReading[], nowMs = 2000): Action => ({
	kind: 'scan-arrived',
	nowMs,
	observation: {provider: 'nvidia', takenAtMs: nowMs, simulated: false, gpus, warnings: []},
});

test('the GPU table sorts by each column and then by index, with unknown values last', async () => {
	let state = await stateOf(await createScene(), size);
	const orders: Record<string, string> = {};
	const keys = ['gpu', 'state', 'owner', 'held', 'ends', 'utilization', 'memory', 'temperature', 'power'];
	for (const key of keys) {
		expect(state.gpus.sort.by).toBe(key);
		orders[key] = `${order(state).join('')} ${order(after(state, 'invert-sort')).join('')}`;
		state = after(state, 'sort-next');
	}

	expect(state.gpus.sort.by).toBe('gpu');
	expect(after(state, 'sort-previous').gpus.sort.by).toBe('power');
	expect(orders).toMatchInlineSnapshot(`
		{
		  "ends": "30451267 04531267",
		  "gpu": "01234567 76543210",
		  "held": "30451267 45031267",
		  "memory": "45061237 12360457",
		  "owner": "03456127 64530127",
		  "power": "45063217 12360547",
		  "state": "76034512 12453067",
		  "temperature": "45063217 12360457",
		  "utilization": "45061237 12360547",
		}
	`);
});

test('sorting the GPU table by state groups rows with the same displayed state', async () => {
	const [mine, others] = [lease('alice'), lease('bob')];
	const leases = {0: others, 1: mine, 2: lease('carol', {partialQueueId: 'entry-carol'}), 3: others, 4: mine};
	const box = await createBox(7, {leases, waiting: [waiter('carol')]});
	await box.write({kind: 'drains', drains: new Map([[5, {}]])});
	const state = after(await stateOf(box, size), 'sort-next');
	expect(state.gpus.sort.by).toBe('state');
	expect(order(state)).toEqual([1, 4, 2, 0, 3, 5, 6]);
	expect(order(after(state, 'invert-sort'))).toEqual([6, 5, 0, 3, 2, 1, 4]);
});

test('the key s sorts the GPU table by memory with the largest first, whatever the previous order', async () => {
	const state = await stateOf(await createScene(), size);
	expect(order(after(state, 'sort-memory'))).toEqual([4, 5, 0, 6, 1, 2, 3, 7]);
	expect(order(after(state, 'sort-memory', 'sort-memory'))).toEqual([4, 5, 0, 6, 1, 2, 3, 7]);
	expect(order(after(state, 'sort-memory', 'invert-sort', 'sort-memory'))).toEqual([4, 5, 0, 6, 1, 2, 3, 7]);
});

test('a click on the title of the second sort column ends the sorting by this column', async () => {
	const click = {kind: 'pointed', at: {on: 'heading', panel: 'gpus', key: 'state'}} as const;
	const state = after(await stateOf(await createScene(), size), 'second-sort-next', click);
	expect(frameOf(state)).toContain('sort STATE^ ─');
});

test('the selection follows its GPU while rows move', async () => {
	const box = await createBox(4);
	const state = after(await stateOf(box, size), 'line-down', ...Array.from({length: 6}, () => 'sort-next' as const));
	expect(state.gpus.sort.by).toBe('memory');
	const used = (index: number, memoryUsedMiB: number): GpuReading => gpuReading(index, {memoryUsedMiB});
	const turned = after(state, scan([used(0, 10), used(1, 30), used(2, 40), used(3, 20)]));
	expect(order(turned)).toEqual([2, 1, 3, 0]);
	expect(selectedGpu(turned)).toBe(1);
	expect(selectedGpu(after(turned, 'line-up'))).toBe(2);
});

test('the selection and tags follow their GPU to another index', async () => {
	const state = after(await stateOf(await createBox(4), size), 'line-down', 'toggle-tag', 'line-up');
	expect(chosenGpus(state)).toEqual([1]);
	const [first, second, third, fourth] = [0, 1, 2, 3].map((index) => gpuReading(index));
	const moved = after(
		state,
		scan([
			{...fourth!, index: 0},
			{...first!, index: 1},
			{...third!, index: 2},
			{...second!, index: 3},
		]),
	);
	expect(selectedGpu(moved)).toBe(3);
	expect(taggedGpus(moved)).toEqual([3]);
});

test('a GPU that was tagged before the first scan keeps its tag', async () => {
	const box = await createBox(3);
	const scanned = await stateOf(box, size);
	const unknown: State = {
		...scanned,
		observation: undefined,
		gpus: {...scanned.gpus, selected: {keys: [], place: 0}},
	};
	const tagged = after(unknown, 'last-line', 'toggle-tag');
	expect([...tagged.gpus.tags]).toEqual(['#2']);
	const known = after(tagged, scan(box.readings));
	expect([...known.gpus.tags]).toEqual([gpuReading(2).uuid]);
	expect(after(known, 'clear-marks').gpus.tags.size).toBe(0);
});

test('two GPUs that claim the same UUID can both be selected', async () => {
	const twins = [gpuReading(0), {...gpuReading(1), uuid: gpuReading(0).uuid}];
	const state = after(await stateOf(await createBox(2), size), scan(twins), 'line-down');
	expect(selectedGpu(state)).toBe(1);
	expect(selectedGpu(after(state, scan(twins, 3000)))).toBe(1);
});

const typed = (text: string): Action => ({kind: 'typed', text});

test('a filter of the GPU table keeps rows that contain all of its words', async () => {
	const state = await stateOf(await createScene(), size);
	const matching = (text: string): readonly number[] => order(after(state, 'open-filter', typed(text)));
	expect(matching('CAROL train')).toEqual([4, 5]);
	expect(matching('gpu6')).toEqual([6]);
	expect(matching('llama')).toEqual([0]);
	expect(matching('free')).toEqual([1, 2]);
	expect(matching('lost')).toEqual([7]);
	expect(matching('eval')).toEqual([0]);
	expect(matching('81238')).toEqual([4]);
	expect(matching('nobody at all')).toEqual([]);
});

test('a filter can compare columns, and the footer explains a comparison that cannot match', async () => {
	const state = await stateOf(await createScene(), size);
	const filtering = (text: string) => after(state, 'open-filter', typed(text));
	expect(order(filtering('user:carol'))).toEqual([4, 5]);
	expect(order(filtering('!user:carol'))).toEqual([0, 1, 2, 3, 6, 7]);
	expect(order(filtering('state:free'))).toEqual([1, 2]);
	expect(order(filtering('mem>20g user:carol'))).toEqual([4, 5]);
	expect(order(filtering('temp>75'))).toEqual([4, 5]);
	// The reading of the broken GPU is unknown.
	expect(order(filtering('!temp>75'))).toEqual([0, 1, 2, 3, 6]);
	expect(frameOf(filtering('temp>hot'))).toMatch(/Filter temp>hot.* temp: "hot" is not a number$/mv);
	const long = frameOf(filtering(`temp>${'x'.repeat(200)}`)).split('\n');
	expect(Math.max(...long.map((line) => line.length))).toBeLessThanOrEqual(size.columns);
	expect(long).toHaveLength(size.rows);
});

test('canceling a filter restores the selection and all rows', async () => {
	const state = after(await stateOf(await createScene(), size), 'line-down');
	const typing = after(state, 'open-filter', typed('carol'));
	expect(selectedGpu(typing)).toBe(4);
	const dropped = after(typing, 'drop-filter');
	expect([selectedGpu(dropped), dropped.gpus.prompt, dropped.gpus.filter.text]).toEqual([1, undefined, '']);
	const kept = after(typing, 'keep-filter');
	expect([selectedGpu(kept), kept.gpus.prompt, kept.gpus.filter.text]).toEqual([4, undefined, 'carol']);
	expect(order(after(typing, 'keep-filter', 'clear-marks'))).toHaveLength(8);
});

test('a table without rows has no selection, and keys change nothing', async () => {
	const none = after(await stateOf(await createScene(), size), 'open-filter', typed('zzz'), 'keep-filter');
	expect([selectedGpu(none), selectedRow(none), chosenGpus(none)]).toEqual([undefined, undefined, []]);
	expect(after(none, 'toggle-tag')).toMatchObject({flash: {text: 'No GPU is shown: Esc clears the filter'}});
	expect(after(none, pressing(release)(none)).dialog).toBeUndefined();
	expect(after(none, pressing(release)(none))).toMatchObject({flash: {level: 'warning'}});
	expect(selectedGpu(after(none, 'line-down', 'toggle-tag'))).toBeUndefined();
	expect(selectedGpu(after(none, 'clear-marks'))).toBe(0);
});

test("the GPU table can be limited to the user's GPUs and to the GPUs of the selected user", async () => {
	const state = await stateOf(await createScene(), size);
	expect(order(after(state, 'filter-mine'))).toEqual([0]);
	expect(order(after(state, 'filter-mine', 'filter-mine'))).toHaveLength(8);
	const carol = after(state, ...Array.from({length: 4}, () => 'line-down' as const), 'filter-user');
	expect([order(carol), selectedGpu(carol)]).toEqual([[4, 5], 4]);
	expect(order(after(carol, 'filter-user'))).toHaveLength(8);
	const refused = after(state, 'line-down', 'filter-user');
	expect([refused.flash?.level, refused.gpus.filter.user]).toEqual(['warning', undefined]);
});

test("the filter for the user's GPUs includes GPUs that the user uses without a reservation", async () => {
	const process = {pid: 1, user: 'alice', memoryUsedMiB: 9000};
	const readings = [gpuReading(0), gpuReading(1, {memoryUsedMiB: 9000, processes: [process]})];
	expect(order(after(await stateOf(await createBox(2, {readings}), size), 'filter-mine'))).toEqual([1]);
});

test('the selected GPU exists after any sequence of keys', async () => {
	const state = await stateOf(await createBox(12, {leases: {3: lease('bob'), 4: lease('alice')}}), size);
	const step = fc.oneof(
		fc.constantFrom<Action['kind']>(
			'line-down',
			'last-line',
			'toggle-tag',
			'sort-next',
			'invert-sort',
			'filter-mine',
			'filter-user',
			'open-filter',
			'drop-filter',
			'clear-marks',
		),
		fc.constantFrom('bob', 'free', 'zz').map((text) => typed(text)),
		fc
			.shuffledSubarray(Array.from({length: 12}, (_, index) => index))
			.map((places) => scan(places.map((position, index) => ({...gpuReading(position), index})))),
	);
	fc.assert(
		fc.property(fc.array(step, {maxLength: 25, size: 'max'}), (steps) => {
			let before = state;
			for (const each of steps) {
				const next = after(before, each as Action);
				const uuid = selectedRow(before)?.reading?.uuid;
				// A scan moves rows but never the selection.
				if (
					uuid !== undefined &&
					typeof each !== 'string' &&
					each.kind === 'scan-arrived' &&
					visibleRows(next).some(({reading}) => reading?.uuid === uuid)
				) {
					expect(selectedRow(next)?.reading?.uuid).toBe(uuid);
				}

				expect(selectedGpu(next) === undefined).toBe(visibleRows(next).length === 0);
				expect(chosenGpus(next).every((gpu) => gpu >= 0 && gpu < 12)).toBe(true);
				before = next;
			}
		}),
	);
});

test('the key i explains how to choose a second sort column if there is none', async () => {
	const state = await stateOf(await createBox(2), size);
	for (const begun of [state, after(state, 'focus-processes')]) {
		const frame = frameOf(after(begun, 'invert-second-sort')).split('\n');
		expect(frame.at(-2)).toBe(' WARN There is no second sort column to reverse: . chooses one');
		expect(frameOf(after(begun, 'second-sort-next', 'invert-second-sort'))).toMatch(/ then \S+v/v);
	}
});
