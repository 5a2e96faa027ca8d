import {expect, test} from 'vitest';
import {
	judgeClock,
	judgeKeeping,
	judgePolicy,
	judgeRecords,
	judgeScan,
	judgeStore,
	judgeVersions,
	type Finding,
} from '../../../../source/core/rules/pool/diagnosis.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';

const pool = {gpuCount: 2, provider: 'nvidia'} as const;
const gpus = [idleReading(0), idleReading(1)];
const problems = (findings: readonly Finding[]) => findings.filter(({level}) => level !== 'ok').map(({words}) => words);

test('doctor finds no problem on a healthy machine', () => {
	const findings = [
		...judgeStore({location: 'redis localhost:6379/0', shell: 'redis-cli'}, 0.4, {isDurable: true, evicts: false}),
		...judgeScan(observationOf(gpus), pool),
		judgeClock(1000, 1001, 5),
		...judgeVersions('1.0.0', 'Node 24.0.0', 'Redis 7.2.4'),
	];
	expect(problems(findings)).toEqual([]);
	expect(findings.every(({fix}) => fix === undefined)).toBe(true);
	expect(findings.map(({words}) => words)).toEqual([
		'redis localhost:6379/0 answers in 1 ms',
		'fake: 2 GPU(s)',
		'agrees with the clock of the store',
		'canhazgpu 1.0.0, Node 24.0.0, Redis 7.2.4',
	]);
});

test('doctor in an isolated job reports hidden GPUs as a warning', () => {
	const hidden = {
		...idleReading(1),
		uuid: undefined,
		failure: 'this process cannot open the device of this GPU',
		processes: undefined,
	};
	expect(judgeScan(observationOf([idleReading(0), hidden], {isPartial: true}), pool).slice(1)).toEqual([
		{
			check: 'gpus',
			level: 'warning',
			words: 'GPU 1 cannot be read from here: an isolated job can open only its own GPUs',
			fix: 'Outside the job, canhazgpu doctor sees all of them.',
		},
	]);
});

test('doctor reports every problem with a way to fix it', () => {
	const broken = [
		{
			...idleReading(0),
			failure: 'GPU is lost',
			health: [{kind: 'fell-off-the-bus', words: 'Fell off the bus: GPU is lost'} as const],
			processes: undefined,
		},
		{...idleReading(1), health: [{kind: 'xid', words: 'Xid 79'} as const], processes: [{pid: 5}]},
		{...idleReading(2), processes: undefined},
		{...idleReading(3), memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[Insufficient Permissions]'}},
	];
	const findings = [
		...judgeStore({location: 'redis', shell: 'redis-cli'}, 300, {
			isDurable: false,
			evicts: true,
			isPasswordUnneeded: true,
			damage: 'row 3 missing',
		}),
		...judgeScan(observationOf(broken, {warnings: ['infoROM is corrupted']}), pool),
		judgeClock(1000, 1100, 5),
		...judgeVersions('1.0.0', 'Node 24.0.0', 'Redis 4.0.9'),
	];
	expect(problems(findings)).toEqual([
		'redis answers in 300 ms',
		'appendonly is off: a crash of Redis would lose the newest reservations',
		'When its memory is full, Redis deletes keys, including reservations',
		'Redis does not require the configured password',
		'The database is damaged: row 3 missing',
		'infoROM is corrupted',
		'The pool has 2 GPU(s), but this machine has 4',
		'GPU 0: Fell off the bus: GPU is lost',
		'GPU 1: Xid 79',
		'GPU 3: memory in use is unknown: [Insufficient Permissions]',
		'The processes on GPU 2 cannot be seen',
		'1 process(es) have an unknown owner',
		'The clocks of this machine and of the store differ by 100 s',
		'Redis 4.0.9 keeps no audit log: canhazgpu events shows nothing',
	]);
});

test('doctor names invalid records of GPUs and of the queue, and how to remove them', () => {
	const snapshot = snapshotWith({
		gpus: [{kind: 'garbage', index: 0, raw: '!', problem: 'it is not JSON'}],
		queue: [{kind: 'garbage', id: 'entry-1', raw: undefined, problem: 'it is a hash, not a string'}],
	});
	expect(judgeRecords(snapshot, {kind: 'redis', shell: 'redis-cli'}).map(({words, fix}) => [words, fix])).toEqual([
		['The record of GPU 0 is invalid: it is not JSON', expect.stringContaining('redis-cli')],
		[
			'The queue entry entry-1 is invalid, so it gets no GPUs: it is a hash, not a string',
			'Remove it: sudo canhazgpu queue --leave entry-1',
		],
	]);
});

test('doctor does not warn about facts that it could not determine', () => {
	expect(problems(judgeStore({location: 'redis', shell: 'redis-cli'}, 1, {}))).toEqual([]);
	expect(problems(judgeVersions('1', 'Node 24', undefined))).toEqual([]);
	expect(problems(judgeScan(observationOf(gpus), undefined))).toEqual([]);
});

test('doctor reports only the failure if the GPU scan failed', () => {
	const failure = {message: 'nvidia-smi was not found.', hint: 'Is it in PATH?'};
	expect(judgeScan(observationOf([], {failure}), pool)).toEqual([
		{check: 'provider', level: 'error', words: failure.message, fix: failure.hint},
	]);
});

test.each([
	['0,1', []],
	['1,2,3', ['The policy allows sharing of GPUs that the pool does not have: 2, 3']],
	['all', []],
])('doctor checks that the pool has the GPUs of share.gpus=%s', (value, expected) => {
	const policy = new Map([['share.gpus', {value, since: 1}]]);
	const records = [0, 1].map((index) => ({kind: 'free', index, raw: undefined}) as const);
	expect(problems(judgePolicy(snapshotWith({policy, gpus: records}), 'redis-cli'))).toEqual(expected);
});

test('doctor warns if the scans of the program that returns idle GPUs fail', () => {
	const snapshot = snapshotWith({policy: new Map([['idle.after', {value: '1h', since: 0}]])});
	const judge = (failure?: {readonly message: string}, ageSeconds = 5) =>
		problems(judgeKeeping(snapshot, {ageSeconds, scan: {failure}}));
	expect(judge()).toEqual([]);
	expect(judge({message: 'nvidia-smi failed'})).toEqual([
		'idle.after is set, but the program that watches the GPUs cannot read them, so idle GPUs do not go back: nvidia-smi failed',
	]);
	expect(judge({message: 'nvidia-smi failed'}, 1000)).toEqual([expect.stringContaining('no monitor, dashboard')]);
});
