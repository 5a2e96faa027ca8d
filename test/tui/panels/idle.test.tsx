/** The warning about idle GPUs that go back: in their rows, in the detail, in the message line, and for a screen reader. */
import {expect, test} from 'vitest';
import {DetailPanel} from '../../../source/tui/panels/detail/detail-panel.js';
import {GpuTable} from '../../../source/tui/panels/gpus/gpus-panel.js';
import {Footer} from '../../../source/tui/panels/footer.js';
import {QueuePanel} from '../../../source/tui/panels/queue/queue-panel.js';
import {MessageLine} from '../../../source/tui/panels/message.js';
import type {Settings, State} from '../../../source/tui/state/state.js';
import {frameOf, stateOf, textOf, type Step} from '../_harness.js';
import {createIdleBox, warned} from '../_idle.js';
import {createBox, gpuReading, lease, sceneTime, waiter, type Box} from '../_world.js';

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
	[2, 'idle since 13:32, goes back when somebody is waiting'],
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
		/WARN GPU 2 goes back when somebody is waiting: idle since 13:32$/v,
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

/** GPU 0 is parked, GPU 1 is beyond the limit of its account, and GPU 2 goes back because of that. */
async function createMarkedBox(): Promise<Box> {
	const slack = {warned: sceneTime - 60, deadline: sceneTime + 600};
	const box = await createBox(4, {
		leases: {
			0: lease('alice', {startTime: sceneTime - 5 * 3600, parked: {since: sceneTime - 3 * 3600, seen: sceneTime}}),
			1: lease('bob', {startTime: sceneTime - 60, slack: {}, leaseId: 'marked'}),
			2: lease('alice', {startTime: sceneTime - 60, slack, leaseId: 'warned'}),
			3: lease('bob', {startTime: sceneTime - 3600, leaseId: 'first'}),
		},
		readings: [
			gpuReading(0, {
				memoryUsedMiB: 20_000,
				utilizationPercent: 0,
				processes: [{pid: 7, user: 'alice', name: 'python', memoryUsedMiB: 19_000}],
			}),
			...[1, 2, 3].map((index) => gpuReading(index)),
		],
		waiting: [waiter('erin', {requestedIds: [2]})],
	});
	const settings = {'idle.after': '1h', 'limits.max-gpus': '1', 'limits.slack': 'on'};
	await box.write({
		kind: 'policy',
		policy: new Map(Object.entries(settings).map(([key, value]) => [key, {value, since: sceneTime}])),
	});
	return box;
}

test('the table shows parked GPUs with their process, and marks GPUs beyond the limit of their account', async () => {
	const rows = rowsOf(await shown({}, [], await createMarkedBox()), 170);
	expect(rows[0]).toMatch(/ parked 3h: .*python/v);
	expect(rows[1]).toMatch(/bob .* beyond limit$/v);
	expect(rows[2]).toMatch(/alice .* goes back at \d\d:\d\d, beyond limit$/v);
	expect(rows[3]).not.toContain('beyond');
});

test.each([
	[0, /parked since 11:32 \(no load\)/v],
	[1, /beyond its limit of 1 GPU(?!,)/v],
	[2, /beyond its limit of 1 GPU, goes back at 14:42/v],
])('the detail shows that a GPU is parked or beyond the limit (row %i)', async (row, words) => {
	const steps = Array.from({length: row}, () => 'line-down' as const);
	const state = await shown({}, steps, await createMarkedBox());
	expect(textOf(state, <DetailPanel width={110} rows={12} />)).toMatch(words);
});

test('the message line says when the GPUs beyond the limit of the user go back to the pool', async () => {
	const state = await shown({}, [], await createMarkedBox());
	expect(textOf(state, <MessageLine />)).toMatch(
		/WARN GPU 2 goes back at 14:42: you hold more than your limit of 1 GPU$/v,
	);
});

test('the queue panel says when an idle reservation goes back to the pool', async () => {
	const state = await shown();
	const text = textOf(state, <QueuePanel width={150} rows={6} />);
	expect(text).toMatch(/alice on GPU 0, idle, goes back at 14:44 unless used, or until 18:32/v);
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
