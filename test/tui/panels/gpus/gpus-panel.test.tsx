import {expect, test} from 'vitest';
import {GpusPanel} from '../../../../source/tui/panels/gpus/gpus-panel.js';
import {tables} from '../../../../source/tui/state/table/tables.js';
import {drawn} from '../../_drawn.js';
import {stateOf, type Step} from '../../_harness.js';
import {createScene} from '../../_world.js';
import {createLarge} from '../../view/_large.js';

const box = await createScene();

const panel = async (columns: number, steps: readonly Step[] = [], drawing = {}): Promise<string> => {
	const state = await stateOf(box, {columns, rows: 30}, {}, steps);
	return drawn(<GpusPanel width={columns} rows={9} />, {state, ...drawing});
};

test('GpusPanel at 100 columns shows bars, and the marks of selected and tagged rows', async () => {
	expect(await panel(100, ['line-down', 'toggle-tag'])).toMatchInlineSnapshot(`
		"╭─ 1:GPUs  sort GPU^  tagged 1 ────────────────────────────────────────────────────────────────────╮
		│  GPU STATE      OWNER       HELD ENDS    UTIL          MEM/80G       TEMP  PROCESS               │
		│  0   Mine       alice      1h12m on-exit ━━━━━━╸─  84% ━━━━━━──  60G  75C  vllm serve Llama-3-7… │
		│ *1   Free       -              - -       ────────   0% ────────   0G  31C  -                     │
		│> 2   Free       -              - -       ────────   0% ────────   0G  32C  -                     │
		│  3   Idle       bob        6h40m !12m    ────────   0% ────────   0G  33C  -                     │
		│  4   Reserved  ╭carol        31m on-exit ━━━━━━━╸  97% ━━━━━━━╸  74G  80C! python train.py --co… │
		│  5   Reserved  ╰carol        31m on-exit ━━━━━━━╸  95% ━━━━━━━╸  74G  80C! python train.py --co… │
		│  6   Unreserved dave?          - -       ━━━╸────  41% ━━──────  19G  57C  jupyter-lab           │
		│  7   Error      -              - -       N/A           N/A               - GPU is lost           │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('GpusPanel at 60 columns shows loads as numbers, without bars', async () => {
	expect(await panel(60, [], {frame: 'ruled'})).toMatchInlineSnapshot(`
		"── 1:GPUs  sort GPU^ ───────────────────────────────────────
		  GPU STATE      OWNER           ENDS    UTIL      MEM TEMP
		> 0   Mine       alice           on-exit  84%   60/80G  75C
		  1   Free       -               -         0%    0/80G  31C
		  2   Free       -               -         0%    0/80G  32C
		  3   Idle       bob             !12m      0%    0/80G  33C
		  4   Reserved  ╭carol           on-exit  97%   74/80G  80C!
		  5   Reserved  ╰carol           on-exit  95%   74/80G  80C!
		  6   Unreserved dave?           -        41%   19/80G  57C
		  7   Error      -               -        N/A      N/A     -"
	`);
});

test('GpusPanel with one row for each reservation names them "rows"', async () => {
	expect(await panel(100, ['toggle-fold'])).toMatchInlineSnapshot(`
		"╭─ 1:GPUs  sort GPU^  by reservation g ────────────────────────────────────────────────────────────╮
		│  GPU     STATE      OWNER      ENDS    UTIL          MEM/80G       TEMP  PROCESS                 │
		│> 0       Mine       alice      on-exit ━━━━━━╸─  84% ━━━━━━──  60G  75C  vllm serve Llama-3-70B… │
		│  1       Free       -          -       ────────   0% ────────   0G  31C  -                       │
		│  2       Free       -          -       ────────   0% ────────   0G  32C  -                       │
		│  3       Idle       bob        !12m    ────────   0% ────────   0G  33C  -                       │
		│  4,5 (2) Reserved   carol      on-exit ━━━━━━━╸  96% ━━━━━━━╸  74G  80C! python train.py --conf… │
		│  6       Unreserved dave?      -       ━━━╸────  41% ━━──────  19G  57C  jupyter-lab             │
		│  7       Error      -          -       N/A           N/A               - GPU is lost             │
		│                                                                                                  │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('GpusPanel shows which filter hides all GPUs', async () => {
	const filtered = await panel(100, ['open-filter', {kind: 'typed', text: 'nobody'}, 'keep-filter']);
	expect(filtered.split('\n').slice(0, 3)).toEqual([
		'╭─ 1:GPUs  sort GPU^  filter nobody ───────────────────────────────────────────────────────────────╮',
		expect.stringMatching(/^│ {2}GPU STATE .*│$/v),
		expect.stringMatching(/^│ {2}No GPU matches; Esc clears the filter +│$/v),
	]);
});

test.each([60, 80])('the title of GpusPanel at %i columns shows how many GPUs are tagged', async (columns) => {
	const large = await stateOf(await createLarge(), {columns, rows: 15}, {}, [
		'sort-next',
		...Array.from({length: 4}, (): Step => 'toggle-tag'),
	]);
	const tagged = tables.gpus.tagged(large).length;
	const [title] = drawn(<GpusPanel width={columns} rows={9} />, {state: large, frame: 'ruled'}).split('\n', 1);
	expect(title).toMatch(new RegExp(String.raw`sort STATE\^ {1,2}tagged ${tagged} {2}by`, 'v'));
});
