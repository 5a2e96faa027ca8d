/**
`--on` with a fake ssh that runs commands in the home of the other host. test/long/hosts/on-host uses a real sshd.
*/
import {existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeEach, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {makeStubSsh} from '../../_helpers/machine/stub-ssh.js';
import {createBox, createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {peek, start} from '../../_helpers/program/processes.js';

let here: Box;
let near: Box;
let far: Box;
let environment: Record<string, string>;

beforeEach(async () => {
	[here, near, far] = await Promise.all([createEmbeddedBox(1), createEmbeddedBox(2), createEmbeddedBox(4)]);
	const bin = path.join(here.home, 'bin');
	makeStubSsh(bin, {near, far});
	environment = {PATH: `${bin}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'near,far'};
});

afterEach(() => {
	for (const box of [here, near, far]) {
		box.remove();
	}
});

const holders = async (box: Box): Promise<number> => {
	const {gpus} = await peek(box);
	return gpus.filter(({kind}) => kind === 'leased').length;
};

test('reserve, extend, queue and release with --on act only on the named host and print the output of that host', async () => {
	const reserved = await here.run(['reserve', '--on', 'far', '-g2', '-d', '1h', '-n', 'it\'s "$HOME"\tü'], environment);
	expect(reserved).toEqual({
		exitCode: 0,
		stdout: 'Reserved 2 GPU(s): [0 1] for 1h 0m 0s\n\nTo use them here:\nexport CUDA_VISIBLE_DEVICES=0,1\n',
		stderr: 'canhazgpu: these GPUs are on far, so use them there: ssh far\n',
	});
	const [first] = (await peek(far)).gpus;
	expect(first).toMatchObject({kind: 'leased', lease: {note: 'it\'s "$HOME"\tü'}});
	expect(await holders(here)).toBe(0);
	expect((await here.run('extend --on far -d 30m --json', environment)).exitCode).toBe(0);
	expect(JSON.parse((await here.run('queue --on=far --json', environment)).stdout)).toMatchObject({total_waiting: 0});
	expect(await here.run('reserve --on far --nonblock -g 3', environment)).toMatchObject({exitCode: 3, stdout: ''});
	expect(await here.run('release --on far', environment)).toMatchObject({
		exitCode: 0,
		stdout: 'Released 2 GPU(s): [0 1]\n',
	});
	expect(await holders(far)).toBe(0);
});

test('release --on expands a range of GPU ids, because an older version on the other host may not understand ranges', async () => {
	const bin = path.join(here.home, 'earlier');
	mkdirSync(bin);
	writeFileSync(path.join(bin, 'ssh'), '#!/bin/sh\nfor script; do :; done\nexec sh -c "$script"\n', {mode: 0o755});
	writeFileSync(path.join(bin, 'canhazgpu'), '#!/bin/sh\necho "$@"\n', {mode: 0o755});
	const {stdout} = await here.run('release --on far --gpu-ids 0-2,7,3:1', {PATH: `${bin}:${environment['PATH']!}`});
	expect(stdout).toBe('release --gpu-ids=0,1,2,7,3:1\n');
});

slowTest('--short=false and --nonblock=false override the config file of the other host', async () => {
	writeFileSync(path.join(far.home, '.canhazgpu.yaml'), 'reserve: {short: true}\nrun: {nonblock: true, quiet: true}\n');
	const reserve = 'reserve --on far -g 4 -d 1h';
	expect((await here.run(reserve, environment)).stdout).toBe('0,1,2,3\n');
	await here.run('release --on far', environment);
	expect((await here.run(`${reserve} --short=false`, environment)).stdout).toMatch(
		/^Reserved 4 GPU\(s\): \[0 1 2 3\]/v,
	);
	const run = await here.run('run --on far --nonblock=false --wait 1s --quiet=false -- true', environment);
	expect(run).toMatchObject({exitCode: 3, stderr: expect.stringContaining('did not become free in time') as string});
});

slowTest('release and extend with --lease never change a later lease of the same GPUs', async () => {
	const idOf = async (): Promise<string> => {
		const {stdout} = await here.run('status --remote far --json', environment);
		return (JSON.parse(stdout) as ReadonlyArray<{lease_id?: string}>)[0]!.lease_id!;
	};

	await here.run('reserve --on far -G 0,1 -d 1h', environment);
	const first = await idOf();
	expect((await here.run('release --on far', environment)).exitCode).toBe(0);
	await here.run('reserve --on far -G 0,1 -d 1h', environment);
	const [record] = (await peek(far)).gpus;
	for (const [words, problem] of [
		[`release --on far --gpu-ids 0 --lease ${first}`, 'does not hold GPU 0'],
		[`release --on far --lease ${first}`, 'does not exist or has ended'],
		[`extend --on far --gpu-ids 0,1 --lease ${first} -d 1h`, 'does not hold GPUs 0,1'],
	] as const) {
		expect(await here.run(words, environment)).toEqual({
			exitCode: 1,
			stdout: '',
			stderr: `Error: Reservation "${first}" ${problem}\nNothing was changed. See the lease_id of each reservation: canhazgpu status --json\n`,
		});
	}

	expect((await peek(far)).gpus[0]).toEqual(record);
	const second = await idOf();
	expect(await here.run(`extend --on far --lease ${second} -G 2 -d 1h`, environment)).toMatchObject({
		exitCode: 1,
		stderr: expect.stringMatching(`^Error: Reservation "${second}" does not hold GPU 2\n`) as string,
	});
	expect(await here.run(`release --on far --lease ${second} -G 99`, environment)).toMatchObject({
		exitCode: 2,
		stderr: expect.stringMatching(/^Error: GPU 99 is out of range\n/v) as string,
	});
	expect((await here.run(`extend --on far --lease ${second} -d 1h`, environment)).stdout).toMatch(
		/^Extended 2 GPU\(s\): \[0 1\]\n/v,
	);
	expect(await here.run(`release --on far --gpu-ids 1 --lease ${second}`, environment)).toEqual({
		exitCode: 0,
		stdout: 'Released 1 GPU(s): [1]\n',
		stderr: '',
	});
	expect(await here.run(`release --on far --lease ${second}`, environment)).toMatchObject({
		stdout: 'Released 1 GPU(s): [0]\n',
	});
	expect(await holders(far)).toBe(0);
});

test('run --on passes arguments, stdin and directory to the other host, and returns the exit code', async () => {
	const typed = ['two words', '', '$HOME `x`', 'line\nbreak', '-g', '--on', 'ü'];
	const script = 'pwd; printf "%s|" "$CUDA_VISIBLE_DEVICES" "$@"; cat; exit 7';
	const run = [starter, ...starterText, 'run', '--on', 'far', '--', 'sh', '-c', script, 'sh', ...typed];
	const {exitCode, stdout, stderr} = await start(here, ['-c', 'echo input | "$@"', 'sh', ...run], environment, [
		'/bin/sh',
	]).ended;
	expect({exitCode, stderr, stdout}).toEqual({
		exitCode: 7,
		stderr: '',
		stdout: `${here.home}\n0|${typed.join('|')}|input\n`,
	});
	expect(await holders(far)).toBe(0);
});

slowTest('run --on from a deleted directory starts in the home directory of the other host', async () => {
	const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
	const run = [starter, ...starterText, 'run', '--on', 'far', '--', 'pwd'];
	const ran = await start(here, ['-c', script, 'sh', ...run], environment, ['/bin/sh']).ended;
	expect(ran).toMatchObject({exitCode: 0, stdout: `${far.home}\n`});
});

slowTest('run --detach --on and wait --on say that commands for the job need --on', async () => {
	const remark = 'canhazgpu: commands for jobs on far need --on far, such as: canhazgpu logs --on far -f ID\n';
	const submit = async (words: string) => here.run(`run --detach --on far ${words}`, environment);
	const submitted = await submit('--quiet=false -- false');
	expect(submitted).toMatchObject({exitCode: 0, stdout: '1\n'});
	expect(submitted.stderr).toMatch(/^canhazgpu: job 1 is submitted\..*\nOutput file: .*\n/v);
	expect(submitted.stderr.endsWith(`\n${remark}`)).toBe(true);
	expect(await here.run('wait --on far 1', environment)).toEqual({
		exitCode: 1,
		stdout: '',
		stderr: `canhazgpu: job 1 failed with exit code 1. Its output: canhazgpu logs 1\n${remark}`,
	});
	expect(await submit('--quiet -- true')).toEqual({exitCode: 0, stdout: '2\n', stderr: ''});
	expect(await here.run('wait --on far 2', environment)).toEqual({exitCode: 0, stdout: '', stderr: ''});
});

slowTest('--on any does not add up the free GPUs of different nodes in a cluster', async () => {
	const program = path.join(near.home, 'installed/canhazgpu');
	const rows = Array.from({length: 8}, (_, index) => ({
		gpu_id: index,
		node: `box${index % 4}`,
		node_gpu_id: Math.floor(index / 4),
		status: 'AVAILABLE',
	}));
	writeFileSync(
		program,
		`#!/bin/sh\ncase "$*" in status*) echo '${JSON.stringify(rows)}';; queue*) echo '{}';; *) echo "$*"; esac\n`,
	);
	expect(await here.run('run --on any -g 2 -- true', environment)).toMatchObject({
		stderr: 'canhazgpu: using near: 2 GPU(s) are free there\n',
		stdout: 'run --gpus=2 -- true\n',
	});
	expect((await here.run('run --on any -g 3 -- true', environment)).stderr).toBe(
		'canhazgpu: using far: 4 GPU(s) are free there\n',
	);
});

slowTest('--on any does not count a GPU in MIG mode as a whole GPU, even if the GPU has no instances', async () => {
	const program = path.join(near.home, 'installed/canhazgpu');
	const split = [[{instance: 0, profile: '3g.40gb', uuid: 'MIG-a'}], []];
	const rows = split.map((instances, index) => ({gpu_id: index, status: 'AVAILABLE', mig_instances: instances}));
	writeFileSync(
		program,
		`#!/bin/sh\ncase "$*" in status*) echo '${JSON.stringify(rows)}';; queue*) echo '{}';; *) echo "$*"; esac\n`,
	);
	expect((await here.run('run --on any -g 2 -- true', environment)).stderr).toBe(
		'canhazgpu: using far: 4 GPU(s) are free there\n',
	);
});

slowTest(
	'--on any chooses the first host with enough free GPUs, or else the host that will have enough soonest',
	async () => {
		const taken = async (words: string) => {
			const {stderr, exitCode} = await here.run(words, environment);
			return [exitCode, stderr];
		};

		expect(await taken('reserve --on any -d 1h')).toEqual([
			0,
			expect.stringMatching(/^canhazgpu: using [^:]+: 1 GPU\(s\) are free there\n$/v),
		]);
		expect(await holders(here)).toBe(1);
		const said = (host: string, count: number) =>
			`canhazgpu: using ${host}: ${count} GPU(s) are free there\ncanhazgpu: these GPUs are on ${host}, so use them there: ssh ${host}\n`;
		expect(await taken('reserve --on any -g 2 -d 2h')).toEqual([0, said('near', 2)]);
		expect(await taken('reserve --on any -g 4 -d 3h')).toEqual([0, said('far', 4)]);
		expect(await taken('reserve --on any -g 2 --nonblock')).toEqual([
			3,
			expect.stringMatching(
				/^canhazgpu: using near: it should be the first with enough free GPUs, in about (?:1h 59m|2h 0m) \d+s\nError: /v,
			),
		]);
	},
);

slowTest('--on any prefers a host where the limit of the account leaves enough GPUs', async () => {
	const program = path.join(near.home, 'installed/canhazgpu');
	const rows = [0, 1, 2, 3].map((index) => ({gpu_id: index, status: 'AVAILABLE'}));
	const answerWith = (limit: unknown): void => {
		const queue = JSON.stringify({entries: [], own_limit: limit});
		writeFileSync(
			program,
			`#!/bin/sh\ncase "$*" in status*) echo '${JSON.stringify(rows)}';; queue*) echo '${queue}';; *) echo "$*"; esac\n`,
		);
	};

	const chosen = async (words: string) => (await here.run(words, environment)).stderr.split('\n', 1)[0];
	answerWith({max_gpus: 4, left_gpus: 1});
	expect(await chosen('run --on any -g 2 -- true')).toBe('canhazgpu: using far: 4 GPU(s) are free there');
	answerWith({max_gpus: 4, left_gpus: 2});
	expect(await chosen('run --on any -g 2 -- true')).toBe('canhazgpu: using near: 2 GPU(s) are free there');
	answerWith({max_gpus: 1, left_gpus: 1, slack: true});
	expect(await chosen('run --on any -g 2 -- true')).toBe('canhazgpu: using far: 4 GPU(s) are free there');
	expect(await chosen('reserve --on any -g 2')).toBe('canhazgpu: using near: 4 GPU(s) are free there');
	answerWith({max_gpus: 'many'});
	expect(await chosen('run --on any -g 2 -- true')).toBe('canhazgpu: using near: 4 GPU(s) are free there');
});

/** Replaces the program of `near`, which then has two free GPUs and prints its arguments. `queue` is the output of `queue --json`. */
function printArguments(queue = '{}'): void {
	const rows = [0, 1].map((index) => ({gpu_id: index, status: 'AVAILABLE', memory_total_mb: 81_920}));
	writeFileSync(
		path.join(near.home, 'installed/canhazgpu'),
		`#!/bin/sh\ncase "$*" in status*) echo '${JSON.stringify(rows)}';; queue*) echo '${queue}';; *) echo "$*"; esac\n`,
	);
}

test('--on passes a time of day as an instant, because the other host can be in another time zone', async () => {
	printArguments();
	const inIndia = {...environment, TZ: 'Asia/Kolkata'};
	const printed = async (words: string) => (await here.run(words, inIndia)).stdout;
	expect(await printed('extend --on near --until 2030-05-01T18:30')).toBe('extend --until=2030-05-01T13:00:00Z\n');
	expect(await printed('extend --on near --until 2030-05-01T18:30Z')).toBe('extend --until=2030-05-01T18:30:00Z\n');
	expect(await printed('run --on near --begin 2030-05-01 -- true')).toBe('run --begin=2030-04-30T18:30:00Z -- true\n');
	expect(await printed('run --on near --begin 2h -- true')).toBe('run --begin=2h -- true\n');
	expect(await here.run('extend --on near --until 18', inIndia)).toMatchObject({
		exitCode: 2,
		stdout: '',
		stderr: expect.stringContaining('Error: --until: "18" is not a time\n') as string,
	});
});

slowTest('--on any makes the chosen host use the settings by which the host was chosen', async () => {
	printArguments();
	writeFileSync(
		path.join(here.home, '.canhazgpu.yaml'),
		'run: {gpus: 2, nonblock: true, min-memory: 40G}\nreserve: {wait: 10m, gpu-ids: [0, 1]}\n',
	);
	const printed = async (words: string) => (await here.run(words, environment)).stdout;
	expect(await printed('run --on any -- true')).toBe('run --gpus=2 --min-memory=38146Mi --nonblock -- true\n');
	expect(await printed('run --on any -g 2 --nonblock=false --min-memory 1G -- true')).toBe(
		'run --gpus=2 --min-memory=1G --nonblock=false -- true\n',
	);
	expect(await printed('reserve --on any')).toMatch(/^reserve --gpus=2 --gpu-ids=0,1 --wait=(?:600|59\d)s\n$/v);
	expect(await printed('run --on near -- true')).toBe('run -- true\n');
});

slowTest('--on any with --begin chooses the host at that time', async () => {
	const bin = path.join(here.home, 'noting');
	const asked = path.join(here.home, 'asked');
	makeStubSsh(bin, {near, far});
	const ssh = path.join(bin, 'ssh');
	writeFileSync(
		ssh,
		readFileSync(ssh, 'utf8').replace('shift 2\n', () => `shift 2\necho "$host" >> '${asked}'\n`),
	);
	const noting = {...environment, PATH: `${bin}:${here.environment['PATH']!}`};
	const words = ['run', '--on', 'any', '-g', '2', '--begin', '10s', '--', 'true'];
	const {ended} = start(here, words, noting);
	// Each host is asked for its status and its queue.
	await eventually(() => existsSync(asked) && readFileSync(asked, 'utf8').trim().split('\n').length >= 4);
	expect((await near.run('reserve -g 2 -d 1h')).exitCode).toBe(0);
	expect(await ended).toMatchObject({
		exitCode: 0,
		stderr: expect.stringMatching(
			/^canhazgpu: starts at \d\d:\d\d\ncanhazgpu: using far: 4 GPU\(s\) are free there\n$/v,
		) as string,
	});
	expect(await here.run('run --on any -g 9 --begin 1h -- true', environment)).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('Error: No host has 9 GPU(s) that fit the request\n') as string,
	});
});

slowTest('--on any skips a host where the requested time is longer than the limit of the account', async () => {
	const answer = JSON.stringify({entries: [], own_max_seconds: 1800});
	printArguments(answer);
	const chosen = async (words: string) => (await here.run(words, environment)).stderr.split('\n', 1)[0];
	expect(await chosen('reserve --on any -g 2 -d 1h')).toBe('canhazgpu: using far: 4 GPU(s) are free there');
	expect(await chosen('reserve --on any -g 2 -d 30m')).toBe('canhazgpu: using near: 2 GPU(s) are free there');
	const onlyNear = {...environment, CANHAZGPU_REMOTE_HOSTS: 'near'};
	expect((await here.run('run --on any -g 2 -t 1h -- true', onlyNear)).stderr).toMatch(
		/^Error: No host has 2 GPU\(s\) that fit the request\n.*; near: you can ask for at most 30m there\n$/v,
	);
});

slowTest('--on any prefers hosts in the order of remote_hosts and names the hosts that do not answer', async () => {
	const bin = path.join(here.home, 'slow');
	makeStubSsh(bin, {near, far});
	const ssh = path.join(bin, 'ssh');
	const stub = readFileSync(ssh, 'utf8');
	writeFileSync(ssh, stub.replace('shift 2\n', 'shift 2\n[ "$host" = near ] && sleep 1.5\n'));
	const slow = {PATH: `${bin}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'lost,gone,near,far'};
	expect((await here.run('reserve --on any -g 2 -d 1h', slow)).stderr).toBe(
		'canhazgpu: using near: 2 GPU(s) are free there\ncanhazgpu: skipped 2 hosts that did not answer, such as lost: ssh: connect to host lost port 22: No route to host\ncanhazgpu: these GPUs are on near, so use them there: ssh near\n',
	);
	expect((await here.run('reserve --on any -g 4 -d 1h', {...slow, CANHAZGPU_REMOTE_HOSTS: 'lost,far'})).stderr).toBe(
		'canhazgpu: using far: 4 GPU(s) are free there\ncanhazgpu: skipped lost: ssh: connect to host lost port 22: No route to host\ncanhazgpu: these GPUs are on far, so use them there: ssh far\n',
	);
});

slowTest('--on any fails with a reason for each host if no host can ever serve the request', async () => {
	const hosts = {...environment, CANHAZGPU_REMOTE_HOSTS: 'near,lost'};
	expect(await here.run('run --on any -g 3 -- true', hosts)).toEqual({
		exitCode: 2,
		stdout: '',
		stderr: expect.stringMatching(
			/^Error: No host has 3 GPU\(s\) that fit the request\n[^:]+: it has 1 GPU\(s\), but too few of them fit the request; near: it has 2 GPU\(s\), but too few of them fit the request; lost: ssh: connect to host lost port 22: No route to host\n$/v,
		) as string,
	});
});

slowTest('--on any exits with 4 if no host answers', async () => {
	const laptop = createBox();
	onTestFinished(laptop.remove);
	expect(await laptop.run('run --on any -- true', {...environment, CANHAZGPU_REMOTE_HOSTS: 'gone,lost'})).toEqual({
		exitCode: 4,
		stdout: '',
		stderr: expect.stringMatching(
			/^Error: No host reported its GPUs\ngone: ssh: .*; lost: ssh: connect to host lost port 22: No route to host\n$/v,
		) as string,
	});
});

slowTest('if a command has no flag --remote, --on or --host, the error suggests the right flag', async () => {
	expect((await here.run('status --on near', environment)).stderr).toContain('Did you mean --remote?');
	expect((await here.run('release --remote near', environment)).stderr).toContain('Did you mean --on?');
	expect((await here.run('run --host near -- true', environment)).stderr).toContain('Did you mean --on?');
});

slowTest('run --on any works on a computer without a pool', async () => {
	const laptop = createBox();
	onTestFinished(laptop.remove);
	const {exitCode, stdout, stderr} = await laptop.run('run --on any -- printenv CUDA_VISIBLE_DEVICES', environment);
	expect([exitCode, stdout]).toEqual([0, '0\n']);
	expect(stderr).toContain('canhazgpu: using near: 2 GPU(s) are free there\n');
});

test.each(
	firstCase<[string, number, string]>([
		['run --on near', 2, 'Error: run needs a command to run\n'],
		['run --on -oProxyCommand=x -- true', 2, 'Error: "-oProxyCommand=x" is not a host name\n'],
		['reserve --on a;b', 2, 'Error: "a;b" is not a host name\n'],
		['release --on near --lease a;b', 2, 'Error: --lease: "a;b" is not the id of a reservation\n'],
		[
			'release --on near --lease a -u b',
			2,
			'Error: --lease and --user cannot be combined: --lease already names one reservation\n',
		],
		['extend --on near --lease a -G 0:1 -d 1h', 2, 'Error: --lease cannot be combined with MIG instances in --gp'],
		['run --on any --share 8G -- true', 2, 'Error: --on any cannot be combined with --share\nName one host.'],
		['release --on any', 2, 'Error: release needs the name of a host: --on any works only with run and reserve\n'],
		[
			'reserve --on near --redis-port 7000',
			2,
			'Error: --redis-port cannot be combined with --on, because it applies only to this host\n',
		],
		['reserve --on lost', 255, 'ssh: connect to host lost port 22: No route to host\n'],
		['reserve --on near -g 9', 2, 'Error: Cannot reserve 9 GPUs: the pool has 2\n'],
	]),
)('%s exits with %i and explains why', async (words, exitCode, message) => {
	const ran = await here.run(words, environment);
	expect([ran.exitCode, ran.stdout, ran.stderr.slice(0, message.length)]).toEqual([exitCode, '', message]);
	expect(await holders(near)).toBe(0);
});

const unreached = 'ssh: connect to host lost port 22: No route to host\n';

test.each(
	firstCase<[string, string]>([
		[
			'release --on lost',
			`${unreached}canhazgpu: lost was not reached, or the connection ended. To see why: canhazgpu status --remote lost\n`,
		],
		[
			'queue --on lost',
			`${unreached}canhazgpu: lost was not reached, or the connection ended. To see why: canhazgpu status --remote lost\n`,
		],
		[
			'run --on lost -- true',
			`${unreached}canhazgpu: lost was not reached, the connection ended, or the command ended with exit code 255. To check whether the host answers: canhazgpu status --remote lost\n`,
		],
		[
			'run --on far -- sh -c exit\u{A0}255',
			'canhazgpu: the connection to far was lost, or the command ended with exit code 255. The command may still be running there. To check: canhazgpu status --remote far\n',
		],
	]),
)('%s exits with 255, names the host and suggests a command', async (words, stderr) => {
	const typed = words.split(' ').map((word) => word.replace('\u{A0}', ' '));
	expect(await here.run(typed, environment)).toEqual({exitCode: 255, stdout: '', stderr});
	expect(await holders(far)).toBe(0);
});

test('--on says where canhazgpu must be installed if the other host does not have it', async () => {
	rmSync(path.join(far.home, 'installed'), {recursive: true});
	for (const words of ['run --on far -- true', 'release --on far']) {
		expect(await here.run(words, environment)).toEqual({
			exitCode: 127,
			stdout: '',
			stderr:
				"Error: canhazgpu is not installed on far\nIt must be in the PATH of a login without a terminal: ssh far 'command -v canhazgpu'\n",
		});
	}
});

slowTest('queue --all shows the queue of each host and names the hosts that do not answer', async () => {
	await far.run('reserve -g 4 -d 1h');
	const waiter = start(far, ['reserve', '-g', '2', '--note', 'tonight \u{1B}[31m', '-d', '1h'], {});
	await eventually(async () => (await peek(far)).queue.length === 1);
	const hosts = {...environment, CANHAZGPU_REMOTE_HOSTS: 'near,far,lost'};
	const table = await here.run('queue --all', hosts);
	expect(table.exitCode).toBe(0);
	const lines = table.stdout.split('\n').filter((line) => / far |✗ lost/v.test(line));
	expect(lines[0]).toMatch(
		/ far +│ 1 │ \S+ +│ 2 GPU\(s\) +│ 0\/2 │ 0h 0m \d+s │ in about (?:1h 0m \d+s|0h 59m \d+s) +│ tonight$/v,
	);
	expect(lines[1]).toBe('✗ lost: ssh: connect to host lost port 22: No route to host');
	expect(table.stdout).not.toContain('\u{1B}');
	const json = JSON.parse((await here.run('queue --all --json', hosts)).stdout) as Record<string, unknown>;
	expect(Object.values(json)).toMatchObject([
		[],
		[],
		[{requested_count: 2}],
		{error: 'lost: ssh: connect to host lost port 22: No route to host'},
	]);
	expect(await here.run('queue --all --leave 3', hosts)).toMatchObject({exitCode: 2, stdout: ''});
	waiter.kill('SIGTERM');
	await waiter.ended;
});

slowTest('--on any suggests the setting remote_hosts if no other hosts are configured', async () => {
	const {exitCode, stderr} = await here.run('run --on any -- true', {...environment, CANHAZGPU_REMOTE_HOSTS: ''});
	expect([exitCode, stderr]).toEqual([
		2,
		'Error: --on any needs other hosts to choose from\nName them in the setting remote_hosts, such as: remote_hosts: [gpu-box-2, alice@gpu-box-3]\n',
	]);
});

/** Returns the pid of the ssh process that this process has started. */
const sshOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

test.each(firstCase(['SIGTERM to the local program', 'SIGKILL to the local program', 'the end of the ssh connection']))(
	'%s ends the waiting request or the job on the other host and releases its GPUs',
	async (end) => {
		await far.run('reserve -g 3 -d 1h');
		const job = start(here, ['run', '--on', 'far', '--', 'sleep', '300'], environment);
		await eventually(async () => (await holders(far)) === 4);
		const waiter = start(here, 'run --on far -g 2 -- true', environment);
		await eventually(async () => (await peek(far)).queue.length === 1);
		for (const each of [waiter, job]) {
			if (end.startsWith('SIG')) {
				each.kill(end.startsWith('SIGTERM') ? 'SIGTERM' : 'SIGKILL');
			} else {
				process.kill(sshOf(each.pid), 'SIGKILL');
			}
		}

		const codes = await Promise.all([waiter.ended, job.ended]);
		const code = end.startsWith('SIGTERM') ? 143 : end.startsWith('SIGKILL') ? undefined : 137;
		expect(codes.map(({exitCode}) => exitCode)).toEqual([code, code]);
		await eventually(async () => (await holders(far)) === 3 && (await peek(far)).queue.length === 0);
	},
);

slowTest('wait, logs --follow and cancel with --on run until the command on the other host ends', async () => {
	const submit = async (script: string): Promise<string> =>
		(await far.run(['run', '--detach', '--quiet', '--', 'sh', '-c', script])).stdout.trim();
	const long = await submit('sleep 40; echo done; exit 4');
	const stubborn = await submit("trap '' TERM; echo ready; while :; do sleep 1; done");
	await eventually(async () => (await far.run(['logs', stubborn])).stdout === 'ready\n');
	const [waited, followed, cancelled] = await Promise.all([
		here.run(['wait', '--on', 'far', long], environment),
		here.run(['logs', '--on', 'far', '-f', long], environment),
		here.run(['cancel', '--on', 'far', stubborn], environment),
	]);
	expect(waited.exitCode).toBe(4);
	expect(followed).toMatchObject({exitCode: 0, stdout: 'done\n'});
	expect(cancelled).toMatchObject({exitCode: 0, stdout: `Cancelled job ${stubborn}\n`});
});

slowTest(
	'--on any moves a waiting request to a host with enough free GPUs, unless the request already holds a GPU',
	async () => {
		await Promise.all([near.run('reserve -g 2 -d 1h'), far.run('reserve -g 4 -d 2h')]);
		const run = ['run', '--on', 'any', '-g', '2', '--', 'printenv', 'CUDA_VISIBLE_DEVICES', 'CANHAZGPU_QUEUE_ENTRY'];
		const waiter = start(here, run, environment);
		await eventually(async () => (await peek(near)).queue.length === 1);
		// The request now holds one of two GPUs, so it stays.
		await near.run('release -G 0');
		await eventually(async () => (await peek(near)).gpus.every(({kind}) => kind === 'leased'));
		await far.run('release');
		await new Promise((resolve) => {
			setTimeout(resolve, 15_000);
		});
		expect([(await peek(near)).queue.length, await holders(far)]).toEqual([1, 0]);
		await near.run('release -G 1');
		const {exitCode, stdout} = await waiter.ended;
		// The job must not inherit the variable with the id of the queue entry.
		expect([exitCode, stdout]).toEqual([1, '0,1\n']);

		await near.run('reserve -g 2 -d 1h');
		await far.run('reserve -g 4 -d 2h');
		const mover = start(here, run, environment);
		await eventually(async () => (await peek(near)).queue.length === 1);
		await far.run('release');
		const moved = await mover.ended;
		expect([moved.exitCode, moved.stdout]).toEqual([1, '0,1\n']);
		expect(moved.stderr).toMatch(
			/canhazgpu: this request was removed from the queue of this host, and holds no GPUs here\ncanhazgpu: moving to far: enough GPUs are free there now\n/v,
		);
		expect([(await peek(near)).queue.length, await holders(far), await holders(near)]).toEqual([0, 0, 2]);
	},
);

slowTest(
	'if run --on any is killed while moving to another host, no queue entry and no reservation are left',
	async () => {
		await Promise.all([near.run('reserve -g 2 -d 1h'), far.run('reserve -g 4 -d 2h')]);
		const mover = start(here, ['run', '--on', 'any', '-g', '2', '--', 'sleep', '300'], environment);
		await eventually(async () => (await peek(near)).queue.length === 1);
		await far.run('release');
		await eventually(async () => (await peek(near)).queue.length === 0);
		mover.kill('SIGKILL');
		await mover.ended;
		await eventually(async () => (await peek(far)).queue.length === 0 && (await holders(far)) === 0);
		expect((await peek(near)).queue).toEqual([]);
	},
);
