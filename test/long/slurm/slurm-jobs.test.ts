/** Jobs that Slurm runs in the background or later, and requests to a Slurm that hangs or loses a node. */
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {starter, starterText} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {clusterOfFile, type Row} from './_cluster.js';

const {slurm, box, rows} = clusterOfFile({gres: 'gpu:1g.10gb:4,shard:16'});

const inHome = (name: string): string => path.join(box().home, name);
const textOf = (name: string): string => (existsSync(inHome(name)) ? readFileSync(inHome(name), 'utf8') : '');

/** Submits a command and returns its job. */
async function detached(...words: readonly string[]): Promise<{readonly id: string; readonly output: string}> {
	const {exitCode, stdout, stderr} = await box().run(['run', '--detach', '--json', ...words]);
	expect([exitCode, stderr]).toEqual([0, '']);
	const job = JSON.parse(stdout) as {readonly lease_id: string; readonly output: string};
	return {id: job.lease_id, output: job.output};
}

test('run exits with 4 and an error if there is no Slurm configuration', async () => {
	writeFileSync(inHome('empty.conf'), '');
	const lost = await box().run('run -- true', {SLURM_CONF: inHome('empty.conf')});
	expect(lost).toMatchObject({exitCode: 4, stdout: ''});
	expect(lost.stderr).toContain('Error: Slurm cannot find a readable configuration on this machine\n');
	const ended = await box().run(['run', '-q', '--', 'sh', '-c', 'exit 1']);
	expect(ended).toMatchObject({exitCode: 1, stdout: ''});
	expect(ended.stderr).not.toContain('Error:');
});

test('run --detach on Slurm starts the command in the background, with exact arguments and its output in a file', async () => {
	const words = await box().run(
		['run', '--gpus', '2', '--detach', '--', 'printf', '<%s>', '$HOME', 'a b', "it's", '--gpus'],
		{
			CANHAZGPU_RUN_QUIET: 'false',
		},
	);
	const {id} = /^Submitted Slurm job (?<id>\d+)\. Its output goes to slurm-\d+\.out\. /v.exec(words.stdout)!.groups!;
	await eventually(() => textOf(`slurm-${id!}.out`) === "<$HOME><a b><it's><--gpus>");
	const job = await detached(
		'-g',
		'3',
		'-n',
		'for the paper',
		'--',
		'sh',
		'-c',
		'echo $CUDA_VISIBLE_DEVICES; sleep 300',
	);
	await eventually(() => textOf(job.output) === '0,1,2\n');
	expect((await rows()).filter((row) => row['lease_id'] === job.id)).toMatchObject([
		{gpu_id: 0, type: 'RUN', note: 'for the paper'},
		{gpu_id: 1},
		{gpu_id: 2},
	]);
	expect((await box().run(['run', '--quiet', '--detach', '--', 'true'])).stdout).toMatch(/^\d+\n$/v);
});

test('run --nonblock on Slurm refuses a job that cannot start yet, and names the reason', async () => {
	const first = await detached('--', 'sleep', '300');
	for (const words of [
		['--after', first.id],
		['--begin', '1h'],
	]) {
		const {exitCode, stderr} = await box().run(['run', ...words, '--nonblock', '--', 'true']);
		expect([exitCode, stderr]).toEqual([
			3,
			expect.stringContaining('Error: The job may not begin yet (see --after and --begin)'),
		]);
	}
});

test("run on Slurm ends with srun's message and exit code if the command is missing on the node", async () => {
	expect((await box().run('run -- /nowhere/command')).exitCode).toBe(2);
	expect((await box().run('run -- /etc/passwd')).exitCode).toBe(13);
});

test('run --after and --begin on Slurm start a job after other jobs or at a given time', async () => {
	const first = await detached('--', 'sh', '-c', 'until [ -e go ]; do sleep 0.1; done; echo first >> order; exit 3');
	const later = await detached('--after', `any:${first.id}`, '--', 'sh', '-c', 'echo later >> order');
	const good = await detached('--after', first.id, '--', 'sh', '-c', 'echo never >> order');
	const timed = await detached('--begin', '2h', '--', 'true');
	const entries = async (): Promise<readonly Row[]> =>
		(JSON.parse((await box().run('queue --json')).stdout) as {readonly entries: Row[]}).entries;
	await eventually(async () => {
		const reasons = new Map((await entries()).map((entry) => [entry['id'], entry['reason']]));
		return (
			reasons.get(later.id) === 'Dependency' &&
			reasons.get(good.id) === 'Dependency' &&
			reasons.get(timed.id) === 'BeginTime'
		);
	});
	const waiter = start(box(), ['run', '--after', `any:${first.id}`, '--', 'sh', '-c', 'cat order; exit 5']);
	await eventually(async () => (await entries()).length === 4);
	writeFileSync(inHome('go'), '');
	const end = await waiter.ended;
	expect([end.exitCode, end.stdout.startsWith('first\n')]).toEqual([5, true]);
	await eventually(() => textOf('order') === 'first\nlater\n');
	// A job that can never start is cancelled, as without Slurm.
	await eventually(async () => (await entries()).every(({id}) => id === timed.id));
});

test('run --array on Slurm runs the command once for each number, with separate output', async () => {
	const {id} = await detached('--array', '2-4', '--', 'sh', '-c', 'echo number $SLURM_ARRAY_TASK_ID');
	const same = await detached('--array', '7', '--', 'sh', '-c', 'echo $CANHAZGPU_ARRAY_INDEX');
	await eventually(() => textOf(`slurm-${same.id}_7.out`) === '7\n');
	await eventually(() => ['2', '3', '4'].every((task) => textOf(`slurm-${id}_${task}.out`) === `number ${task}\n`));
});

test.each([
	['a step', '0-200:5', 195],
	['many ranges', Array.from({length: 40}, (_, index) => index * 20 + (index % 7)).join(','), 784],
])('cancel on Slurm finds one pending task of an array with %s', async (_, indices, index) => {
	const {id} = await detached('--begin', '1h', '--array', indices, '--', 'true');
	expect(await box().run(`cancel ${id}_${index}`)).toMatchObject({exitCode: 0, stderr: ''});
	expect(await box().run(`cancel ${id}_${index - 1}`)).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining(`Slurm has no job ${id}_${index - 1}`) as unknown,
	});
	expect(await box().run(`cancel ${id}`)).toMatchObject({exitCode: 0});
});

test('jobs, logs, wait, cancel and retry on Slurm work with its job ids', async () => {
	const jobs = async (): Promise<readonly Row[]> => JSON.parse((await box().run('jobs --json')).stdout) as Row[];
	const stateOf = async (id: string) => (await jobs()).find((job) => job['id'] === id)?.['state'];
	const failing = await detached('--', 'sh', '-c', 'echo said; exit 7');
	expect(await box().run(`wait ${failing.id}`)).toMatchObject({
		exitCode: 7,
		stderr: expect.stringContaining(`canhazgpu: job ${failing.id} failed with exit code 7`) as string,
	});
	expect((await box().run(`logs -f ${failing.id}`)).stdout).toBe('said\n');
	expect(await stateOf(failing.id)).toBe('failed');
	const running = await detached('--', 'sleep', '300');
	await eventually(async () => (await stateOf(running.id)) === 'running');
	expect((await box().run(`cancel ${running.id}`)).stdout).toBe(`Cancelled job ${running.id}\n`);
	await eventually(async () => (await stateOf(running.id)) === 'cancelled');
	expect((await box().run(`cancel ${running.id}`)).stdout).toBe(`Job ${running.id} has already ended\n`);
	expect((await box().run(`retry ${running.id}`)).stdout).toBe(`Started job ${running.id} again\n`);
	await eventually(async () => ['queued', 'running', 'pending'].includes(String(await stateOf(running.id))));
	for (const line of ['wait 999999', 'cancel 999999', 'logs x']) {
		expect((await box().run(line)).exitCode).toBe(2);
	}
});

test('logs -f on Slurm waits for the output of a job that has not started', async () => {
	const first = await detached('--', 'sh', '-c', 'until [ -e over ]; do sleep 0.1; done');
	const second = await detached('--after', `any:${first.id}`, '--', 'echo', 'late');
	expect((await box().run(`logs ${second.id}`)).exitCode).toBe(1);
	const follower = start(box(), `logs -f ${second.id}`);
	await sleep(2000);
	writeFileSync(inHome('over'), '');
	expect(await follower.ended).toMatchObject({exitCode: 0, stdout: 'late\n', stderr: ''});
});

test('queue --leave ends only the waiting tasks of a Slurm job array, and release only the task with the given GPU', async () => {
	const tasks = (format = '%K%t'): string =>
		slurm()
			.run('squeue', '--noheader', '--array', `--format=${format}`)
			.trim()
			.split(/\s+/v)
			.toSorted((left, right) => left.localeCompare(right))
			.join(' ');
	const waiting = await detached('-g', '1', '--array', '0-3%2', '--', 'sleep', '300');
	await eventually(() => tasks() === '0R 1R 2PD 3PD');
	const {entries} = JSON.parse((await box().run('queue --json')).stdout) as {readonly entries: readonly Row[]};
	expect(entries).toMatchObject([{id: waiting.id, requested_count: 1, note: 'sleep (tasks 2-3%2)'}]);
	expect(await box().run(`queue --leave ${waiting.id}`)).toMatchObject({exitCode: 0, stdout: 'Left the queue\n'});
	await eventually(() => tasks() === '0R 1R');
	await slurm().clear();

	const running = await detached('-g', '1', '--timeout', '1h', '--array', '0-2', '--', 'sleep', '300');
	await eventually(() => tasks() === '0R 1R 2R');
	const last = (await rows()).find((row) => row['lease_id'] === running.id)!;
	await box().run(`extend --duration 1h --gpu-ids ${String(last['gpu_id'])}`);
	expect(tasks('%K=%l')).toBe('0=1:00:00 1=1:00:00 2=2:00:00');
	expect((await box().run(`release --gpu-ids ${String(last['gpu_id'])}`)).exitCode).toBe(0);
	await eventually(() => tasks() === '0R 1R');
});

test('while Slurm nodes are down, a --nonblock request exits with 3, or with 2 if no node can ever serve the request', async () => {
	slurm().run('scontrol', 'update', 'NodeName=box1,box2,box3', 'State=DRAIN', 'Reason=fan');
	for (const [words, code] of [
		['run --nonblock -- true', 3],
		['reserve --nonblock', 3],
		['run --nonblock --gpus 5 -- true', 2],
		['reserve --nonblock --gpus 5', 2],
	] as const) {
		const {exitCode, stderr} = await box().run(words);
		expect([words, exitCode]).toEqual([words, code]);
		expect(stderr).toContain(
			code === 3 ? 'are down, drained or reserved\n' : 'No node of this cluster fits this request\n',
		);
	}
});

test('run on Slurm keeps the exit code of a short command, even a code that srun uses for its own failures', async () => {
	for (const flags of ['', '--nonblock ', '--wait 5s ']) {
		for (const code of [243, 244]) {
			const {exitCode, stderr} = await box().run([...`run ${flags}-- sh -c`.split(' '), `exit ${code}`]);
			expect([flags, exitCode, stderr.includes('Error: ')]).toEqual([flags, code, false]);
		}
	}

	slurm().run('salloc', '--no-shell', '--gres=gpu:4', '--nodelist=box1');
	expect((await box().run(['run', '--nonblock', '--on', 'box1', '--', 'sh', '-c', 'exit 244'])).exitCode).toBe(3);
});

test('reserve on Slurm reports that its request was removed from the queue', async () => {
	for (const node of ['box1', 'box2', 'box3']) {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', `--nodelist=${node}`);
	}

	const waiter = start(box(), 'reserve --wait 60s');
	await waiter.says(/position \d/v);
	slurm().run('scancel', '--state=PENDING', '--name=reserve');
	const {exitCode, stderr} = await waiter.ended;
	expect([exitCode, stderr.includes('Error: Somebody removed this request from the queue\n')]).toEqual([3, true]);
});

test.each([
	['--after', '17;id', '--after: "17;id" is not valid'],
	['--after', 'x', '--after: "x" is not valid'],
	['--array', '0-3 --exclusive', '--array: "0-3 --exclusive" is not valid'],
	['--array', '0-3', '--array works only with --detach'],
	['--begin', 'soon', '--begin'],
	['--detach', '--nonblock', "With --detach, the job stays in Slurm's queue until it starts, so --nonblock cannot be used"],
	['--detach', '--share=8G', '--share cannot be used with Slurm'],
])('run %s %s on Slurm is refused, and nothing is submitted', async (flag, value, words) => {
	const before = slurm().run('squeue', '--noheader', '--states=all', '--format=%i');
	const typed =
		value.startsWith('--') || flag !== '--array' || value === '0-3' ? [flag, value] : [flag, value, '--detach'];
	const {exitCode, stderr} = await box().run(['run', ...typed, '--', 'true']);
	expect([exitCode, stderr.startsWith('Error: '), stderr.includes(words)]).toEqual([2, true, true]);
	expect(slurm().run('squeue', '--noheader', '--states=all', '--format=%i')).toBe(before);
});

test('run --detach fails with a message if the controller of Slurm is down', async () => {
	await slurm().kill('slurmctld');
	const away = await box().run(['run', '--detach', '--', 'true']);
	await slurm().start('slurmctld');
	expect([away.exitCode, away.stdout]).toEqual([4, '']);
});

test('run --json on Slurm prints the grant before the command starts, even if the command is very short', async () => {
	// A separate directory, because other tests and users create such files in the common one.
	const temporary = mkdtempSync(path.join(tmpdir(), 'json-'));
	const environment = {TMPDIR: temporary};
	for (let turn = 0; turn < 5; turn++) {
		const {exitCode, stdout, stderr} = await box().run(
			['run', '-g', '2', '--json', '--', 'sh', '-c', 'echo begun >&2; echo $CUDA_VISIBLE_DEVICES'],
			environment,
		);
		// While the node is still cleaning up, srun says that it waits.
		const [grant, begun] = stderr.split('\n').filter((line) => !line.startsWith('srun: job '));
		expect([exitCode, stdout, begun]).toEqual([0, '0,1\n', 'begun']);
		expect(JSON.parse(grant!)).toMatchObject({gpu_ids: [0, 1], type: 'RUN', node: 'box1', node_gpu_ids: [0, 1]});
	}

	expect(readdirSync(temporary)).toEqual([]);
	expect((await box().run('run --json -g 9 -- true', environment)).exitCode).toBe(2);
	expect(readdirSync(temporary)).toEqual([]);
});

test('run --mig on Slurm requests the profile as a type in gres.conf', async () => {
	const {stdout} = await box().run(['run', '--mig', '1g.10gb', '--', 'printenv', 'CUDA_VISIBLE_DEVICES']);
	expect(stdout).toBe('0\n');
	const {exitCode, stderr} = await box().run(['run', '--mig', '3g.40gb', '--', 'true']);
	expect([exitCode, stderr]).toEqual([
		2,
		'Error: No GPU of this cluster has MIG instances with the profile 3g.40gb\nSlurm knows: 1g.10gb\n',
	]);
});

test('run --share on Slurm requests shards if the memory of a shard is configured', async () => {
	const environment = {CANHAZGPU_SLURM_SHARD_MEMORY: '4G'};
	const job = start(box(), ['run', '--share', '6G', '--', 'sh', '-c', 'echo begun >&2; exec sleep 300'], environment);
	await job.says(/begun/v);
	expect(slurm().run('squeue', '--noheader', '--format=%b').trim()).toBe('gres:shard:2');
	const shared = (await rows()).filter(({shares}) => shares !== undefined);
	expect(shared).toMatchObject([{gpu_id: 0, shares: [{user: 'root'}]}]);
	job.kill('SIGTERM');
	await job.ended;
	const several = await box().run('run --share 6G --gpus 2 -- true', environment);
	expect([several.exitCode, several.stderr]).toEqual([
		2,
		'Error: --share of several GPUs cannot be used with Slurm: all shards of a job are on the same GPU\nAsk for one: leave out --gpus\n',
	]);
});

test('queue on Slurm exits with 4 if squeue hangs', async () => {
	const directory = inHome('hanging');
	mkdirSync(directory, {recursive: true});
	writeFileSync(path.join(directory, 'squeue'), '#!/bin/sh\nexec sleep 600\n', {mode: 0o755});
	const {exitCode, stderr} = await box().run('queue', {PATH: `${directory}:${box().environment['PATH']!}`});
	expect([exitCode, stderr]).toEqual([4, expect.stringContaining('squeue did not finish within 15 seconds')]);
});

test('a Slurm job keeps its exit code although slurmd and munged were killed', async () => {
	const job = start(box(), [
		'run',
		'-g',
		'2',
		'--on',
		'box1',
		'--',
		'sh',
		'-c',
		'echo begun >&2; until [ -e done ]; do sleep 0.2; done; exit 9',
	]);
	await job.says(/begun/v);
	const terminal = openTerminal(starter, [...starterText, 'top'], {
		columns: 80,
		rows: 24,
		cwd: box().home,
		environment: box().environment,
	});
	await terminal.waitFor('GPU 0 of box1');
	await slurm().kill('munged');
	await terminal.waitFor(/\[STALE \d+s\].* from \d\d:\d\d[\s\S]*(?:Slurm cannot prove|Munge or Slurm's)/v);
	await slurm().start('munged');
	await eventually(() => !terminal.screen().join('\n').includes('STALE'));
	await slurm().kill('box1');
	await eventually(async () =>
		(await rows()).filter(({node}) => node === 'box1').every(({status}) => status !== 'AVAILABLE'),
	);
	await slurm().start('box1');
	writeFileSync(inHome('done'), '');
	expect(await job.ended).toMatchObject({exitCode: 9});
	await eventually(async () => (await rows()).filter(({status}) => status === 'AVAILABLE').length === 12);
	terminal.write('q');
	expect(await terminal.exit).toMatchObject({exitCode: 0});
});

test('top on Slurm shows the sbatch jobs of two accounts, and its keys reserve and release', async () => {
	const terminal = openTerminal(starter, [...starterText, 'top'], {
		columns: 120,
		rows: 32,
		cwd: box().home,
		environment: box().environment,
	});
	const rowOf = (place: string): string => terminal.screen().find((line) => line.includes(place)) ?? '';
	await terminal.waitFor('GPU 0 of box1');
	const script = inHome('job.sh');
	writeFileSync(script, '#!/bin/sh\nsleep 300\n', {mode: 0o755});
	const submit = (...words: readonly string[]): string =>
		slurm()
			.run('sbatch', '--parsable', '--gres=gpu:2', '--output=/dev/null', ...words, script)
			.trim();
	submit('--nodelist=box1');
	const ofNobody = submit('--nodelist=box2', '--uid=nobody', '--chdir=/');
	await terminal.waitFor(() => rowOf('GPU 1 of box1').includes('root') && rowOf('GPU 1 of box2').includes('nobody'));

	const ids = (): readonly string[] => slurm().run('squeue', '--noheader', '--format=%i').split('\n');
	slurm().run('scancel', ofNobody);
	await eventually(() => !ids().includes(ofNobody));
	const since = performance.now();
	await terminal.waitFor(() => rowOf('GPU 1 of box2').includes('Free'));
	// The monitor queries Slurm once a second, and a busy machine needs more time.
	expect(performance.now() - since).toBeLessThan(5000);

	terminal.write('r');
	await terminal.waitFor('Duration');
	terminal.write('\r');
	await terminal.waitFor('export SLURM_JOB_ID=');
	terminal.write('\u{1B}');
	// A key right after Esc would count as Alt with that key.
	await terminal.waitFor(
		() => !terminal.screen().join('\n').includes('export SLURM_JOB_ID=') && rowOf('GPU 2 of box1').includes('Mine'),
	);
	terminal.write('jj');
	await terminal.waitFor(/> 2 .*GPU 2 of box1/v);
	terminal.write('x');
	await terminal.waitFor('Release GPU 2 now?');
	terminal.write('y');
	await terminal.waitFor(() => rowOf('GPU 2 of box1').includes('Free'));
	expect(ids().filter((id) => id !== '')).toHaveLength(1);
	terminal.write('q');
	expect(await terminal.exit).toMatchObject({exitCode: 0});
});
