/**
Every isolation method, run as root: bubblewrap, a systemd scope, and a control group of version 1. Each fake GPU node has its own device number,
because a control group denies devices by number.
*/
import {spawn, spawnSync} from 'node:child_process';
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {fences, type Fence} from '../../../source/core/model/isolation.js';
import {controlGroupsOf} from '../../../source/host/isolation/control-groups.js';
import {eventually} from '../../_helpers/eventually.js';
import {findBubblewrap} from '../../_helpers/packages/find-bubblewrap.js';
import {canMakeDevices, makeNvidiaDevices, type StandIn} from '../../_helpers/machine/stand-in-devices.js';
import {hasSystemd, startSystemd, type Systemd} from '../../_helpers/machine/systemd.js';
import type {DriverAnswer, DriverRequest} from './_driver.js';
import {answersOf, buildDriver, driverIn, openedIn, openScript, tellParent, tryAll} from './_driving.js';

const isRoot = canMakeDevices();
const bwrap = findBubblewrap()!;

/** The parent of the tests' control groups, if version 1 is in use. */
const ownGroup = isRoot
	? controlGroupsOf('self').find(({controllers}) => controllers.includes('devices'))?.directory
	: undefined;
if (ownGroup === undefined) {
	console.warn('Tests are skipped that need root and control groups of version 1 for devices');
}

const there: readonly Fence[] = fences.filter((fence) =>
	fence === 'bwrap' ? isRoot : fence === 'systemd' ? hasSystemd() : ownGroup !== undefined,
);

let directory: string;
let box: StandIn;
let split: StandIn;
/** Fake devices that all have the same device number, so a control group denies all of them or none. */
let same: StandIn;
let systemd: Systemd | undefined;

beforeAll(async () => {
	if (!isRoot) {
		return;
	}

	directory = mkdtempSync(path.join(tmpdir(), 'fences-'));
	await buildDriver(directory);
	box = makeNvidiaDevices([2, 0, 3, 1], {}, {hasOwnNumbers: true});
	split = makeNvidiaDevices([1, 0], {0: [1, 2], 1: [1]}, {hasOwnNumbers: true});
	same = makeNvidiaDevices([0, 1]);
	systemd = there.includes('systemd') ? await startSystemd([directory, box.root, split.root, same.root]) : undefined;
});

afterAll(async () => {
	await systemd?.stop();
	for (const made of isRoot ? [directory, box.root, split.root, same.root] : []) {
		rmSync(made, {recursive: true, force: true});
	}
});

type Options = {readonly cwd?: string; readonly account?: number};

function startDriver(fence: Fence, {cwd = '/', account = 0}: Options = {}) {
	const [program, ...words] = [
		...(fence === 'systemd' ? systemd!.entrance : []),
		...(account === 0 ? [] : ['setpriv', '--reuid', String(account), '--regid', String(account), '--clear-groups']),
		'env',
		'-C',
		cwd,
		...driverIn(directory),
	];
	return spawn(program, words, {
		env: {PATH: `${path.dirname(bwrap)}:/usr/bin:/bin:/usr/sbin:/sbin`},
		stdio: ['pipe', 'pipe', 'inherit'],
	});
}

async function ask(
	fence: Fence,
	requests: readonly DriverRequest[],
	options: Options = {},
): Promise<readonly DriverAnswer[]> {
	const child = startDriver(fence, options);
	return answersOf(
		child,
		requests.map((request) => ({fence, ...request})),
	);
}

/** Device nodes that every program needs and that must stay accessible. */
const plain = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'shm'].map((name) => `/dev/${name}`);

const one = () => ({root: box.root, granted: [{index: 0, pciBusId: box.gpus[0]!.pciBusId}]});

/** Returns the number of control groups that a process has created. */
const groupsOf = (fence: Fence, pid: string): number => {
	const parent = fence === 'cgroup' ? ownGroup! : path.join(systemd!.directory, 'system.slice');
	return existsSync(parent) ? readdirSync(parent).filter((name) => name.startsWith(`canhazgpu-${pid}-`)).length : 0;
};

/** Sends a signal to a process in an isolated job, which may have its own pid namespace. Signal 0 checks whether the process exists. */
const isSent = (fence: Fence, pid: string, signal: 'KILL' | '0'): boolean => {
	const [program, ...words] = [...(fence === 'systemd' ? systemd!.entrance : []), 'kill', `-${signal}`, pid];
	return spawnSync(program, words).status === 0;
};

describe.each(there)('isolation by %s', (fence) => {
	test('lets a job open only the device nodes of its GPUs and those that all GPUs share', async () => {
		const sets = Array.from({length: 14}, (_, position) =>
			// eslint-disable-next-line no-bitwise -- each number is a set
			[0, 1, 2, 3].filter((index) => ((position + 1) & (1 << index)) !== 0),
		);
		const answers = await ask(
			fence,
			sets.map((granted) => ({
				root: box.root,
				granted: granted.map((index) => ({index, pciBusId: box.gpus[index]!.pciBusId})),
				command: tryAll(box),
			})),
		);
		expect(answers.map(({problem, fence: by}) => problem ?? by)).toEqual(sets.map(() => fence));
		expect(answers.map((answer) => openedIn(box, answer))).toEqual(
			sets.map((granted) => [...granted.flatMap((index) => box.gpus[index]!.nodes), ...box.common].toSorted()),
		);
	});

	test('denies the device nodes of other MIG instances of the same GPU', async () => {
		const [first, second] = split.gpus;
		const [answer] = await ask(fence, [
			{
				root: split.root,
				granted: [{index: 0, pciBusId: first!.pciBusId, parts: [{gpuInstanceId: 2, computeInstanceId: 0}]}],
				command: tryAll(split),
			},
		]);
		const others = new Set([...first!.nodes.slice(3, 5), ...second!.nodes]);
		const all = [...split.gpus.flatMap(({nodes}) => nodes), ...split.common];
		expect(openedIn(split, answer!)).toEqual(all.filter((node) => !others.has(node)).toSorted());
	});

	test.skipIf(fence === 'bwrap')("forbids a job to copy another GPU's device node or to open a copy", async () => {
		const other = path.join(directory, `other-${fence}`);
		const foreign = path.join(box.root, box.gpus[1]!.nodes[0]!);
		const made = spawnSync('sh', ['-c', 'mknod "$0" c $(stat -c "0x%t 0x%T" "$1")', other, foreign], {
			encoding: 'utf8',
		});
		expect(made).toMatchObject({status: 0, stderr: ''});
		const making =
			'mknod "$0.new" c $(stat -c "0x%t 0x%T" "$0") 2>/dev/null && echo made; (: < "$0") 2>/dev/null && echo opened';
		const granted = box.gpus.map(({pciBusId}, index) => ({index, pciBusId}));
		const [isolated, free] = await ask(fence, [
			{...one(), command: ['sh', '-c', making, other]},
			{root: box.root, granted, command: ['sh', '-c', making, other]},
		]);
		expect(isolated!.output).toBe('');
		expect(free!.output).toBe('made\nopened\n');
	});

	test('leaves other devices accessible, including terminals', async () => {
		const command = ['sh', '-c', openScript, 'sh', ...plain];
		const granted = box.gpus.map(({pciBusId}, index) => ({index, pciBusId}));
		const [isolated, free, terminal] = await ask(fence, [
			{...one(), command},
			{root: box.root, granted, command},
			{...one(), command: ['script', '-qec', 'tty', '/dev/null']},
		]);
		expect(free).toMatchObject({entrance: 0, output: expect.stringContaining('/dev/null\n/dev/zero\n') as string});
		expect(isolated!.output).toBe(free!.output);
		expect(terminal).toMatchObject({end: 0, output: expect.stringMatching(/^\/dev\/pts\/\d+/v) as string});
	});

	test('keeps exit codes, signals, the parent process, the directory and file descriptors', async () => {
		const codes = await ask(
			fence,
			['exit 0', 'exit 1', 'exit 77', 'exit 130', 'kill -INT $$', 'kill -KILL $$', 'kill -SEGV $$'].map((command) => ({
				...one(),
				command: ['sh', '-c', command],
			})),
		);
		expect(codes.map(({end}) => end)).toEqual([0, 1, 77, 130, 'SIGINT', 'SIGKILL', 'SIGSEGV']);
		const [answer] = await ask(
			fence,
			[
				{
					...one(),
					command: ['sh', '-c', `${tellParent}; pwd`],
				},
			],
			{cwd: directory},
		);
		expect(answer!.output!.split('\n')).toEqual([...driverIn(directory), directory, '']);
		const command = ['sh', '-c', 'for file in /proc/$$/fd/*; do basename "$file"; done'];
		const granted = box.gpus.map(({pciBusId}, index) => ({index, pciBusId}));
		const [isolated, free] = await ask(fence, [
			{...one(), command},
			{root: box.root, granted, command},
		]);
		expect(free!.output).toMatch(/^0\n1\n2\n/v);
		expect(isolated!.output).toBe(free!.output);
	});

	test('keeps the environment and the arguments unchanged', async () => {
		const environment = {
			'BASH_FUNC_greet%%': '() {  echo hello "$1"\n}',
			'a.b': ' x = "y" ',
			EMPTY: '',
			HOME: '/nowhere',
			PWD: '/',
		};
		const words = ['a b', '', '$HOME', "it's", '--', '-n', '*', 'x=y'];
		const [answer, own] = await ask(fence, [
			{...one(), environment, command: ['env', '-0']},
			{...one(), environment, command: ['printf', '<%s>', ...words]},
		]);
		const entries = answer!.output!.split('\0').filter((entry) => !/^(?:PATH|_|SHLVL|OLDPWD)=|^$/v.test(entry));
		expect(entries.toSorted()).toEqual(
			Object.entries(environment)
				.map((entry) => entry.join('='))
				.toSorted(),
		);
		expect(own!.output).toBe(words.map((word) => `<${word}>`).join(''));
	});

	test('reports a granted GPU that the isolated job cannot open', async () => {
		const granted = [{index: 0, pciBusId: same.gpus[0]!.pciBusId}];
		const [answer] = await ask(fence, [{root: same.root, granted, command: ['true']}]);
		if (fence === 'bwrap') {
			expect(answer).toMatchObject({fence: 'bwrap', end: 0});
		} else {
			expect(answer!.problem).toEqual({
				kind: 'granted-refuses',
				device: path.join(same.root, 'dev/nvidia0'),
			});
		}
	});

	test.skipIf(fence === 'bwrap')('removes its control group when the job has ended', async () => {
		const [answer] = await ask(fence, [{...one(), command: ['sh', '-c', 'echo $PPID; exit 3']}]);
		expect(answer!.end).toBe(3);
		const [pid = ''] = answer!.output!.split('\n', 1);
		expect(pid).toMatch(/^\d+$/v);
		await eventually(() => groupsOf(fence, pid) === 0);
	});

	test('is refused for an account other than root, except with bubblewrap', async () => {
		const [answer] = await ask(fence, [{...one(), command: ['true']}], {account: 54_321});
		expect(answer).toMatchObject(fence === 'bwrap' ? {fence, end: 0} : {problem: {kind: 'needs-root', fence}});
	});

	test('lasts until the end of the job even if `run` is killed', async () => {
		const files = path.join(directory, `killed-${fence}`);
		mkdirSync(files);
		const job = `cd ${files}; echo $PPID $$ > pid; until test -e go; do sleep 0.05; done; { ${openScript}; } > opened; echo done > end`;
		const driver = startDriver(fence);
		const request = {...one(), fence, command: ['sh', '-c', job, 'sh', ...tryAll(box).slice(4)]};
		driver.stdin.write(`${JSON.stringify(request)}\n`);
		const pids = (): readonly string[] => readFileSync(path.join(files, 'pid'), 'utf8').trim().split(' ');
		await eventually(() => pids().length === 2);
		const [wrapper, own] = pids() as [string, string];
		onTestFinished(() => {
			isSent(fence, own, 'KILL');
		});
		expect(isSent(fence, wrapper, 'KILL')).toBe(true);
		await eventually(() => !isSent(fence, wrapper, '0'));
		expect(isSent(fence, own, '0')).toBe(true);
		if (fence !== 'bwrap') {
			expect(groupsOf(fence, wrapper)).toBe(1);
		}

		writeFileSync(path.join(files, 'go'), '');
		await eventually(() => existsSync(path.join(files, 'end')));
		expect(openedIn(box, {output: readFileSync(path.join(files, 'opened'), 'utf8')})).toEqual(
			[...box.gpus[0]!.nodes, ...box.common].toSorted(),
		);
		if (fence === 'systemd') {
			await eventually(() => groupsOf(fence, wrapper) === 0);
		} else if (fence === 'cgroup') {
			// The control group of a killed `run` stays until the next process isolates a job.
			await eventually(async () => {
				await ask(fence, [{...one(), command: ['true']}]);
				return groupsOf(fence, wrapper) === 0;
			});
		}
	});
});

describe.runIf(isRoot)('the default isolation method', () => {
	/** A PATH without bubblewrap. */
	const poor = (): string => {
		const bin = mkdtempSync(path.join(directory, 'bin-'));
		for (const name of ['sh', 'nsenter', 'systemd-run', 'env', 'true']) {
			if (existsSync(`/usr/bin/${name}`)) {
				symlinkSync(`/usr/bin/${name}`, path.join(bin, name));
			}
		}

		return bin;
	};

	const unnamed = {fence: undefined};

	test.runIf(there.includes('systemd'))('is bubblewrap, or systemd if bubblewrap is missing', async () => {
		const answers = await ask('systemd', [
			{...one(), ...unnamed, command: ['true']},
			{...one(), ...unnamed, command: ['true'], path: poor()},
			{granted: [], ...unnamed},
			{granted: [], ...unnamed, path: poor()},
		]);
		expect(answers.map(({fence, problem}) => problem ?? fence)).toEqual(['bwrap', 'systemd', 'bwrap', 'systemd']);
	});

	const isBooted = existsSync('/run/systemd/system');

	test.runIf(there.includes('cgroup') && !isBooted)(
		'is a control group if bubblewrap is missing and systemd does not run',
		async () => {
			const answers = await ask('cgroup', [
				{...one(), ...unnamed, command: ['true'], path: poor()},
				{granted: [], ...unnamed, path: poor()},
				{...one(), fence: 'systemd', command: ['true']},
			]);
			expect(answers.map(({fence, problem}) => problem ?? fence)).toEqual([
				'cgroup',
				'cgroup',
				{
					kind: existsSync('/usr/bin/systemd-run') ? 'no-systemd' : 'no-program',
					...(!existsSync('/usr/bin/systemd-run') && {program: 'systemd-run'}),
				},
			]);
		},
	);
});
