/** Isolation for an account other than root, with the real bubblewrap, real namespaces and fake device nodes. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {findBubblewrap} from '../../_helpers/packages/find-bubblewrap.js';
import {
	canMakeDevices,
	makeAmdDevices,
	makeNvidiaDevices,
	type StandIn,
} from '../../_helpers/machine/stand-in-devices.js';
import type {DriverAnswer, DriverRequest} from './_driver.js';
import {answersOf, buildDriver, driverIn, openedIn, openScript, tellParent, tryAll} from './_driving.js';

/** An account without an entry in /etc/passwd. */
const uid = 54_321;

const bwrap = findBubblewrap()!;
let directory: string;
let box: StandIn;
const roots: string[] = [];

const devicesOf = (...parameters: Parameters<typeof makeNvidiaDevices>): StandIn => {
	const made = makeNvidiaDevices(...parameters);
	roots.push(made.root);
	return made;
};

beforeAll(async () => {
	if (!canMakeDevices()) {
		return;
	}

	directory = mkdtempSync(path.join(tmpdir(), 'isolation-'));
	await buildDriver(directory);
	box = devicesOf([2, 0, 3, 1]);
});

afterAll(() => {
	for (const made of [directory, ...roots]) {
		rmSync(made, {recursive: true, force: true});
	}
});

/**
Shell lines that print `no process` as soon as no process of this machine has $TEXT in its arguments. They give up after $patience attempts. Only
processes of this test can have such an argument.
*/
const awaitNoWordsWith = String.raw`
	runs() {
		for process in /proc/[0-9]*; do
			case $({ tr '\0' ' ' <$process/cmdline; } 2>/dev/null) in *"$TEXT"*) return 0;; esac
		done
		return 1
	}
	left=${'$'}{patience:-200}
	while runs; do
		left=$((left - 1))
		[ $left -gt 0 ] || exit 1
		sleep 0.05
	done
	echo no process`;

type Options = {
	/** A command prefix that starts the driver, for example under another account. */
	readonly before?: readonly string[];
	readonly account?: number;
	readonly cwd?: string;
};

/** Runs one driver, and returns its answers in the order of the requests. */
async function ask(
	requests: readonly DriverRequest[],
	{before = [], account = uid, cwd = '/'}: Options = {},
): Promise<readonly DriverAnswer[]> {
	const [program, ...words] = [...before, ...driverIn(directory)];
	const child = spawn(program, words, {
		uid: account,
		gid: account,
		cwd,
		env: {PATH: `${path.dirname(bwrap)}:/usr/bin:/bin`},
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	return answersOf(child, requests);
}

describe.runIf(canMakeDevices())('isolation for an account other than root', () => {
	test('lets a job open only the device nodes of its GPUs and those that all GPUs share', async () => {
		const sets = Array.from({length: 14}, (_, position) =>
			// eslint-disable-next-line no-bitwise -- each number is a set
			[0, 1, 2, 3].filter((index) => ((position + 1) & (1 << index)) !== 0),
		);
		const answers = await ask(
			sets.map((granted) => ({
				root: box.root,
				granted: granted.map((index) => ({index, pciBusId: box.gpus[index]!.pciBusId})),
				command: tryAll(box),
			})),
		);
		expect(answers.map((answer) => openedIn(box, answer))).toEqual(
			sets.map((granted) => [...granted.flatMap((index) => box.gpus[index]!.nodes), ...box.common].toSorted()),
		);
	});

	test('hides the device nodes of other AMD GPUs, because ROCm fails at an unreadable node', async () => {
		const amd = makeAmdDevices(3);
		roots.push(amd.root);
		const [answer, list] = await ask(
			[tryAll(amd), ['ls', path.join(amd.root, 'dev/dri'), path.join(amd.root, 'dev/dri/by-path')]].map((command) => ({
				root: amd.root,
				granted: [{index: 1, pciBusId: amd.gpus[1]!.pciBusId}],
				command,
			})),
		);
		expect(openedIn(amd, answer!)).toEqual([...amd.gpus[1]!.nodes, ...amd.common].toSorted());
		expect(list!.output!.match(/(?:card|renderD)\d+$|pci-.*$/gmv)).toEqual([
			'card0',
			'card2',
			'renderD129',
			'pci-0000:02:00.0-card',
			'pci-0000:02:00.0-render',
			'pci-0000:f0:00.0-card',
		]);
	});

	test('finds the device of a GPU by UUID if its PCI address is unknown', async () => {
		const [answer] = await ask([
			{root: box.root, granted: [{index: 1, uuid: box.gpus[1]!.uuid}], command: tryAll(box)},
		]);
		expect(openedIn(box, answer!)).toEqual([...box.gpus[1]!.nodes, ...box.common].toSorted());
	});

	test('denies the device nodes of other MIG instances of the same GPU', async () => {
		const mig = devicesOf([1, 0], {0: [1, 2], 1: [1]});
		const [first, second] = mig.gpus;
		const [answer] = await ask([
			{
				root: mig.root,
				granted: [{index: 0, pciBusId: first!.pciBusId, parts: [{gpuInstanceId: 2, computeInstanceId: 0}]}],
				command: tryAll(mig),
			},
		]);
		const others = new Set([...first!.nodes.slice(3, 5), ...second!.nodes]);
		const all = [...mig.gpus.flatMap(({nodes}) => nodes), ...mig.common];
		expect(openedIn(mig, answer!)).toEqual(all.filter((node) => !others.has(node)).toSorted());
	});

	test('is skipped if all GPUs of the machine are granted', async () => {
		const granted = box.gpus.map(({pciBusId}, index) => ({index, pciBusId}));
		const [answer] = await ask([{root: box.root, granted, command: tryAll(box), path: '/nowhere:/usr/bin:/bin'}]);
		expect(answer!.entrance).toBe(0);
	});

	const one = () => ({root: box.root, granted: [{index: 0, pciBusId: box.gpus[0]!.pciBusId}]});

	test('keeps exit codes, signals, process ids and terminals', async () => {
		const codes = await ask(
			['exit 0', 'exit 1', 'exit 77', 'exit 130', 'kill -INT $$', 'kill -KILL $$', 'kill -SEGV $$'].map((command) => ({
				...one(),
				command: ['sh', '-c', command],
			})),
		);
		expect(codes.map(({end}) => end)).toEqual([0, 1, 77, 130, 'SIGINT', 'SIGKILL', 'SIGSEGV']);
		const [plain] = await ask([{...one(), command: ['sh', '-c', `readlink /proc/self/ns/pid; ${tellParent}; pwd`]}], {
			cwd: directory,
		});
		expect(plain!.output!.split('\n')).toEqual([
			expect.stringMatching(/^pid:\[\d+\]$/v),
			...driverIn(directory),
			directory,
			'',
		]);
	});

	test('lets a job open its own terminals', async () => {
		const [answer] = await ask([{...one(), command: ['script', '-qec', 'tty', '/dev/null']}]);
		expect(answer).toMatchObject({end: 0, output: expect.stringMatching(/^\/dev\/pts\/\d+/v) as string});
	});

	test('leaves no extra file descriptor in the job and no bubblewrap process', async () => {
		const command = ['sh', '-c', `for file in /proc/$$/fd/*; do basename "$file"; done; ${awaitNoWordsWith}`];
		// Only bubblewrap has the path of the hidden nodes in its arguments.
		const environment = {TEXT: box.root};
		const granted = box.gpus.map(({pciBusId}, index) => ({index, pciBusId}));
		const [isolated, plain] = await ask([
			{...one(), command, environment},
			// All GPUs are granted, so the command starts without bubblewrap.
			{root: box.root, granted, command, environment},
		]);
		expect([isolated!.entrance === 0, plain!.entrance === 0]).toEqual([false, true]);
		expect(plain!.output).toMatch(/^0\n1\n2\n(?:\d+\n)*no process\n$/v);
		expect(isolated!.output).toBe(plain!.output);
	});

	test('lets the job see other processes of the machine, so that the previous test can find a leftover bubblewrap', async () => {
		const leftOver = spawn('sh', ['-c', 'sleep 600; :', box.root], {stdio: 'ignore', detached: true});
		try {
			await once(leftOver, 'spawn');
			const command = ['sh', '-c', `patience=1; ${awaitNoWordsWith}`];
			const [answer] = await ask([{...one(), command, environment: {TEXT: box.root}}]);
			expect(answer!.output).toBe('');
		} finally {
			process.kill(-leftOver.pid!, 'SIGKILL');
		}
	});

	test.each([
		['no bubblewrap', () => ['sh', 'nsenter'], {kind: 'no-program', program: 'bwrap'}],
		['no nsenter', () => ['sh', 'bwrap'], {kind: 'no-program', program: 'nsenter'}],
	])('reports the reason if the machine has %s', async (_, names, problem) => {
		const bin = mkdtempSync(path.join(directory, 'bin-'));
		chmodSync(bin, 0o755);
		for (const name of names()) {
			symlinkSync(name === 'bwrap' ? bwrap : `/usr/bin/${name}`, path.join(bin, name));
		}

		const answers = await ask([
			{...one(), command: ['true'], path: bin},
			{granted: [], path: bin},
		]);
		expect(answers).toEqual([{problem}, {problem}]);
	});

	/** Creates a program named bubblewrap with this text, and returns a PATH that finds it first. */
	const pretended = (name: string, text: string): string => {
		const bin = path.join(directory, name);
		mkdirSync(bin);
		writeFileSync(path.join(bin, 'bwrap'), text, {mode: 0o755});
		return `${bin}:/usr/bin:/bin`;
	};

	test('detects a bubblewrap that isolates nothing', async () => {
		const search = pretended(
			'leaky',
			`#!/bin/bash\nwords=()\nwhile [ $# -gt 0 ]; do case $1 in --bind) shift 3;; --tmpfs) shift 2;; --dev-bind) words+=("$1" "$2" "$3"); shift 3;; --symlink) shift 3;; --dir) shift 2;; --) words+=("$@"); break;; *) words+=("$1"); shift;; esac; done\nexec ${bwrap} "\${words[@]}"\n`,
		);
		const [answer] = await ask([{...one(), command: ['true'], path: search}]);
		expect(answer).toEqual({
			problem: {kind: 'foreign-opens', device: expect.stringMatching(/\/dev\/nvidia[013]$/v) as string},
		});
	});

	test.each([
		['is killed', 'killed', 'kill -KILL $$', 'ended by a signal'],
		['refuses to start', 'refusing', 'echo "bwrap: No permissions" >&2; exit 1', 'bwrap: No permissions\n'],
		[
			'prints nonsense',
			'nonsense',
			'while [ "$1" != sh ]; do shift; done; echo $(($# - 2)); echo end; echo 4194999; read -r line',
			expect.stringContaining('ENOENT'),
		],
	])('reports the reason if bubblewrap %s', async (_, name, text, words) => {
		const search = pretended(name, `#!/bin/sh\n${text}\n`);
		const [answer] = await ask([{...one(), command: ['true'], path: search}]);
		expect(answer).toEqual({problem: {kind: 'refused', program: 'bwrap', words: words as unknown}});
	});

	test('reports a granted device that the account may not open', async () => {
		const broken = devicesOf([0, 1]);
		const node = path.join(broken.root, 'dev/nvidia0');
		chmodSync(node, 0);
		const granted = [{index: 0, pciBusId: broken.gpus[0]!.pciBusId}];
		expect(await ask([{root: broken.root, granted, command: ['true']}])).toEqual([
			{problem: {kind: 'granted-refuses', device: node}},
		]);
	});

	test('opens a device with group permissions for members of the group', async () => {
		const grouped = devicesOf([0, 1]);
		const node = path.join(grouped.root, 'dev/nvidia0');
		chownSync(node, 0, 44);
		chmodSync(node, 0o660);
		const request = {
			root: grouped.root,
			granted: [{index: 0, pciBusId: grouped.gpus[0]!.pciBusId}],
			command: ['sh', '-c', openScript, 'sh', node],
		};
		const before = ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--groups', '44'];
		expect(await ask([request], {account: 0, before})).toMatchObject([{output: `${node}\n`}]);
	});

	test('fails if the device of a granted GPU cannot be determined', async () => {
		const granted = [{index: 2, pciBusId: '00000000:77:00.0'}];
		expect(
			await ask([
				{root: box.root, granted, command: ['true']},
				{root: directory, granted, command: ['true']},
				{granted, command: ['true']},
			]),
		).toEqual([
			{problem: {kind: 'unknown-device', gpu: 2}},
			{problem: {kind: 'no-devices'}},
			{problem: {kind: 'simulated'}},
		]);
	});

	test('reports the kernel setting that forbids user namespaces', async () => {
		const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
		const problem = {
			kind: 'no-namespaces',
			settings: [{name: 'user.max_user_namespaces', value: '0', wanted: '15000'}],
		};
		expect(
			await ask([{...one(), command: ['true']}, {granted: []}], {
				before: ['unshare', '--user', '--map-root-user', 'sh', '-c', forbid, 'sh'],
			}),
		).toEqual([{problem}, {problem}]);
	});

	test('reports a deleted working directory', async () => {
		const gone = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
		const place = path.join(tmpdir(), `gone-${process.pid}`);
		const answers = await ask([{...one(), command: ['true']}], {
			before: ['sh', '-c', gone, `/tmp/${path.basename(place)}`],
		});
		expect(answers).toEqual([{problem: {kind: 'no-directory'}}]);
		expect(await ask([{granted: []}])).toEqual([{fence: 'bwrap'}]);
	});
});

test.runIf(canMakeDevices())(
	'an isolated job of root can use all uids, because root needs no user namespace',
	async () => {
		const granted = [{index: 3, pciBusId: box.gpus[3]!.pciBusId}];
		const [opened, map] = await ask(
			[
				{root: box.root, granted, command: tryAll(box)},
				{root: box.root, granted, command: ['cat', '/proc/self/uid_map']},
			],
			{account: 0},
		);
		expect(openedIn(box, opened!)).toEqual([...box.gpus[3]!.nodes, ...box.common].toSorted());
		expect(map!.output!.trim().split(/\s+/v)).toEqual(['0', '0', '4294967295']);
	},
);
