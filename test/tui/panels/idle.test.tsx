/** The warning about idle GPUs that go back: in their rows, in the detail, in the message line, and for a screen reader. */
import {expect, test} from 'vitest';
import {DetailPanel} from '../../../source/tui/panels/detail/detail-panel.js';
import {GpuTable} from '../../../source/tui/panels/gpus/gpus-panel.js';
import {Footer} from '../../../source/tui/panels/footer.js';
import {MessageLine} from '../../../source/tui/panels/message.js';
import type {Settings, State} from '../../../source/tui/state/state.js';
import {frameOf, stateOf, textOf, type Step} from '../_harness.js';
import {createIdleBox, warned} from '../_idle.js';
import {createBox, lease, type Box} from '../_world.js';

const size = {columns: 120, rows: 32};

const shown = async (more: Partial<Settings> = {}, steps: readonly Step[] = [], box?: Box): Promise<State> =>
	stateOf(box ?? (await createIdleBox()), size, more, steps);

const rowsOf = (state: State, width: number): readonly string[] =>
	textOf(state, <GpuTable width={width} height={10} />)
		.split('\n')
		.slice(1);

test('the row of an idle GPU shows when the GPU goes back to the pool or until when it is kept', async () => {
	const state = await shown();
	const wide = rowsOf(state, 170);
	expect(wide[0]).toMatch(/0 +Mine .* goes back at 14:44$/v);
	expect(wide[2]).toMatch(/bob .* goes back if wanted$/v);
	expect(wide[3]).toMatch(/carol .* kept until 15:32$/v);
	const narrow = rowsOf(state, 78);
	expect(narrow[0]).toMatch(/ back at 14:44$/v);
	expect(narrow[2]).toMatch(/ back if wanted$/v);
	expect(narrow[3]).toMatch(/ kept to 15:32$/v);
});

test.each([
	[0, 'idle since 13:32, goes back at 14:44 unless used'],
	[2, 'idle since 13:32, goes back when somebody waits'],
	[3, 'kept until 15:32 even if idle'],
])('the detail panel shows when an idle GPU goes back or until when it is kept (row %i)', async (row, words) => {
	const state = await shown(
		{},
		Array.from({length: row}, () => 'line-down' as const),
	);
	expect(textOf(state, <DetailPanel width={110} rows={12} />)).toContain(words);
});

test("the message line warns only about the user's own idle GPUs", async () => {
	const state = await shown();
	expect(textOf(state, <MessageLine />)).toMatch(/^ WARN GPUs 0,1 go back at 14:44 unless used: idle since 13:32$/v);
	const bob = {account: 'bob', uid: 1002, label: 'bob'};
	expect(textOf(await shown({requester: bob}), <MessageLine />)).toMatch(
		/WARN GPU 2 goes back when somebody waits: idle since 13:32$/v,
	);
	const dave = {account: 'dave', uid: 1003, label: 'dave'};
	expect(textOf(await shown({requester: dave}), <MessageLine />).trim()).toBe('');
});

test('the message line names the next GPU that goes back to the pool and counts the others', async () => {
	const leases = {
		0: warned('alice', 12),
		1: warned('alice', 4, {leaseId: 'second'}),
		2: warned('alice', 20, {leaseId: 'third'}),
	};
	const state = await shown({}, [], await createIdleBox({}, leases));
	expect(textOf(state, <MessageLine />)).toContain(
		'GPU 1 goes back at 14:36 unless used: idle since 13:32 (and 2 more later)',
	);
});

test('the footer offers to keep idle GPUs with the chosen key and for a duration that the policy allows', async () => {
	expect(textOf(await shown(), <Footer />)).toContain(' E Keep 2h');
	const limited = await createIdleBox({'idle.keep-max': '45m'});
	const keys = new Map([['keep', ['ctrl-k']]]);
	expect(textOf(await shown({keys}, ['focus-queue'], limited), <Footer />)).toContain(' Ctrl-K Keep 45m');
	expect(textOf(await shown({requester: {account: 'dave', uid: 1003, label: 'dave'}}), <Footer />)).not.toContain(
		'Keep',
	);
});

test('a screen reader reads the warning about idle GPUs before the table', async () => {
	const state = await shown({isLinear: true});
	const [head, , first, , third] = frameOf({...state, size: {columns: 300, rows: 40}}).split('\n', 5);
	expect(head).toContain('GPUs 0,1 go back at 14:44 unless used: idle since 13:32');
	expect(first).toMatch(/Mine.* goes back at 14:44$/v);
	expect(third).toMatch(/bob.* goes back if wanted$/v);
});

test('the message line is empty if no GPU has an idle warning', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	expect(textOf(await shown({}, [], box), <MessageLine />).trim()).toBe('');
});

test.each(['60x15', '80x24', '120x32', '200x50'])('top draws the whole screen with idle GPUs at %s', async (name) => {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	const state = await stateOf(await createIdleBox(), {columns, rows});
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot(`../frames/${name}/idle.txt`);
});
