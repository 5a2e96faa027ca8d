/** The commands on a real Slurm with three nodes of four GPUs. */
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {createBox, starter, starterText} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {clusterOfFile, type Row} from './_cluster.js';

const {slurm, box, rows} = clusterOfFile();

const heldBy = async (jobId: string): Promise<readonly Row[]> =>
	(await rows()).filter((row) => row['lease_id'] === jobId);
const entries = async (): Promise<readonly Row[]> =>
	(JSON.parse((await box().run('queue --json')).stdout) as {readonly entries: Row[]}).entries;
const jobsOfSlurm = (...args: readonly string[]): readonly string[] =>
	slurm()
		.run('squeue', '--noheader', '--format', '%i', ...args)
		.split('\n')
		.filter((line) => line !== '');

test('run on Slurm gives the command its GPUs and input, and returns its output and exit code', async () => {
	const asked = await box().run([
		'run',
		'--gpus',
		'2',
		'--',
		'sh',
		'-c',
		'printenv CUDA_VISIBLE_DEVICES; echo err >&2; exit 7',
	]);
	expect([asked.exitCode, asked.stdout]).toEqual([7, '0,1\n']);
	expect(asked.stderr).toContain('err\n');
	const piped = await start(
		box(),
		['-c', 'head -c 300000 /dev/zero | "$@"', 'sh', starter, ...starterText, 'run', '--', 'wc', '-c'],
		{},
		['/bin/sh'],
	).ended;
	expect([piped.exitCode, piped.stdout.trim()]).toEqual([0, '300000']);
	expect((await box().run(['run', '--', 'sh', '-c', 'kill -9 $$'])).exitCode).toBe(137);
});

test('run on Slurm passes arguments to the command unchanged, without a shell', async () => {
	const words = ['$(touch /tmp/x)', 'a b', '*', '"', "'", ';', '\\', '--gpus', 'ü\n'];
	const {stdout} = await box().run(['run', '--note', '; touch x $(id)', '--', 'printf', '<%s>', ...words]);
	expect(stdout).toBe(words.map((word) => `<${word}>`).join(''));
});

test('status on Slurm shows a running job with its GPUs, node, owner and note', async () => {
	const job = start(
		box(),
		['run', '-g', '3', '--on', 'box2', '--timeout', '1h', '--note', 'for the paper', '--', 'sleep', '300'],
		{
			CANHAZGPU_RUN_QUIET: 'false',
		},
	);
	await job.says(
		/^Reserved 3 GPU\(s\): \[4 5 6\] for command execution \(GPU 0,1,2 of box2, Slurm job \d+, timeout: 1h/mv,
	);
	const held = (await rows()).filter(({status}) => status === 'IN_USE');
	expect(held).toHaveLength(3);
	expect(held[0]).toMatchObject({
		gpu_id: 4,
		node: 'box2',
		node_gpu_id: 0,
		user: 'root',
		type: 'RUN',
		note: 'for the paper',
	});
	job.kill('SIGTERM');
	// Srun ends the job at once, and gives the command no time to clean up.
	expect((await job.ended).exitCode).toBe(137);
	await eventually(() => jobsOfSlurm().length === 0);
});

test('run on Slurm gives the command a terminal, and Ctrl-C reaches only the command', async () => {
	const terminal = openTerminal(
		starter,
		[...starterText, 'run', '--', 'sh', '-c', 'trap "echo got INT; exit 5" INT; tty; echo ready; sleep 300'],
		{columns: 80, rows: 24, cwd: box().home, environment: box().environment},
	);
	await terminal.waitFor('ready');
	expect(terminal.screen().join('\n')).toContain('/dev/pts/');
	terminal.write('\u{3}');
	await terminal.waitFor('got INT');
	expect(await terminal.exit).toMatchObject({exitCode: 5});
});

test('release on Slurm ends exactly the reservation whose ids reserve --short printed', async () => {
	const reserve = async (node: string) =>
		box().run(['reserve', '--gpus', '2', '--on', node, '--duration', '1h', '--short']);
	const first = await reserve('box1');
	const second = await reserve('box2');
	expect([first.stdout, first.stderr]).toEqual(['0,1\n', '']);
	expect([second.stdout, second.stderr]).toEqual([
		'4,5\n',
		expect.stringMatching(
			/^On box2, these GPUs have other ids: export CUDA_VISIBLE_DEVICES=0,1\. For srun: export SLURM_JOB_ID=\d+\n$/v,
		),
	]);
	expect((await box().run(['release', '--gpu-ids', second.stdout.trim()])).exitCode).toBe(0);
	await eventually(() => slurm().run('squeue', '--noheader', '--format=%N %t').trim() === 'box1 R');
});

test('run on Slurm keeps redirected stderr apart from the output on a terminal', async () => {
	const script = '"$@" run -- sh -c \'echo out; echo err >&2\' 2>err.log; echo ended';
	const terminal = openTerminal('/bin/sh', ['-c', script, 'sh', starter, ...starterText], {
		columns: 80,
		rows: 24,
		cwd: box().home,
		environment: box().environment,
	});
	await terminal.waitFor('ended');
	expect(terminal.screen().join('\n').trim()).toBe('out\nended');
	expect(readFileSync(path.join(box().home, 'err.log'), 'utf8')).toContain('err\n');
	await terminal.exit;
});

test('reserve on Slurm holds whole GPUs without a command, and release ends only whole jobs', async () => {
	const reserved = await box().run(['reserve', '-g', '2', '-d', '1h', '-n', 'debugging', '--json']);
	const grant = JSON.parse(reserved.stdout) as Row;
	expect(grant).toMatchObject({
		gpu_ids: [0, 1],
		user: 'root',
		type: 'MANUAL',
		note: 'debugging',
		node: 'box1',
		node_gpu_ids: [0, 1],
	});
	const jobId = grant['lease_id'] as string;
	expect(slurm().run('scontrol', 'show', 'job', '-d', jobId)).toMatch(
		/TimeLimit=01:00:00[\s\S]*GRES=gpu:2\(IDX:0-1\)/v,
	);
	const words = await box().run('reserve --gpus 1');
	expect(words.stdout).toMatch(
		/^Reserved 1 GPU\(s\): \[2\] for 8h 0m 0s \(GPU 2 of box1, Slurm job \d+\)\n\n.*\nexport SLURM_JOB_ID=\d+\n/v,
	);
	expect((await box().run('reserve --short')).stdout).toBe('3\n');

	const partly = await box().run('release --gpu-ids 0');
	expect([partly.exitCode, partly.stderr]).toEqual([
		1,
		`Error: GPU 0 alone cannot be released: Slurm gives back only whole jobs, and job ${jobId} has GPU 0,1\nName them all: --gpu-ids 0,1\n`,
	]);
	expect(await heldBy(jobId)).toHaveLength(2);
	expect((await box().run('release --gpu-ids 0,1')).stdout).toBe('Released 2 GPU(s): [0 1]\n');
	expect((await box().run('release')).stdout).toBe('Released 2 GPU(s): [2 3]\n');
	expect((await rows()).every(({status}) => status === 'AVAILABLE')).toBe(true);
});

test("queue on Slurm shows Slurm's order, reasons and estimates", async () => {
	for (const node of ['box1', 'box2', 'box3']) {
		expect((await box().run(`reserve -g 4 -d 1h --on ${node}`)).exitCode).toBe(0);
	}

	const first = start(box(), 'reserve -g 4');
	await first.says(/^Waiting for 4 GPUs: position 1 of 1/mv);
	const second = start(box(), 'run -g 2 -- true');
	await eventually(
		async () => (await entries()).length === 2 && (await entries())[0]!['estimate_seconds'] !== undefined,
	);
	const [one, two] = await entries();
	expect(one).toMatchObject({
		position: 1,
		requested_count: 4,
		reason: 'Resources',
		reason_words: 'no GPUs free yet',
	});
	expect(two).toMatchObject({position: 2, requested_count: 2, reservation_type: 'run'});
	expect(Number(one!['estimate_seconds'])).toBeGreaterThan(3000);
	expect((await box().run('queue')).stdout).toMatch(/ 1 │ \d+ +│ root │ 4 GPUs .*in about 0h 5\dm .*no GPUs free yet/v);

	expect((await box().run(`queue --leave ${String(two!['id'])}`)).stdout).toBe('Left the queue\n');
	expect((await second.ended).exitCode).not.toBe(0);
	first.kill('SIGINT');
	expect(await first.ended).toMatchObject({exitCode: 130, stdout: ''});
	await eventually(async () => (await entries()).length === 0);
});

test.each([
	['SIGINT', 130],
	['SIGTERM', 143],
] as const)('run on Slurm that gets %s while it waits leaves the queue and exits with %i', async (signal, code) => {
	for (const node of ['box1', 'box2', 'box3']) {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', `--nodelist=${node}`);
	}

	const waiter = start(box(), 'run -- true');
	await eventually(() => jobsOfSlurm('--states=PENDING').length === 1);
	waiter.kill(signal);
	const {exitCode, stderr} = await waiter.ended;
	expect([exitCode, stderr.includes('Error:')]).toEqual([code, false]);
	await eventually(() => jobsOfSlurm('--states=PENDING').length === 0);
});

test('a waiting reserve on Slurm that is killed leaves no queue entry and gets no GPU later', async () => {
	for (const node of ['box1', 'box2', 'box3']) {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', `--nodelist=${node}`);
	}

	const waiter = start(box(), 'reserve -g 1');
	await waiter.says(/position \d/v);
	waiter.kill('SIGKILL');
	await eventually(() => jobsOfSlurm('--states=PENDING').length === 0);
});

test('run and reserve on Slurm exit with 3 without free GPUs, at once or at the end of --wait', async () => {
	for (const node of ['box1', 'box2', 'box3']) {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', `--nodelist=${node}`);
	}

	for (const words of ['run --nonblock -- true', 'reserve --nonblock', 'run --wait 3s -- true', 'reserve --wait 3s']) {
		const {exitCode, stderr} = await box().run(words);
		expect([words, exitCode, /No node has enough free GPUs|did not become free in time/v.test(stderr)]).toEqual([
			words,
			3,
			true,
		]);
	}

	expect(jobsOfSlurm('--states=PENDING')).toEqual([]);
});

test('run --timeout on Slurm ends the command and exits with 124', async () => {
	const began = performance.now();
	const {exitCode} = await start(box(), 'run --timeout 1m -- sleep 300').ended;
	expect([exitCode, performance.now() - began > 50_000]).toEqual([124, true]);
});

test('options that Slurm does not support are refused with exit code 2, and nothing is submitted', async () => {
	const known = (): string => slurm().run('squeue', '--noheader', '--states=all', '--sort=i', '--format=%i');
	const before = known();
	for (const flag of [
		'--gpu-ids 1',
		'--user bob',
		'--strategy lru',
		'--workload train',
		'--min-memory 40G',
		'--min-compute 8.0',
		'--gpus 2 --nvlink',
		'--gpus 2 --same-model',
		'--share 8G',
		'--model h100,a100',
		'--cuda 12.4',
		'--isolate',
		'--numa bind',
		'--share 8G --mps',
		'--wait-children',
		'--notify',
	]) {
		const {exitCode, stderr} = await box().run(`run ${flag} -- true`);
		expect([flag, exitCode, /cannot be used with Slurm: .+\n.+\n$/v.test(stderr)]).toEqual([flag, 2, true]);
	}

	expect((await box().run('reserve --force')).exitCode).toBe(2);
	const model = await box().run('run --model h100 -- true');
	expect([model.exitCode, model.stderr]).toEqual([
		2,
		"Error: No GPU of model h100 in this cluster\nThe cluster's gres.conf names no GPU types: leave out --model, or name a node with --on NODE\n",
	]);
	// Slurm remembers ended jobs for a while, so none were submitted.
	expect(
		known()
			.split('\n')
			.filter((id) => !before.split('\n').includes(id)),
	).toEqual([]);
});

test('errors for wrong input on Slurm name the valid choices', async () => {
	expect(await box().run('run --gpus 5 -- true')).toMatchObject({exitCode: 2});
	expect((await box().run('reserve --gpus 5')).stderr).toBe(
		'Error: No node of this cluster fits this request\nSee what the nodes have: canhazgpu status\n',
	);
	for (const words of ['run -- true', 'run --detach -- true', 'reserve']) {
		const {exitCode, stderr} = await box().run(words, {SLURM_PARTITION: 'nope'});
		expect([words, exitCode, stderr]).toEqual([
			words,
			2,
			expect.stringContaining('Error: There is no such partition\n'),
		]);
	}

	expect(await box().run('reserve --on box9')).toMatchObject({exitCode: 2});
	expect(await box().run('queue --leave 99999')).toMatchObject({exitCode: 1});
	expect((await box().run('status', {PATH: '/nowhere'})).exitCode).toBe(4);
	for (const words of ['admin --drain 3', 'admin --policy', 'admin', 'reserve --pid 1', 'who 3']) {
		const {exitCode, stderr} = await box().run(words);
		expect([words, exitCode, /^Error: .+\n.+\n$/v.test(stderr)]).toEqual([words, 1, true]);
	}
});

test('queue on Slurm reports a squeue without JSON as too old', async () => {
	const directory = path.join(box().home, 'old');
	mkdirSync(directory, {recursive: true});
	writeFileSync(
		path.join(directory, 'squeue'),
		'#!/bin/sh\necho "squeue: unrecognized option \'--json\'" >&2\nexit 1\n',
		{mode: 0o755},
	);
	const {exitCode, stderr} = await box().run('queue', {PATH: `${directory}:${box().environment['PATH']!}`});
	expect([exitCode, stderr]).toEqual([
		4,
		'Error: This Slurm is too old: squeue has no --json\nSlurm 21.08 or newer is needed. See: squeue --version\n',
	]);
});

/** Runs as another account with the environment of an ordinary user. */
const asNobody = (...words: readonly string[]): {readonly exitCode: number; readonly output: string} => {
	try {
		return {
			exitCode: 0,
			output: execFileSync(
				'setpriv',
				['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups', starter, ...starterText, ...words],
				{
					encoding: 'utf8',
					cwd: '/',
					env: {...box().environment, HOME: '/', XDG_CACHE_HOME: '/nonexistent'},
					stdio: ['ignore', 'pipe', 'pipe'],
				},
			),
		};
	} catch (error) {
		const {status, stderr} = error as {readonly status: number; readonly stderr: string};
		return {exitCode: status, output: stderr};
	}
};

test('another account on Slurm can end and shorten its own jobs, but not the jobs of others', async () => {
	await box().run('reserve -g 1 -d 1h');
	const grant = JSON.parse(asNobody('reserve', '-g', '2', '-d', '2h', '--json').output) as Row;
	expect(grant).toMatchObject({user: 'nobody', gpu_ids: [1, 2]});
	expect(asNobody('release', '--gpu-ids', '0')).toMatchObject({exitCode: 1});
	expect(await heldBy(grant['lease_id'] as string)).toHaveLength(2);

	const longer = asNobody('extend', '--duration', '1h');
	expect([longer.exitCode, longer.output]).toEqual([
		1,
		expect.stringMatching(
			/^Error: On Slurm, only administrators can move an end to a later time\nAsk an administrator to run: scontrol update JobId=\d+ TimeLimit=180/v,
		),
	]);
	const minutes = (): string => slurm().run('squeue', '--noheader', '--user=nobody', '--format=%l').trim();
	expect(minutes()).toBe('2:00:00');
	const until = new Date(Date.now() + 30 * 60_000).toISOString().slice(0, 16);
	expect(asNobody('extend', '--until', until)).toMatchObject({exitCode: 0});
	expect(minutes()).toMatch(/^(?:29|30|31):00$/v);
	expect(asNobody('release').output).toBe('Released 2 GPU(s): [1 2]\n');
	// Root administers this Slurm.
	expect(await box().run('extend --duration 1h')).toMatchObject({exitCode: 0});
});

test('status on Slurm shows an sbatch job like any other job', async () => {
	const script = path.join(box().home, 'job.sh');
	writeFileSync(script, '#!/bin/sh\nsleep 300\n', {mode: 0o755});
	slurm().run(
		'sbatch',
		'--gres=gpu:2',
		'--output=/dev/null',
		'--job-name=evil\u{1B}[31m',
		'--comment=a\u{1B}]0;b\u{7}',
		script,
	);
	await eventually(async () => (await rows()).some(({status}) => status === 'IN_USE'));
	const {stdout} = await box().run('status');
	expect(stdout).toMatch(/box1:0 │ ● IN_USE {4}│ root │ .* │ RUN /v);
	expect(stdout.includes('\u{1B}') || stdout.includes('\u{7}')).toBe(false);
});

test('every command exits with 4 after slurmctld is killed, and a running job keeps its exit code', async () => {
	const job = start(box(), [
		'run',
		'-g',
		'2',
		'--',
		'sh',
		'-c',
		'echo begun >&2; until [ -e go ]; do sleep 0.2; done; exit 9',
	]);
	await job.says(/begun/v);
	// Slurm saves a job only when it changes.
	slurm().run('scontrol', 'update', `JobId=${jobsOfSlurm()[0]!}`, 'Comment=seen');
	await slurm().saved();
	await slurm().kill('slurmctld');
	for (const words of ['status', 'queue', 'reserve', 'release', 'status --json']) {
		const {exitCode, stderr, stdout} = await box().run(words);
		expect([words, exitCode, stdout, stderr.includes('does not answer')]).toEqual([words, 4, '', true]);
	}

	expect(await box().run('run -- true')).toMatchObject({exitCode: 4});
	await slurm().start('slurmctld');
	expect((await rows()).filter(({status}) => status === 'IN_USE')).toHaveLength(2);
	writeFileSync(path.join(box().home, 'go'), '');
	expect(await job.ended).toMatchObject({exitCode: 9});
});

test('a waiting reserve on Slurm keeps waiting while slurmctld is down', async () => {
	await box().run('reserve --gpus 4 --on box1');
	const [timed, patient] = [start(box(), 'reserve --wait 20s --on box1'), start(box(), 'reserve --on box1')];
	for (const waiter of [timed, patient]) {
		await waiter.says(/Waiting for 1 GPU/v);
	}

	await slurm().saved();
	await slurm().kill('slurmctld');
	for (const waiter of [timed, patient]) {
		await waiter.says(/Still waiting .+: Slurm's controller does not answer/v);
	}

	// Salloc gives up at its time limit if the controller is down.
	await eventually(() => spawnSync('pgrep', ['--full', '--parent', String(timed.pid), 'salloc']).status !== 0);
	await slurm().start('slurmctld');
	expect(await timed.ended).toMatchObject({exitCode: 3});
	await eventually(() => jobsOfSlurm('--states=PENDING').length === 1);
	expect((await box().run('release')).exitCode).toBe(0);
	expect(await patient.ended).toMatchObject({exitCode: 0});
	expect(jobsOfSlurm('--states=PENDING,RUNNING')).toHaveLength(1);
});

test('every command on Slurm exits with 4 after munged is killed', async () => {
	await slurm().kill('munged');
	const {exitCode, stderr} = await box().run('status');
	await slurm().start('munged');
	expect([exitCode, stderr]).toEqual([4, expect.stringContaining('munge')]);
	expect(await box().run('status')).toMatchObject({exitCode: 0});
});

test('the GPUs of a killed Slurm node are unavailable until the node is back', async () => {
	await slurm().kill('box2');
	await eventually(async () => {
		const ofNode = (await rows()).filter(({node}) => node === 'box2');
		return ofNode.every(({status, error}) => status === 'ERROR' && String(error).includes('box2'));
	}, 120_000);
	// After the outage of munged, other nodes may also miss a ping of the controller.
	await eventually(
		async () => (await rows()).filter(({status, node}) => status === 'AVAILABLE' && node !== 'box2').length === 8,
	);
	expect((await rows()).filter(({status, node}) => status === 'AVAILABLE' && node === 'box2')).toEqual([]);
	await slurm().start('box2');
	await eventually(async () => (await rows()).every(({status}) => status === 'AVAILABLE'));
});

test('a drained Slurm node is unavailable, with its reason', async () => {
	slurm().run('scontrol', 'update', 'NodeName=box3', 'State=DRAIN', 'Reason=fan is dead');
	const ofNode = (await rows()).filter(({node}) => node === 'box3');
	slurm().run('scontrol', 'update', 'NodeName=box3', 'State=RESUME');
	expect(ofNode).toHaveLength(4);
	expect(ofNode[0]).toMatchObject({status: 'ERROR', drained: {reason: 'fan is dead', by: 'root'}});
});

test('GPUs of a closed Slurm partition and of a node without a free core are unavailable', async () => {
	for (const [state, reason] of [
		['DOWN', 'partition main is down'],
		['DRAIN', 'partition main is drained'],
		['INACTIVE', 'partition main is inactive'],
	] as const) {
		slurm().run('scontrol', 'update', 'PartitionName=main', `State=${state}`);
		const [all, {stdout}] = await Promise.all([rows(), box().run('status --summary')]).finally(() => {
			slurm().run('scontrol', 'update', 'PartitionName=main', 'State=UP');
		});
		expect(all.map(({status, error}) => [status, error])).toEqual(Array.from({length: 12}, () => ['ERROR', reason]));
		expect(stdout).toMatch(/│ ✗ 0 /v);
	}

	const words = [
		'sbatch',
		'--nodelist=box2',
		'--cpus-per-task=8',
		'--gres=gpu:1',
		'--output=/dev/null',
		'--wrap=sleep 100',
	] as const;
	slurm().run(...words);
	await eventually(async () => (await rows()).some(({status}) => status === 'IN_USE'));
	const ofNode = (await rows()).filter(({node}) => node === 'box2');
	expect(ofNode.map(({status, error}) => [status, error])).toEqual([
		['IN_USE', undefined],
		...Array.from({length: 3}, () => ['ERROR', 'jobs use all cores of box2']),
	]);
});

test('commands use Slurm if there is no pool, and prefer a local pool', async () => {
	const found = createBox(slurm().environment);
	expect((await found.run('status')).stderr).toBe('Engine: Slurm, cluster lab\n');
	expect((await found.run('status --all')).stdout).toMatch(/^ 4 +│ box2:0 │ ● AVAILABLE/mv);
	expect((await found.run('status --engine local')).exitCode).toBe(4);
	expect((await found.run('admin --store embedded --gpus 2 --provider fake')).exitCode).toBe(0);
	expect((await found.run('status')).stderr).toContain('SIMULATED');
	found.remove();
});

test('top on Slurm shows the jobs of all nodes and the queue, also after an outage of slurmctld', async () => {
	slurm().run('salloc', '--no-shell', '--gres=gpu:4', '--nodelist=box1', '--comment=the big one');
	const terminal = openTerminal(starter, [...starterText, 'top'], {
		columns: 120,
		rows: 32,
		cwd: box().home,
		environment: box().environment,
	});
	await terminal.waitFor('Slurm, cluster lab');
	await terminal.waitFor('GPU 0 of box1');
	await terminal.waitFor('the big one');
	slurm().run('salloc', '--no-shell', '--gres=gpu:4', '--nodelist=box2');
	slurm().run('salloc', '--no-shell', '--gres=gpu:4', '--nodelist=box3');
	const waiter = start(box(), 'run -- true');
	await terminal.waitFor('no GPUs free yet');
	await slurm().kill('slurmctld');
	await terminal.waitFor('does not answer');
	await slurm().start('slurmctld');
	await eventually(() => !terminal.screen().join('\n').includes('does not answer'));
	waiter.kill('SIGKILL');
	terminal.write('q');
	expect(await terminal.exit).toMatchObject({exitCode: 0});
});

test('top on Slurm reserves and releases by key, and offers only what Slurm supports', async () => {
	slurm().run('salloc', '--no-shell', '--gres=gpu:2', '--nodelist=box1');
	const terminal = openTerminal(starter, [...starterText, 'top'], {
		columns: 80,
		rows: 24,
		cwd: box().home,
		environment: box().environment,
	});
	await terminal.waitFor('GPU 0 of box1');
	terminal.write('x');
	await terminal.waitFor('Release GPUs 0,1 now?');
	await terminal.waitFor('Slurm ends the whole job and everything that runs in it.');
	terminal.write('y');
	await terminal.waitFor('OK released GPUs 0,1');
	expect(jobsOfSlurm()).toEqual([]);
	// Slurm offers neither chosen GPUs nor GPUs in use.
	terminal.write('R');
	await terminal.waitFor('GPUs are chosen for you here: press r and say how many');
	terminal.write('r');
	await terminal.waitFor('Duration');
	// A reservation cannot span several nodes.
	await terminal.waitFor('1-4 (Up/Down to change)');
	expect(terminal.screen().join('\n')).not.toMatch(/Force|Needs/v);
	terminal.write('\r');
	await terminal.waitFor('export SLURM_JOB_ID=');
	expect(jobsOfSlurm()).toHaveLength(1);
	terminal.write('q');
	expect(await terminal.exit).toMatchObject({exitCode: 0});
});

test('doctor on Slurm names the engine, and events lists granted and refused requests', async () => {
	expect((await box().run('doctor')).stdout).toMatch(
		/Slurm, cluster lab answered in \d+ ms\n.*12 GPU\(s\), granted by Slurm/v,
	);
	expect(await box().run('report')).toMatchObject({exitCode: 1, stdout: ''});
	await box().run('run -- true');
	expect(await box().run('run --gpus 5 -- true')).toMatchObject({exitCode: 2});
	const {stdout: events} = await box().run('events');
	expect(events).toMatch(/root got 1 GPU\n/v);
	expect(events).toMatch(/root asked for 5 GPUs and got nothing\n/v);
	expect(events).not.toMatch(/got 5 GPUs/v);
});

test('status --all and queue --all show the name of the Slurm cluster, not of this machine', async () => {
	const {stdout} = await box().run('status --all --summary');
	expect(stdout).toMatch(/^ Slurm, cluster lab │ 12 /mv);
	expect((await box().run('status --all')).stdout).toMatch(/^Slurm, cluster lab\n/v);
	expect(Object.keys(JSON.parse((await box().run('status --all --json')).stdout) as Record<string, unknown>)).toEqual([
		hostname(),
	]);
});
