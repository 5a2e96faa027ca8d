import {Box} from 'ink';
import {expect, test} from 'vitest';
import {Holding, HoldingWords, Note, Share} from '../../../../source/tui/panels/detail/holding.js';
import {drawn} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, gpuReading, lease, run, sceneTime} from '../../_world.js';
import {heldRow, shareRow, statusRow} from '../_rows.js';

const box = await createBox(1);
const size = {columns: 120, rows: 30};
const state = await stateOf(box, size);
const linear = await stateOf(box, size, {isLinear: true});

const process = {pid: 7, user: 'dave', name: 'python3'};
const used = {kind: 'used', memoryUsedMiB: 500} as const;
const job = heldRow(run('bob'), {heartbeatAgeSeconds: 4});
const shared = statusRow({
	state: 'in-use',
	capacityMiB: 81_920,
	shares: [
		shareRow(lease('alice', {memoryMiB: 8192})),
		shareRow(lease('bob', {memoryMiB: 8192}), {memoryUsedMiB: 16_384}),
	],
});

test.each([
	['a free GPU', statusRow({freeSeconds: 125}), 'Free  for 2m'],
	['a GPU that was never used', statusRow(), 'Free  never used'],
	['a free GPU of a cluster', statusRow({reading: gpuReading(0, {place: {node: 'n', gpu: 1}})}), 'Free'],
	['a reservation', heldRow(lease('bob')), 'bob  MANUAL  ends in 4h00m at 18:32'],
	['a reservation without an end', heldRow({...lease('bob'), expiryTime: undefined}), 'bob  MANUAL  never ends'],
	['a job', job, 'bob  RUN  ends when 81234 exits  heartbeat 4s'],
	[
		'a job with a time limit',
		{...job, remainingSeconds: 720},
		'bob  RUN  ends in 12m at 14:44, or when 81234 exits  heartbeat 4s',
	],
	['a job of an unknown process', heldRow(run('bob', {job: undefined})), 'bob  RUN  ends when its job exits'],
	[
		'a suspended job',
		heldRow(run('bob', {isSuspended: true})),
		'bob  RUN  suspended: its job is stopped, but keeps its GPUs',
	],
	[
		'a GPU held for the queue',
		heldRow(run('bob', {partialQueueId: 'q'})),
		'bob  RUN  held for its position in the queue until the rest is free',
	],
	[
		'a reserved GPU that is lost',
		{...job, use: {kind: 'failed', why: 'lost'}, problem: 'lo\u{1B}[31mst'},
		'bob  RUN  lost  ends when 81234 exits  heartbeat 4s',
	],
	['a shared GPU', shared, '2 shared  16/80G'],
	[
		'an unreserved GPU',
		statusRow({state: 'unreserved', use: used, unreservedUsers: ['dave'], processes: [process]}),
		'dave?  uses it without a reservation',
	],
	[
		'a GPU that an ended job left in use',
		statusRow({
			state: 'unreserved',
			use: used,
			unreservedUsers: ['dave'],
			processes: [process],
			left: {account: 'dave', leaseId: 'l', endedAt: sceneTime, processes: [process]},
		}),
		"dave?  left by dave's job, ended 14:32",
	],
	[
		'a GPU that is not clean',
		statusRow({state: 'unreserved', use: {...used, isDirty: true}}),
		'Unreserved  not clean yet: 500MB are in use, but no process is listed: canhazgpu who 0',
	],
	['a broken GPU', statusRow({state: 'error', problem: 'GPU is lost'}), 'Error  GPU is lost'],
] as const)('Holding of %s', (_, row, expected) => {
	expect(drawn(<Holding row={row} />, {state})).toBe(expected);
});

test('Holding of a job does not show the age of its heartbeat to a screen reader', () => {
	expect(drawn(<Holding row={job} />, {state: linear})).toBe('bob  RUN  ends when 81234 exits');
});

test('HoldingWords on a small screen shows how long a GPU has been held, and all of its shares', () => {
	const words = (row: typeof job) =>
		drawn(
			<Box gap={2}>
				<HoldingWords row={row} />
			</Box>,
			{state, frame: 'ruled'},
		);
	expect(words(heldRow(lease('bob')))).toBe('bob  MANUAL  held 5m  ends in 4h00m at 18:32');
	expect(words(shared)).toBe('2 shared  16/80G bob 16/8G!, alice 8G');
});

const somebody = {user: 'a-very-long-name-of-somebody', actualUser: 'root'};

test.each([
	['a job', 60, heldRow(run('root'), {remainingSeconds: 1140}), /^root {2}RUN {2}held 5m {1,2}ends in 19m at 14:51/v],
	[
		'a long name',
		60,
		heldRow(lease('', somebody)),
		/^root \(a-very-long-name-of… {1,2}MANUAL {2}held 5m {2}ends in 4h00m/v,
	],
	['a long name', 80, heldRow(lease('', somebody)), /MANUAL {2}held 5m {2}ends in 4h00m at 18:32$/v],
] as const)('Holding of %s at %i columns shows its kind and how long it has been held', (_, columns, row, expected) => {
	expect(drawn(<Holding row={row} />, {state, columns, frame: 'ruled'})).toMatch(expected);
});

test.each([
	['with a note', {note: 'eval \u{1B}[31m70B'}, 'note eval 70B'],
	['with a note and its interface', {note: 'eval', via: 'mcp'}, 'note eval (via mcp)'],
	['without a note', {}, ''],
])('Note draws the note line of a reservation %s', (_, more, expected) => {
	expect(drawn(<Note lease={lease('bob', more)} />)).toBe(expected);
});

test.each([
	['of memory', shareRow(lease('bob', {memoryMiB: 8192})), 'bob 8G  MANUAL  ends in 4h00m at 18:32'],
	[
		'that uses too much memory',
		shareRow(lease('bob', {memoryMiB: 8192}), {memoryUsedMiB: 16_384, overSeconds: 720}),
		'bob 16/8G! for 12m  MANUAL  ends in 4h00m at 18:32',
	],
	[
		'that is a MIG instance with a note',
		shareRow(run('carol', {note: 'eval', mig: {uuid: 'M', number: 1, profile: '1g.10gb'}})),
		'carol 3:1 1g.10gb  RUN  ends when 81234 exits  note eval',
	],
])('Share %s', (_, share, expected) => {
	expect(drawn(<Share share={share} index={3} />, {state})).toBe(expected);
});
