import {expect, test} from 'vitest';
import {QueuePanel} from '../../../../source/tui/panels/queue/queue-panel.js';
import {drawn} from '../../_drawn.js';
import {stateOf, type Step} from '../../_harness.js';
import {createBox, createScene, waiter} from '../../_world.js';

const scene = await createScene();

const panel = async (columns: number, box = scene, steps: readonly Step[] = []): Promise<string> =>
	drawn(<QueuePanel width={columns} rows={5} />, {state: await stateOf(box, {columns: 120, rows: 30}, {}, steps)});

test('QueuePanel shows who waits for what, and what each entry waits for', async () => {
	expect(await panel(100)).toMatchInlineSnapshot(`
		"╭─ 3:Queue ────────────────────────────────────────────────────────────────────────────────────────╮
		│   #  USER   WANT       GOT  WAITED  ESTIMATE  BLOCKED BY                                         │
		│   1  erin   GPU 3      0/1     22m  ~12m      bob on GPU 3 until 14:44                           │
		│   2  frank  GPUs 4,5   0/2      3m  on-exit   carol on GPUs 4,5 until its job ends               │
		│                                                                                                  │
		│                                                                                                  │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('QueuePanel without room for a column explains the waiting below its rows', async () => {
	expect(await panel(45, scene, ['focus-queue'])).toMatchInlineSnapshot(`
		"╭─ 3:Queue ─────────────────────────────────╮
		│   # USER    WANT      GOT WAITED ESTIMATE │
		│>  1 erin    GPU 3     0/1    22m ~12m     │
		│   2 frank   GPUs 4,5  0/2     3m on-exit  │
		│  #1 waits for bob on GPU 3 until 14:44    │
		│  #2 waits for carol on GPUs 4,5 until its │
		╰───────────────────────────────────────────╯"
	`);
});

test('QueuePanel shows the requirements and the note of an entry', async () => {
	const need = {models: ['h1\u{1B}[31m00'], minMemoryMiB: 40_960, nvlink: true};
	const box = await createBox(2, {
		waiting: [waiter('erin', {requestedCount: 2, need, note: 'sweep'}), waiter('alice', {requestedIds: [0, 1]})],
	});
	expect(await panel(120, box)).toMatchInlineSnapshot(`
		"╭─ 3:Queue ────────────────────────────────────────────────────────────────────────────────────────────────────────────╮
		│   #  USER   WANT                       GOT  WAITED  ESTIMATE  NOTE   BLOCKED BY                                      │
		│   1  erin   2 GPUs h100 42.9G+ NVLi…   0/2      3m  on-exit   sweep                                                  │
		│   2  alice  GPUs 0,1                   0/2      3m  on-exit          #1 erin                                         │
		│                                                                                                                      │
		│                                                                                                                      │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('QueuePanel shows what is wrong with a damaged entry, which can be selected', async () => {
	const state = await stateOf(await createBox(1), {columns: 120, rows: 30}, {}, ['focus-queue']);
	const damaged = {kind: 'garbage', id: 'entry-1', raw: '{', problem: 'not\u{1B}[31m an entry, '.repeat(9)} as const;
	const shown = {...state, snapshot: {...state.snapshot!, queue: [damaged]}};
	const lines = drawn(<QueuePanel width={60} rows={2} />, {state: shown}).split('\n');
	expect(lines[2]).toBe('│>  1 not an entry, not an entry, not an entry, not an en… │');
});

test('QueuePanel without entries says that the queue is empty', async () => {
	expect((await panel(30, await createBox(1))).split('\n', 2)[1]).toBe('│  the queue is empty        │');
});
