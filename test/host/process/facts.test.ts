import {spawn} from 'node:child_process';
import process from 'node:process';
import * as fc from 'fast-check';
import {expect, onTestFinished, test, vi} from 'vitest';
import {createProcessDescriber} from '../../../source/host/process/details.js';
import {parseContainerId} from '../../../source/host/process/files.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {createUsers} from '../../../source/host/accounts/users.js';
import {eventually} from '../../_helpers/eventually.js';
import {createFiles, createFilesIn, everythingIsOf} from '../temporary.js';

const users = createUsers();
const id = '0123456789ab'.padEnd(64, 'c');
const other = 'f'.repeat(64);

const stat = ({ticks = 0, startTicks = 500, parent = 1, pages = 0} = {}) =>
	`5 (x) S ${parent} 1 1 0 -1 0 0 0 0 0 ${ticks} 0 0 0 20 0 1 0 ${startTicks} 999999 ${pages} 18446744073709551615\n`;

/** Builds an auxiliary vector of 64-bit little-endian words. Type 6 is the page size, and type 0 ends the vector. */
const vector = (...words: readonly number[]) => words.map((word) => String.fromCodePoint(...bytesOf(word))).join('');

const bytesOf = (word: number) => Array.from({length: 8}, (_, index) => Math.floor(word / 256 ** index) % 256);

test('process details include start, parent, memory and container from /proc', async () => {
	const procDirectory = await createFiles({
		stat: 'cpu  1 2 3\nintr 5\nbtime 1700000000\nprocesses 9\n',
		// The page size is the largest one of ARM.
		'self/auxv': vector(33, 4096, 6, 65_536, 0, 0),
		'5/stat': stat({parent: 4, pages: 3200}),
		'5/status': 'Name:\tx\nUid:\t0\t1\t1\t1\n',
		'5/cgroup': `0::/system.slice/docker-${id}.scope\n`,
	});
	const details = await createProcessDescriber({users, run: runTool, procDirectory, ownerOf: everythingIsOf(0)})([
		5, 3_999_999,
	]);
	expect(details.get(5)).toMatchObject({
		startTicks: 500,
		startTime: 1_700_000_005,
		parentPid: 4,
		user: 'root',
		hostMemoryMiB: 200,
		containerId: '0123456789ab',
	});
	// A hidden process has no details, which is not an error.
	expect(details.has(3_999_999)).toBe(false);
});

test('a kernel thread has no memory, and the first process of a namespace has no parent', async () => {
	const procDirectory = await createFiles({'5/stat': stat({parent: 0}), '5/status': 'Uid:\t0\t0\t0\t0\n'});
	const details = await createProcessDescriber({users, run: runTool, procDirectory, ownerOf: everythingIsOf(0)})([5]);
	expect(details.get(5)).toMatchObject({parentPid: undefined, hostMemoryMiB: undefined, startTime: undefined});
});

test('the memory of a process is unknown if the page size is unknown', async () => {
	for (const auxv of ['', vector(33, 4096, 0, 0), vector(6, 4096).slice(0, 15)]) {
		const procDirectory = await createFiles({'self/auxv': auxv, '5/stat': stat({pages: 3200}), '5/status': ''});
		const details = await createProcessDescriber({users, run: runTool, procDirectory, ownerOf: everythingIsOf(1)})([5]);
		expect(details.get(5)).toMatchObject({startTicks: 500, hostMemoryMiB: undefined});
	}
});

test('hostMemoryMiB of this process equals the value of process.memoryUsage', async () => {
	const details = await createProcessDescriber({users, run: runTool})([process.pid]);
	expect(details.get(process.pid)?.hostMemoryMiB).toBeCloseTo(process.memoryUsage.rss() / 1024 ** 2, -2);
});

test('the processor use of a process covers the time since the previous call', async () => {
	const procDirectory = await createFiles({'5/stat': stat(), '5/status': ''});
	let now = 0;
	const run = async () => ({stdout: '', stderr: ''});
	const ask = createProcessDescriber({users, run, procDirectory, ownerOf: everythingIsOf(0), monotonicMs: () => now});
	const cpuAt = async (atMs: number, text: string) => {
		now = atMs;
		await createFilesIn(procDirectory, {'5/stat': text});
		const details = await ask([5]);
		return details.get(5)?.cpuPercent;
	};

	expect(await cpuAt(0, stat({ticks: 1000}))).toBeUndefined();
	// The process used 6.24 s of processor time within 2 s.
	expect(await cpuAt(2000, stat({ticks: 1624}))).toBe(312);
	// The interval is too short for a new value.
	expect(await cpuAt(2100, stat({ticks: 1624}))).toBe(312);
	expect(await cpuAt(4000, stat({ticks: 1624}))).toBe(0);
	// Another process has reused the pid.
	expect(await cpuAt(6000, stat({ticks: 3, startTicks: 900}))).toBeUndefined();
});

test('the processor use of a busy process is measured', async () => {
	const child = spawn('sh', ['-c', 'while :; do :; done'], {stdio: 'ignore'});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	const pid = child.pid ?? 0;
	const ask = createProcessDescriber({users, run: runTool});
	await eventually(async () => {
		const details = await ask([pid]);
		return (details.get(pid)?.cpuPercent ?? 0) > 5;
	});
});

test.each([
	['Docker on cgroup version 1', `12:pids:/docker/${id}\n1:name=systemd:/docker/${id}\n0::/\n`, '0123456789ab'],
	['Docker on cgroup version 2', `0::/system.slice/docker-${id}.scope\n`, '0123456789ab'],
	[
		'rootless Podman',
		`0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${id}.scope/container\n`,
		'0123456789ab',
	],
	["Podman's conmon process", `0::/user.slice/libpod-conmon-${id}.scope\n`, undefined],
	[
		'Kubernetes on cgroup version 1',
		`3:memory:/kubepods/burstable/pod0e7f3e4c-5d1b-4b7e-9a52-2f60a2cf4a10/${id}\n`,
		'0123456789ab',
	],
	[
		'containerd under Kubernetes',
		`0::/kubepods.slice/kubepods-pod0e7f3e4c_5d1b.slice/cri-containerd-${id}.scope\n`,
		'0123456789ab',
	],
	['containerd without systemd', `0::/kubepods-besteffort-pod1.slice:cri-containerd:${id}\n`, '0123456789ab'],
	['CRI-O', `0::/kubepods.slice/crio-${id}.scope\n`, '0123456789ab'],
	['a container in another container', `0::/docker/${other}/docker/${id}\n`, '0123456789ab'],
	['a container in a sibling namespace', `0::/../${id}\n`, '0123456789ab'],
	['a login session', '0::/user.slice/user-1000.slice/session-3.scope\n', undefined],
	['a name that is too long', `0::/docker/${id}0\n`, undefined],
	['an empty file', '', undefined],
])('parseContainerId reads the control group of %s', (_name, cgroup, expected) => {
	expect(parseContainerId(cgroup)).toBe(expected);
});

test('parseContainerId accepts any control group text', () => {
	fc.assert(
		fc.property(
			fc.oneof(
				fc.string(),
				fc.string().map((path) => `0::${path}/${id}.scope`),
			),
			(text) => {
				expect(parseContainerId(text) ?? '0123456789ab').toMatch(/^[\da-f]{12}$/v);
			},
		),
	);
});

test('describing 500 processes starts only one command', async () => {
	const files = Object.fromEntries(
		Array.from({length: 500}, (_, index) => index + 1000).flatMap((pid) => [
			[`${pid}/stat`, stat({parent: 7})],
			[`${pid}/status`, `Uid:\t${pid % 3}\t0\t0\t0\n`],
			[`${pid}/cmdline`, `job\0${pid}\0`],
		]),
	);
	const procDirectory = await createFiles({...files, '7/stat': stat({parent: 1}), '7/cmdline': 'shell\0'});
	const run = vi.fn(runTool);
	const nameOf = vi.fn(async (uid: number) => `user${uid}`);
	const ask = createProcessDescriber({users: {nameOf}, run, procDirectory, ownerOf: everythingIsOf(0)});
	const pids = Array.from({length: 1000}, (_, index) => 1000 + (index % 500));
	const details = await ask(pids);
	expect(details.size).toBe(500);
	expect(details.get(1499)).toMatchObject({user: 'user2', commandLine: 'job 1499', ancestors: ['shell']});
	expect(run).toHaveBeenCalledTimes(1);
	expect(nameOf).toHaveBeenCalledTimes(3);
});
