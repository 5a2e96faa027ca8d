import {expect, test} from 'vitest';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {LinearScreen} from '../../../source/tui/screens/linear.js';
import {commandPrompt} from '../../../source/tui/state/command-line/state.js';
import {fieldOf} from '../../../source/tui/state/text-field.js';
import {drawn} from '../_drawn.js';
import {pressing, stateOf, type Step} from '../_harness.js';
import {createScene} from '../_world.js';

const box = await createScene();

const screen = async (rows: number, steps: readonly Step[] = []): Promise<string> =>
	drawn(<LinearScreen />, {state: await stateOf(box, {columns: 100, rows}, {isLinear: true}, steps), frame: 'plain'});

test('LinearScreen is a list of sentences about the selected GPU and those after it', async () => {
	expect(await screen(9, ['line-down'])).toMatchInlineSnapshot(`
		"canhazgpu on gpu-box-3, 8xH100, live
		2 free, 4 reserved, 1 used without a reservation, 1 with errors, 2 waiting
		Rows 2 to 4 of 8:
		Selected: GPU 1, Free, utilization about 0 percent, memory 0G of 80G
		GPU 2, Free, utilization about 0 percent, memory 0G of 80G
		GPU 3, Idle, bob, ends in 12m, utilization about 0 percent, memory 0G of 80G
		Keys: r Reserve  R These  x Release  e Extend  w Wait  Enter Detail  / Filter  : Command  ? Help  q Quit"
	`);
});

test('LinearScreen with a focused panel shows its content without borders', async () => {
	expect(await screen(17, ['focus-queue'])).toMatchInlineSnapshot(`
		"canhazgpu on gpu-box-3, 8xH100, live
		2 free, 4 reserved, 1 used without a reservation, 1 with errors, 2 waiting
		Row 1 of 8:
		Selected: GPU 0, Mine, alice, ends on-exit, utilization about 80 percent, memory 60G of 80G, vllm
		serve Llama-3-70B +1
		3:Queue
		>  1  erin   GPU 3      0/1     22m  ~12m      bob on GPU 3 until 14:44
		   2  frank  GPUs 4,5   0/2      3m  on-exit   carol on GPUs 4,5 until its job ends
		Keys: r Reserve  x Leave  w Wait  : Command  Esc Back  ? Help  q Quit"
	`);
});

test('LinearScreen shows a dialog in place of the sentences', async () => {
	expect(await screen(24, [pressing(release)])).toMatchInlineSnapshot(`
		"Release GPU 0:
		alice, RUN, held 1h12m, ends with its job
		Its job keeps running; others may get its GPU. No undo.
		Release GPU 0 now? y/N

		$ canhazgpu release --gpu-ids 0
		Keys: y Yes  any other key No  Ctrl-Y Copy command"
	`);
});

test('LinearScreen shows the : line with its candidates', async () => {
	const dialog = {...commandPrompt([]), field: fieldOf('re'), candidates: ['release', 'reserve']};
	expect((await screen(24, [{kind: 'opened', dialog}])).split('\n').slice(0, 2)).toEqual([' :re█', 'release  reserve']);
});

test('LinearScreen mentions a pause and a lost connection without their duration', async () => {
	const lost = {kind: 'store-lost', reason: 'Redis unreachable', nowMs: 4000, sinceMs: 4000} as const;
	expect((await screen(9, ['toggle-pause', lost])).split('\n', 1)[0]).toBe(
		'canhazgpu on gpu-box-3, 8xH100, STALE: the connection to the store is lost, PAUSED',
	);
});
