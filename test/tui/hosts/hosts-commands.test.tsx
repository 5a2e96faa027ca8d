/** Keys in the table of all hosts: their effect on this host, and their requests to others. */
import {afterEach, expect, test, vi} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import type {HostAnswer, CommandLine, HostsPort, SeenHost} from '../../../source/tui/ports.js';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createBox, lease} from '../_world.js';
import {answered, held, remoteRow} from './_hosts.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const rows = [
	remoteRow(0),
	held(1, 'alice'),
	held(2, 'alice'),
	held(3, 'bob'),
	held(4, 'eval', {actual_user: 'alice', lease_id: 'other', type: 'RUN'}),
];

const commandLine: CommandLine = {
	run: async () => expect.unreachable(),
	inShell: (line) => line,
	complete: async () => ({start: 0, candidates: []}),
};

const done: HostAnswer = {exitCode: 0, stdout: '', stderr: ''};

/** A monitor with one other host, which records its requests. */
async function open(answer: HostAnswer | CanhazgpuError = done) {
	let known: readonly SeenHost[] = [answered('far', rows, 0)];
	let now: SeenHost = known[0]!;
	let show: ((hosts: readonly SeenHost[]) => void) | undefined;
	const run = vi.fn<HostsPort['run']>(async () => {
		if (answer instanceof CanhazgpuError) {
			throw answer;
		}

		return answer;
	});
	const openMonitor = vi.fn<HostsPort['openMonitor']>(async () => 0);
	const hosts: HostsPort = {
		watch(listener) {
			show = listener;
			listener(known);
			return () => {
				show = undefined;
			};
		},
		ask: async () => ('status' in now.answer ? now.answer.status : expect.unreachable()),
		run,
		openMonitor,
	};
	const box = await createBox(2, {leases: {1: lease('alice')}});
	session = startMonitor(box, {ports: {hosts, commandLine}, otherHosts: ['far'], size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Free/v);
	expect(show).toBeUndefined();
	await session.press('H');
	await session.shows('far');
	return {
		...session,
		box,
		run,
		openMonitor,
		isWatched: () => show !== undefined,
		/** Makes the host return other values from now on. The monitor has not seen them yet. */
		becomes(changed: ReadonlyArray<Readonly<Record<string, unknown>>>) {
			now = answered('far', changed, 0);
		},
		shown(changed: ReadonlyArray<Readonly<Record<string, unknown>>>) {
			known = [answered('far', changed, 0)];
			show!(known);
		},
	};
}

/** Keys from the first GPU to a GPU of the other host. Another GPU of this host and the subtotals of the other host are between them. */
const toFar = (gpu: number): readonly string[] => Array.from({length: 3 + gpu}, () => keys.down);

test('top asks other hosts only while the table of all hosts is shown', async () => {
	const {press, isWatched} = await open();
	expect(isWatched()).toBe(true);
	await press(keys.escape);
	await expect.poll(isWatched).toBe(false);
	await press(':', 'host all', keys.enter);
	await expect.poll(isWatched).toBe(true);
});

test('the key r on a row of another host reserves on that host with the command shown in the dialog', async () => {
	const {press, shows, run, box} = await open({exitCode: 0, stdout: 'Welcome!\n0,5\n', stderr: ''});
	await press(...toFar(0), 'r');
	await shows('Reserve GPUs on far');
	await press('2', keys.tab, '4h', keys.tab, 'tonight');
	await shows('$ canhazgpu reserve --on far --gpus 2 --duration 4h --note tonight');
	await press(keys.enter);
	await shows('reserved GPUs 0,5 of far for 4h 0m 0s');
	expect(run.mock.calls).toEqual([
		[
			'far',
			['reserve', '--gpus', '2', '--duration', '4h', '--note', 'tonight', '--nonblock', '--short'],
			{isUnbounded: false},
		],
	]);
	const {gpus} = await box.store.read();
	expect(gpus.filter(({kind}) => kind === 'leased')).toHaveLength(1);
});

test('the key r shows the refusal of another host unchanged, and the key w waits on that host', async () => {
	const refusal = 'Error: Not enough GPUs available. Requested: 1, Available: 0\nWait in the queue.\n';
	const {press, shows, run, leaveAll} = await open({exitCode: 3, stdout: '', stderr: refusal});
	await press(...toFar(0), 'r', keys.enter);
	await shows('far: Not enough GPUs available. Requested: 1, Available: 0');
	let left = false;
	run.mockImplementation(
		async (_host, _words, {signal}) =>
			new Promise((resolve) => {
				signal!.addEventListener('abort', () => {
					left = true;
					resolve({exitCode: 143, stdout: '', stderr: 'Left the queue\n'});
				});
			}),
	);
	await press('w');
	await shows('waiting on far for 1 GPU');
	expect(run.mock.lastCall).toEqual([
		'far',
		['reserve', '--gpus', '1', '--duration', '8h', '--short'],
		{isUnbounded: true, signal: expect.any(AbortSignal) as AbortSignal},
	]);
	await leaveAll();
	expect(left).toBe(true);
});

test('the key r with a share reserves the share on another host', async () => {
	const {press, shows, run} = await open({exitCode: 0, stdout: '3\n', stderr: ''});
	await press(...toFar(0), 'r', keys.tab, keys.tab, keys.tab, 'a100', keys.tab, '8G');
	await shows('$ canhazgpu reserve --on far --gpus 1 --model a100 --share 8G --duration 8h');
	await press(keys.enter);
	await shows('reserved a share of 8G of GPU 3 of far for 8h 0m 0s');
	expect(run.mock.lastCall![1]).toEqual([
		'reserve',
		'--gpus',
		'1',
		'--model',
		'a100',
		'--share',
		'8G',
		'--duration',
		'8h',
		'--nonblock',
		'--short',
	]);
});

test.each([
	['the Go canhazgpu', 'Error: unknown flag: --share\nUsage:\n  canhazgpu reserve [flags]\n', 1],
	['an older version', 'Error: reserve has no flag --share\nDid you mean --short?\n', 2],
])('the key r with a share explains that a host with %s cannot share GPUs', async (_, stderr, exitCode) => {
	const {press, shows} = await open({exitCode, stdout: '', stderr});
	await press(...toFar(0), 'R', keys.tab, keys.tab, '8G');
	await shows('--share 8G');
	await press(keys.enter);
	await shows('far: its canhazgpu cannot share GPUs');
	await shows('It is an older version, or the Go program. Leave Share empty for whole GPUs.');
});

test('the key r names a requirement that the program on the other host does not support', async () => {
	const {press, shows} = await open({exitCode: 1, stdout: '', stderr: 'Error: unknown flag: --min-memory\n'});
	await press(...toFar(0), 'r', keys.tab, keys.tab, keys.tab, '40G', keys.enter);
	await shows('far: its canhazgpu does not support --min-memory');
	await shows('Leave that out of Needs.');
});

test('the key r shows the error of a failed connection to another host', async () => {
	const {press, shows} = await open(
		new CanhazgpuError('failed', 'far: no answer within 30 s', {hint: 'It may have been done.'}),
	);
	await press(...toFar(0), 'r', keys.enter);
	await shows('far: no answer within 30 s');
	await shows('It may have been done.');
});

test('the key x on a row of another host releases only the shown reservation, not a later one', async () => {
	const {press, shows, run} = await open();
	await press(...toFar(1), 'x');
	await shows('Release GPU 1 of far now?');
	await shows('$ canhazgpu release --on far --gpu-ids 1 --lease lease-alice');
	run.mockResolvedValueOnce({
		exitCode: 1,
		stdout: '',
		stderr: 'Error: That reservation has already ended\nNothing.\n',
	});
	await press('y');
	await shows('far: That reservation has already ended');
	await press('x', 'y');
	await shows('released GPU 1 of far');
	const call = ['far', ['release', '--gpu-ids', '1', '--lease', 'lease-alice'], {isUnbounded: false}];
	expect(run.mock.calls).toEqual([call, call]);
});

test.each([
	['this program', {exitCode: 2, stdout: '', stderr: 'Error: release has no flag --lease\nSee its flags.\n'}],
	['the Go canhazgpu', {exitCode: 1, stdout: '', stderr: 'Error: unknown flag: --lease\n'}],
])('the key x first compares the status of a host on which %s cannot check lease ids', async (_, refusal) => {
	const {press, shows, run, becomes} = await open();
	becomes(rows.with(1, held(1, 'alice', {lease_id: 'later'})));
	run.mockResolvedValueOnce(refusal);
	await press(...toFar(1), 'x', 'y');
	await shows('far: that reservation of GPU 1 already ended');
	expect(run).toHaveBeenCalledTimes(1);
	becomes(rows);
	run.mockResolvedValueOnce(refusal);
	await press('x', 'y');
	await shows('released GPU 1 of far');
	expect(run.mock.lastCall).toEqual(['far', ['release', '--gpu-ids', '1'], {isUnbounded: false}]);
});

test('the key x shows the refusal of a host that names --lease in its hint, and asks the host only once', async () => {
	const {press, shows, run} = await open();
	const stderr = 'Error: GPU 1 has two reservations\nName one of them: canhazgpu release --gpu-ids 1 --lease ID\n';
	run.mockResolvedValueOnce({exitCode: 2, stdout: '', stderr});
	await press(...toFar(1), 'x', 'y');
	await shows('far: GPU 1 has two reservations');
	expect(run).toHaveBeenCalledTimes(1);
});

test('keys on a host with Slurm offer only what a cluster supports, and the key x releases whole jobs', async () => {
	const {press, shows, run, screen, shown} = await open();
	const onNode = (node: string, index: number) => ({node, node_gpu_id: index, gpu_model: 'a100'});
	const job = {lease_id: '17', type: 'RUN'};
	shown([
		remoteRow(0, onNode('box1', 0)),
		held(1, 'alice', {...onNode('box1', 1), ...job}),
		held(2, 'alice', {...onNode('box1', 2), ...job}),
		remoteRow(3, onNode('box2', 0)),
	]);
	await press(...toFar(0), 'R');
	await shows('GPUs are chosen for you on far: press r and say how many');
	await press('r');
	await shows('Reserve GPUs on far');
	await shows(/GPUs.+1-3/v);
	await shows(/Needs.+a100/v);
	expect(screen()).not.toMatch(/Force|Share|40G|nvlink/v);
	await press(keys.escape, keys.down, 'x');
	await shows('Release GPUs 1,2 of far now?');
	await shows('Slurm ends the whole job and everything that runs in it.');
	await press('y');
	await shows('released GPUs 1,2 of far');
	expect(run.mock.calls).toEqual([['far', ['release', '--gpu-ids', '1,2', '--lease', '17'], {isUnbounded: false}]]);
});

test('the key x never sends an id that looks like a flag', async () => {
	const {press, shows, run, becomes, shown} = await open();
	const lying = rows.with(1, held(1, 'alice', {lease_id: '--user=bob'}));
	becomes(lying);
	shown(lying);
	await press(...toFar(1), 'x', 'y');
	await shows('released GPU 1 of far');
	expect(run.mock.calls).toEqual([['far', ['release', '--gpu-ids', '1'], {isUnbounded: false}]]);
});

test('the key e on another host extends the whole reservation, but refuses jobs and other accounts', async () => {
	const {press, shows, run} = await open();
	await press(...toFar(1), 'e');
	await shows('$ canhazgpu extend --on far --gpu-ids 1,2 --lease lease-alice --duration 1h');
	await press(keys.enter);
	await shows('extended GPUs 1,2 of far by 1h 0m 0s');
	expect(run.mock.calls).toEqual([
		['far', ['extend', '--gpu-ids', '1,2', '--lease', 'lease-alice', '--duration', '1h'], {isUnbounded: false}],
	]);
	await press(keys.down, keys.down, 'e');
	await shows('GPU 3 of far is held by bob: only the holder can extend it');
	await press(keys.down, 'e');
	await shows('GPU 4 of far is held by a running job: it is released when the job ends');
	await press('x');
	await shows('$ canhazgpu release --on far --gpu-ids 4 --lease other');
});

test('keys on a row of this host work as in the table that shows only this host', async () => {
	const {press, shows, run, box, openMonitor, store} = await open();
	await press(keys.down, 'x', 'y');
	await shows('released GPU 1');
	const {gpus} = await box.store.read();
	expect(gpus.map(({kind}) => kind)).toEqual(['free', 'free']);
	expect(run).not.toHaveBeenCalled();
	await press(keys.enter);
	expect(store.getState().panels.focus).toBe('gpus');
	expect(openMonitor).not.toHaveBeenCalled();
});

test('the key x on a GPU of this host releases only that GPU, even if the table that shows only this host folds its rows', async () => {
	const {press, shows, box} = await open();
	await box.write({kind: 'lease', index: 0, lease: lease('alice')});
	await press(keys.escape);
	await shows(/0 +Mine/v);
	await press('g');
	await shows('0,1 (2)');
	await press('H');
	await shows('far');
	await press(keys.home, keys.down, 'x');
	await shows('Release GPU 0 now?');
	await press('y');
	await shows('released GPU 0');
	expect((await box.store.read()).gpus.map(({kind}) => kind)).toEqual(['free', 'leased']);
});

test('in the row with the subtotals of a host, the key r reserves on that host', async () => {
	const {press, shows} = await open();
	await press(keys.home, 'x');
	await shows('select a GPU to release it');
	await press('r');
	await shows('canhazgpu reserve --gpus 1');
	await press(keys.escape, ...toFar(0), 'r');
	await shows('canhazgpu reserve --on far');
	await press(keys.escape, 'e');
	await shows('select a GPU to extend it');
});

test('top --readonly changes nothing on any host', async () => {
	const box = await createBox(1);
	const hosts: HostsPort = {
		watch(listener) {
			listener([answered('far', rows, 0)]);
			return () => undefined;
		},
		ask: async () => expect.unreachable(),
		run: async () => expect.unreachable(),
		openMonitor: async () => 0,
	};
	session = startMonitor(box, {ports: {hosts}, otherHosts: ['far'], isReadonly: true});
	await session.press('H', keys.down, keys.down);
	for (const key of ['r', 'x', 'e', 'R']) {
		await session.press(key);
		await session.shows('This monitor is read-only');
		expect(session.store.getState().dialog).toBeUndefined();
	}
});
