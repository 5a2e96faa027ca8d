import {expect, test} from 'vitest';
import type {Size, Settings, State} from '../../source/tui/state/state.js';
import type {Action} from '../../source/tui/state/actions.js';
import type {Form} from '../../source/tui/state/dialogs.js';
import {changeForm} from '../../source/tui/state/form.js';
import type {PanelIntent} from '../../source/tui/state/panels/reduce.js';
import type {TableIntent} from '../../source/tui/state/table/reduce.js';
import {release} from '../../source/tui/commands/reservations/release.js';
import {reserve, wait} from '../../source/tui/commands/reserve/reserve.js';
import type {ReserveForm} from '../../source/tui/commands/reserve/form.js';
import {splitReading} from '../_helpers/mig-box.js';
import {frameOf, pressing, stateOf, type Step} from './_harness.js';
import {nightOf, pastOf, reported, eventsArrived} from './_scene.js';
import {createBox, createScene, gpuReading, lease, sceneTime} from './_world.js';

async function frame(size: Size, more: Partial<Settings> = {}, actions: readonly Step[] = []): Promise<string> {
	const box = await createScene();
	return `\n${frameOf(await stateOf(box, size, more, [eventsArrived, ...actions], pastOf(box)))}\n`;
}

const sizes = ['60x15', '80x24', '120x32', '200x50'] as const;

const intents = (...kinds: ReadonlyArray<PanelIntent | TableIntent>): readonly Action[] =>
	kinds.map((kind) => ({kind}));

for (const name of sizes) {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	test(`top draws the load of a GPU over a day at ${name}`, async () => {
		const actions = intents(
			'look-back',
			'look-back',
			'look-back',
			...(rows < 30 ? (['focus-detail'] as const) : []),
			...(rows === 24 ? (['zoom'] as const) : []),
		);
		await expect(await frame({columns, rows}, {}, [...actions, nightOf(await createScene())])).toMatchFileSnapshot(
			`frames/${name}/night.txt`,
		);
	});
}

const middle = {columns: 120, rows: 32};
const small = {columns: 80, rows: 24};

test('top draws the detail, queue, events and report panels', async () => {
	await expect(await frame(middle, {}, intents('focus-detail', 'zoom', 'toggle-tree'))).toMatchFileSnapshot(
		'frames/120x32/detail.txt',
	);
	await expect(await frame(small, {}, intents('focus-queue', 'zoom', 'line-down'))).toMatchFileSnapshot(
		'frames/80x24/queue.txt',
	);
	await expect(await frame(small, {}, intents('focus-events'))).toMatchFileSnapshot('frames/80x24/events.txt');
	await expect(await frame(small, {isAscii: true}, [reported, ...intents('focus-report')])).toMatchFileSnapshot(
		'frames/80x24/report-ascii.txt',
	);
});

test('top draws a table sorted by memory, with a tag and a filter', async () => {
	const sorting = ['sort-next', 'sort-next', 'sort-next', 'sort-next', 'sort-next', 'sort-next'] as const;
	const actions = [...intents('toggle-tag', ...sorting, 'line-down', 'toggle-tag', 'open-filter')];
	const typed: Action = {kind: 'typed', text: 'carol'};
	await expect(await frame(middle, {}, [...actions, typed])).toMatchFileSnapshot('frames/120x32/filter.txt');
});

test('top draws plain lines for a screen reader', async () => {
	await expect(await frame(small, {isLinear: true})).toMatchFileSnapshot('frames/80x24/linear.txt');
});

test('top on a screen that is too small draws a summary and the required size', async () => {
	expect(await frame({columns: 59, rows: 5})).toMatchInlineSnapshot(`
		"
		 Free 2  Mine 1  Others 3  Unres 1  Err 1          Queue 2
		  GPU     STATE      OWNER      ENDS    UTIL      MEM TEMP
		> 0       Mine       alice      on-exit  84%   60/80G  75C
		  1       Free       -          -         0%    0/80G  31C
		 need 60x15, have 59x5 q Quit
		"
	`);
});

test('top draws the last values and their age while the store is unreachable', async () => {
	const lost: readonly Action[] = [
		{kind: 'store-lost', reason: 'Redis unreachable', nowMs: 4000, sinceMs: 4000},
		{kind: 'ticked', nowMs: 18_000},
	];
	const text = await frame({columns: 80, rows: 24}, {isReadonly: true, poolLabel: 'PRIVATE pool'}, lost);
	await expect(text).toMatchFileSnapshot('frames/80x24/lost.txt');
});

test('top scrolls the table if there are more GPUs than lines', async () => {
	const box = await createBox(64, {leases: {40: lease('bob')}});
	box.isSimulated = true;
	const down: readonly Action[] = [{kind: 'page-down'}, {kind: 'page-down'}, {kind: 'page-down'}];
	const state = await stateOf(box, {columns: 80, rows: 24}, {}, down);
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('frames/80x24/many.txt');
});

/** The dialog with filled fields, refused with a long message. */
function refused(state: State): State {
	const typed = [
		['Note', 'a note that is rather long, about many things and more'],
		['Needs', '40G h100 nvlink mixed 8.0 topology'],
		['Share', '8G'],
	] as const;
	let form = state.dialog as Form;
	for (const [label, text] of typed) {
		const focused = form.fields.findIndex((field) => field.label === label);
		form = changeForm({...form, focused}, {kind: 'typed', text});
	}

	return {
		...state,
		dialog: {
			...(form as unknown as ReserveForm),
			complaint: {
				message:
					"Not enough GPUs available. Requested: 2, Available: 0 (2 GPUs in use without reservation - run 'canhazgpu status' for details, GPU 1 has 30 of 48G free, 18G are carol's)",
				hint: 'The pool has 4 A100-SXM4-80GB of 80 GiB (8.0), 4 L40S of 45 GiB (8.9). To reserve different models: mixed',
				canWait: true,
			},
		},
	};
}

test.each(['60x15', '80x24'] as const)(
	'a dialog with a long error keeps its title, fields, message and keys at %s',
	async (name) => {
		const [columns = 0, rows = 0] = name.split('x').map(Number);
		const box = await createBox(8);
		await box.write({kind: 'policy', policy: new Map([['share', {value: 'on', since: sceneTime}]])});
		for (const [command, file] of [
			[reserve, 'reserve-refused'],
			[wait, 'wait-refused'],
		] as const) {
			const text = frameOf(refused(await stateOf(box, {columns, rows}, {}, [pressing(command)])));
			const lines = text.split('\n');
			expect(lines).toHaveLength(rows);
			expect(text).toContain('Not enough GPUs available. Requested: 2');
			expect(text).toContain('w waits for them in the queue');
			expect(lines.at(-1)).toContain('Esc Cancel');
			await expect(`\n${text}\n`).toMatchFileSnapshot(`frames/${name}/dialogs/${file}.txt`);
		}
	},
);

test('top draws MIG instances in the table, and free profiles in the reserve dialog', async () => {
	const held = {uuid: 'MIG-2-0', number: 0, profile: '1g.10gb'};
	const box = await createBox(4, {
		readings: [0, 1, 2, 3].map((index) =>
			index < 2
				? gpuReading(index)
				: splitReading(index, index === 2 ? ['1g.10gb', '1g.10gb', '3g.40gb'] : ['7g.80gb']),
		),
	});
	await box.write({kind: 'shares', index: 2, shares: [lease('bob', {mig: held})]});
	const state = await stateOf(box, small, {}, [{kind: 'last-line'}, {kind: 'line-up'}]);
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('frames/80x24/mig.txt');
	const asking = await stateOf(box, small, {}, [pressing(reserve)]);
	await expect(`\n${frameOf(asking)}\n`).toMatchFileSnapshot('frames/80x24/dialogs/reserve-mig.txt');
	const wide = await stateOf(box, middle, {}, [{kind: 'last-line'}, {kind: 'line-up'}]);
	await expect(`\n${frameOf(wide)}\n`).toMatchFileSnapshot('frames/120x32/mig.txt');
});

test('the pages of the help together show every key and mark at any screen size', async () => {
	await expect(await frame(middle, {}, [{kind: 'open-help'}])).toMatchFileSnapshot('frames/120x32/help.txt');
	await expect(await frame({columns: 200, rows: 50}, {}, [{kind: 'open-help'}])).toMatchFileSnapshot(
		'frames/200x50/help.txt',
	);
	const pages = new Set<string>();
	for (const size of [small, {columns: 60, rows: 15}]) {
		for (let page = 0; page < 12; page++) {
			const next = Array.from({length: page}, () => ({kind: 'help-next'}) as const);
			pages.add(await frame(size, {isAscii: true}, [{kind: 'open-help'}, ...next]));
		}

		// On any screen, each key and each mark is on some page.
		const all = [...pages].join('\n');
		for (const words of [
			'reserve GPUs for a time',
			'Drained',
			'dave?',
			'! dave:',
			'on-exit',
			'ERROR',
			'load:',
			'this help',
		]) {
			expect(all).toContain(words);
		}

		pages.clear();
	}
});

test('the borders of the panels do not touch a dialog drawn over them', async () => {
	for (const columns of [80, 99, 100, 120, 200]) {
		for (const step of [pressing(reserve), pressing(release), {kind: 'open-help'} as const]) {
			expect(await frame({columns, rows: 32}, {}, [step])).not.toMatch(/[─├]│|│[─┤]/v);
		}
	}
});

test('top draws a complete first frame before it has read the pool', async () => {
	const state = await stateOf(await createBox(2), {columns: 60, rows: 15});
	const before = {...state, snapshot: undefined, observation: undefined, connection: {kind: 'connecting'} as const};
	expect(`\n${frameOf(before)}\n`).toMatchInlineSnapshot(`
		"
		 canhazgpu  gpu-box-3  [CONNECTING]               rw  alice
		 Free 0  Mine 0  Others 0  Unres 0  Unknown 0       Queue 0
		── 1:GPUs  sort GPU^ ───────────────────────────────────────
		  GPU STATE      OWNER           ENDS    UTIL      MEM TEMP
		── 2:Detail ────────────────────────────────────────────────
		 no GPU is shown






		────────────────────────────────────────────────────────────
		 OK reading the pool in memory
		 r Reserve  x Release  e Extend  w Wait  ? Help  q Quit
		"
	`);
});

test('the message after a success includes the equivalent command', async () => {
	const flash: Action = {
		kind: 'done',
		dialog: {kind: 'help'},
		flash: {level: 'ok', text: 'reserved GPUs 1,2 for 4h 0m 0s', next: 'export CUDA_VISIBLE_DEVICES=1,2'},
	};
	const text = await frame({columns: 80, rows: 24}, {}, [flash]);
	expect(text.split('\n').at(-3)).toMatchInlineSnapshot(
		'" OK reserved GPUs 1,2 for 4h 0m 0s            $ export CUDA_VISIBLE_DEVICES=1,2"',
	);
});

test('the message after a success is whole, without a command that is too long', async () => {
	const ids = Array.from({length: 64}, (_, index) => index).join(',');
	for (const columns of [80, 120, 200]) {
		const text = frameOf({
			...(await stateOf(await createScene(), {columns, rows: 30})),
			flash: {level: 'ok', text: 'reserved GPUs 0-63 for 4h 0m 0s', next: `export CUDA_VISIBLE_DEVICES=${ids}`},
		});
		expect(text).toMatch(/^ OK reserved GPUs 0-63 for 4h 0m 0s +v Whole$/mv);
	}
});
