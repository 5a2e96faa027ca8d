import {expect, test} from 'vitest';
import {JobsPanel} from '../../../../source/tui/panels/jobs/jobs-panel.js';
import {drawn} from '../../_drawn.js';
import {stateOf, type Step} from '../../_harness.js';
import {createBox} from '../../_world.js';
import {rowsOf} from '../../jobs/_jobs.js';

const box = await createBox(1);
const arrived = {kind: 'jobs-arrived', jobs: {rows: rowsOf()}} as const;

const panel = async (columns: number, steps: readonly Step[], drawing = {}): Promise<string> =>
	drawn(<JobsPanel width={columns} rows={7} />, {
		state: await stateOf(box, {columns, rows: 30}, {}, ['focus-jobs', ...steps]),
		...drawing,
	});

test('JobsPanel shows the state, the user, the time and the command of each job', async () => {
	expect(await panel(100, [arrived, 'line-down'])).toMatchInlineSnapshot(`
		"╭─ 8:Jobs  sort STATE^ ────────────────────────────────────────────────────────────────────────────╮
		│  ID       STATE      USER       GPUS    TIME  COMMAND                       DETAILS              │
		│  3        running    bob           2     12m  ./sweep.sh --token ***        GPUs 0,1             │
		│> 4        running    alice         1      1m  python eval.py                GPU 3                │
		│  5        queued     alice         4   2h46m  python large.py               waits for 4 GPUs     │
		│  6        pending    alice         1   2h46m  python report.py              waits for job 5      │
		│  2        failed     alice         1   1h46m  python train.py --lr 0.1      exit code 1, out of… │
		│  1        completed  alice         1     16m  python prepare.py             -                    │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('JobsPanel in 60 columns shortens commands and details', async () => {
	expect(await panel(60, [arrived], {frame: 'ruled'})).toMatchInlineSnapshot(`
		"── 8:Jobs  sort STATE^ ─────────────────────────────────────
		  ID      STATE      USER    TIME  COMMAND      DETAILS
		> 3       running    bob      12m  ./sweep.sh…  GPUs 0,1
		  4       running    ali…      1m  python eva…  GPU 3
		  5       queued     ali…   2h46m  python lar…  waits for 4…
		  6       pending    ali…   2h46m  python rep…  waits for j…
		  2       failed     ali…   1h46m  python tra…  exit code 1…
		  1       completed  ali…     16m  python pre…  -"
	`);
});

test.each([
	['before the first read', [], 'reading the jobs'],
	[
		'without jobs',
		[{kind: 'jobs-arrived', jobs: {rows: []}}],
		'no job is waiting or running, and none ended in the last day',
	],
	[
		'that cannot be read',
		[{kind: 'jobs-arrived', jobs: {rows: [], problem: 'the store is away'}}],
		'The jobs cannot be read: the store is away',
	],
	[
		'that the filter hides',
		[arrived, 'open-filter', {kind: 'typed', text: 'none'}],
		'No job matches; Esc clears the filter',
	],
] as const)('JobsPanel %s', async (_, steps, expected) => {
	expect((await panel(100, steps)).split('\n', 3)[2]).toContain(`│  ${expected}`);
});
