import {expect, test} from 'vitest';
import {ProcessesPanel} from '../../../../source/tui/panels/processes/processes-panel.js';
import {drawn} from '../../_drawn.js';
import {stateOf, type Step} from '../../_harness.js';
import type {Drawing} from '../../../../source/tui/themes/drawing-context.js';
import {createBox, gpuReading, type Box} from '../../_world.js';
import {createCrowd} from '../../processes/_crowd.js';

const crowd = await createCrowd();

const panel = async (
	columns: number,
	steps: readonly Step[] = [],
	{box = crowd, ...drawing}: Partial<Drawing> & {box?: Box} = {},
): Promise<string> =>
	drawn(<ProcessesPanel width={columns} rows={9} />, {
		state: await stateOf(box, {columns, rows: 30}, {}, ['focus-processes', ...steps]),
		...drawing,
	});

test('ProcessesPanel shows processes with their use and the right of their users', async () => {
	expect(await panel(120)).toMatchInlineSnapshot(`
		"╭─ 6:Processes  sort MEMv ─────────────────────────────────────────────────────────────────────────────────────────────╮
		│  GPU  PID      USER        RIGHT        %SM    MEM    CPU   HOST    TIME  CONTAINER     COMMAND                      │
		│> 0    81234    alice       holder        84    60G   312%    23G   1h12m  -             vllm serve Llama-3-70B --te… │
		│  1    90001    carol       holder        60    29G    98%   4.9G     13m  4f5e6d7c8b9a  python train.py --config bi… │
		│  2    70001    dave        unreserved    41    19G     5%   0.7G      8m  -             jupyter-lab --no-browser     │
		│  1    90100    dave        not holder    30   5.9G    12%      -      1m  -             miner --pool x               │
		│  0    81377    alice       holder         0   0.4G     3%   0.9G   1h11m  -             ray::Worker                  │
		│  3    70500    erin        small use      -   0.4G      -      -       -  -             python -c "import torch"     │
		│  1    90200    ?           unknown        -   0.3G      -      -       -  -             PID 90200                    │
		│  2    3001     root        desktop        -     0G      -      -  10d10h  -             Xorg                         │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('ProcessesPanel in 60 columns leaves out the CPU, the host memory, the time and the container', async () => {
	expect(await panel(60, [], {frame: 'ruled'})).toMatchInlineSnapshot(`
		"── 6:Processes  sort MEMv ──────────────────────────────────
		  GPU PID     USER     RIGHT       %SM   MEM COMMAND
		> 0   81234   alice    holder       84   60G vllm serve Lla…
		  1   90001   carol    holder       60   29G python train.p…
		  2   70001   dave     unreserved   41   19G jupyter-lab --…
		  1   90100   dave     not holder   30  5.9G miner --pool x
		  0   81377   alice    holder        0  0.4G ray::Worker
		  3   70500   erin     small use     -  0.4G python -c "imp…
		  1   90200   ?        unknown       -  0.3G PID 90200
		  2   3001    root     desktop       -    0G Xorg"
	`);
});

test('ProcessesPanel as a tree has each process below its parent', async () => {
	expect(await panel(100, ['toggle-tree'])).toMatchInlineSnapshot(`
		"╭─ 6:Processes  sort MEMv ─────────────────────────────────────────────────────────────────────────╮
		│  GPU PID     USER     RIGHT       %SM   MEM   CPU  HOST   TIME CONTAINER    COMMAND              │
		│> 0   81234   alice    holder       84   60G  312%   23G  1h12m -            vllm serve Llama-3-… │
		│  0   81377   alice    holder        0  0.4G    3%  0.9G  1h11m -            └─ ray::Worker       │
		│  1   90001   carol    holder       60   29G   98%  4.9G    13m 4f5e6d7c8b9a python train.py --c… │
		│  2   70001   dave     unreserved   41   19G    5%  0.7G     8m -            jupyter-lab --no-br… │
		│  1   90100   dave     not holder   30  5.9G   12%     -     1m -            miner --pool x       │
		│  3   70500   erin     small use     -  0.4G     -     -      - -            python -c "import t… │
		│  1   90200   ?        unknown       -  0.3G     -     -      - -            PID 90200            │
		│  2   3001    root     desktop       -    0G     -     - 10d10h -            Xorg                 │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

const onNode = gpuReading(0, {place: {node: 'box1', gpu: 0}, processes: undefined});

test.each([
	['without processes', await createBox(1), [], 'no GPU has a visible process'],
	['of a cluster', await createBox(1, {readings: [onNode]}), [], 'processes on the nodes cannot be read from here'],
	[
		'that the filter hides',
		crowd,
		['open-filter', {kind: 'typed', text: 'none'}],
		'No process matches; Esc clears the filter',
	],
] as const)('ProcessesPanel %s', async (_, box, steps, expected) => {
	expect((await panel(100, steps, {box})).split('\n', 3)[2]).toContain(`│  ${expected}`);
});
