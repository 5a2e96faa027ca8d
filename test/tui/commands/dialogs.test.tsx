/** The dialogs of commands, drawn without the rest of the screen. */
import {expect, test} from 'vitest';
import {OpenDialog} from '../../../source/tui/dialogs/open-dialog.js';
import {ask, choose, formOf, type AskingDialog} from '../../../source/tui/state/dialogs.js';
import {drawnDialog} from '../_drawn.js';
import type {State} from '../../../source/tui/state/state.js';
import {after, stateOf} from '../_harness.js';
import {createBox, lease, run, waiter} from '../_world.js';
import {rowsOf} from '../jobs/_jobs.js';

const two = {leaseId: 'two'};
const box = await createBox(4, {leases: {0: run('alice', two), 1: run('alice', two), 2: lease('bob')}});
const waits = [1, 2].map((id) => ({id, words: 'position 1 of 2'}));
const state: State = {...(await stateOf(box, {columns: 100, rows: 30})), waits};
const onSlurm = await stateOf(box, {columns: 100, rows: 30}, {engine: 'slurm'});

/** Returns the title of a dialog and the lines inside it, without borders and empty lines. */
function contentOf(dialog: AskingDialog, shown = state): readonly string[] {
	const [title = '', ...rest] = drawnDialog(<OpenDialog />, {state: after(shown, {kind: 'opened', dialog})}).split(
		'\n',
	);
	return [
		title.replaceAll(/[─╭╮]+/gv, ' ').trim(),
		...rest.map((line) => line.replaceAll(/^│|│$|╰─+╯/gv, '').trim()).filter((line) => line !== ''),
	];
}

const job = {index: 0, lease: run('alice', two)};
const manual = {index: 3, lease: lease('alice', {leaseId: 'other'})};
const remote = {host: 'box-\u{1B}[31m1', gpus: [2], leaseId: 'l', label: undefined};
const duration = {name: 'duration', kind: 'duration', label: 'Duration', hint: 'how long', preset: '1h'} as const;
const targets = [7, 8, 9, 10, 11, 12, 13].map((pid) => ({gpu: 1, process: {pid, startTicks: 1, name: `job ${pid}`}}));
const signalling = {targets, chosen: 6, isTogether: false, signal: 'SIGINT', leftOut: undefined} as const;
const jobs = rowsOf();

test.each<readonly [what: string, dialog: AskingDialog, expected: readonly string[]]>([
	[
		'release one GPU of a job',
		ask('release', {targets: [job], leftOut: []}),
		[
			'Release GPU 0',
			'alice, RUN, held 5m, ends with its job',
			'Of the same reservation you keep GPU 1',
			'Its job keeps running; others may get its GPU. No undo.',
			'Release GPU 0 now? y/N',
			'$ canhazgpu release --gpu-ids 0',
		],
	],
	[
		'release several GPUs',
		ask('release', {targets: [job, manual], leftOut: [{index: 2, reason: 'held by bob'}]}),
		[
			'Release GPUs 0,3',
			'GPU 0  alice, RUN, held 5m, ends with its job',
			'GPU 3  alice, MANUAL, held 5m, ends in 4h00m',
			'Left out: 2 held by bob',
			'The job on GPU 0 keeps running; others may get its GPU. No undo.',
			'Release GPUs 0,3 now? y/N',
			'$ canhazgpu release --gpu-ids 0,3',
		],
	],
	[
		'extend',
		formOf('extend', {targets: [manual], leftOut: []}, [duration]),
		[
			'Extend GPU 3',
			'alice, MANUAL, held 5m, ends in 4h00m',
			'> Duration  1h          how long',
			'$ canhazgpu extend --gpu-ids 3 --duration 1h',
		],
	],
	[
		'leave',
		ask('leave', {entry: waiter('alice', {requestedCount: 2})}),
		[
			'Leave the queue',
			'alice, for 2 GPUs, waiting for 3m',
			'Leave the queue? y/N',
			'$ canhazgpu queue --leave entry-alice',
		],
	],
	[
		'signal one of many processes',
		choose('signal', signalling),
		[
			'Signal a process on GPU 1   7 of 7',
			'8  job 8',
			'9  job 9',
			'10  job 10',
			'11  job 11',
			'12  job 12',
			'> 13  job 13',
			'Signal   TERM   [INT]   KILL',
			'Send SIGINT to process 13? y/N',
			'$ kill -INT 13',
		],
	],
	[
		'signal all processes',
		choose('signal', {...signalling, isTogether: true, leftOut: '9 of bob'}),
		[
			'Signal 7 processes on GPU 1',
			'> 7  job 7',
			'> 8  job 8',
			'> 9  job 9',
			'> 10  job 10',
			'> 11  job 11',
			'> 12  job 12',
			'and 1 more',
			'Left out: 9 of bob',
			'Signal   TERM   [INT]   KILL',
			'Send SIGINT to 7 processes? y/N',
			'$ kill -INT 7 8 9 10 11 12 13',
		],
	],
	[
		'signal a process on two GPUs',
		choose('signal', {
			...signalling,
			targets: [1, 2].map((gpu) => ({gpu, process: targets[0]!.process})),
			isTogether: true,
		}),
		[
			'Signal a process on GPUs 1,2',
			'> 7  job 7',
			'Signal   TERM   [INT]   KILL',
			'Send SIGINT to process 7? y/N',
			'$ kill -INT 7',
		],
	],
	[
		'adopt',
		ask('adopt', {process: {pid: 7, commandLine: 'tra\u{1B}[31min', memoryUsedMiB: 2048}, gpu: 3}),
		[
			'Adopt on GPU 3',
			'7  2.0G  train',
			'Reserve its GPUs for this process until it ends? y/N',
			'$ canhazgpu reserve --pid 7',
		],
	],
	[
		'quit',
		ask('quit', {}),
		[
			'Quit',
			'2 requests wait in the queue from this monitor',
			'Quitting leaves the queue. To keep waiting, use a shell:',
			'canhazgpu reserve',
			'Leave the queue and quit? y/N',
		],
	],
	[
		'cancel-job',
		ask('cancel-job', {jobs: jobs.slice(2, 4), leftOut: ['Job 2 has already ended']}),
		[
			'Cancel jobs 3, 4',
			'3 of bob running: ./sweep.sh --token ***',
			'4 running: python eval.py',
			'Left out: Job 2 has already ended',
			'A running command gets SIGTERM, and after 30 seconds SIGKILL.',
			'Cancel jobs 3, 4? y/N',
			'$ canhazgpu cancel 3 4',
		],
	],
	[
		'retry-job',
		ask('retry-job', {jobs: jobs.slice(1, 2), leftOut: []}),
		['Retry job 2', '2 failed: python train.py --lr 0.1', 'Start job 2 again? y/N', '$ canhazgpu retry 2'],
	],
	[
		'release-here',
		ask('release-here', {...remote, isJob: false, isOfCluster: false}),
		[
			'Release GPU 2 of box-1',
			'The host releases only this reservation, no later one.',
			'There is no undo on another host.',
			'Release GPU 2 of box-1 now? y/N',
			"$ canhazgpu release --on 'box-1' --gpu-ids 2 --lease l",
		],
	],
	[
		'release-here of a job',
		ask('release-here', {...remote, isJob: true, isOfCluster: false}),
		[
			'Release GPU 2 of box-1',
			'The host releases only this reservation, no later one.',
			'Its job keeps running; others may get its GPU. No undo.',
			'Release GPU 2 of box-1 now? y/N',
			"$ canhazgpu release --on 'box-1' --gpu-ids 2 --lease l",
		],
	],
	[
		'extend-here',
		formOf('extend-here', remote, [duration]),
		[
			'Extend GPU 2 of box-1',
			'> Duration  1h          how long',
			"$ canhazgpu extend --on 'box-1' --gpu-ids 2 --lease l --duration 1h",
		],
	],
	[
		'reserve-here',
		formOf('reserve-here', {host: 'box-1', gpus: undefined}, [duration]),
		[
			'Reserve GPUs on box-1',
			'That host decides, as if you had typed the command there.',
			'> Duration  1h          how long',
			'$ canhazgpu reserve --on box-1 --gpus 1 --duration 1h --nonblock',
		],
	],
])('the dialog of %s', (_, dialog, expected) => {
	expect(contentOf(dialog)).toEqual(expected);
});

test('the dialog of leave names the GPUs that are held for the request now', async () => {
	const entry = waiter('alice', {requestedCount: 3});
	const held = run('alice', {partialQueueId: entry.id});
	const later = await stateOf(await createBox(4, {leases: {0: held, 3: held}, waiting: [entry]}), state.size);
	const dialog = ask('leave', {entry});
	expect(contentOf(dialog, later)).toContain('The GPUs held for it will be released: GPUs 0,3.');
});

test('the dialog of release on Slurm warns that the whole job ends', () => {
	expect(contentOf(ask('release', {targets: [job], leftOut: []}), onSlurm)).toContain(
		'Slurm ends the whole job and everything that runs in it.',
	);
});
