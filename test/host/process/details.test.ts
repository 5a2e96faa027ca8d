import {type ChildProcess, spawn} from 'node:child_process';
import process from 'node:process';
import {afterEach, expect, test, vi} from 'vitest';
import {createProcessDescriber} from '../../../source/host/process/details.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {createUsers} from '../../../source/host/accounts/users.js';
import {eventually} from '../../_helpers/eventually.js';
import {createFiles, createFilesIn, everythingIsOf} from '../temporary.js';

const users = createUsers();
const account = users.nameOfSync(process.getuid?.() ?? 0);
const describe = createProcessDescriber({users, run: runTool});

/** Returns a function that describes processes by the test's own files, as if root owned them. Root may act as any account. */
const describeIn = (procDirectory: string, options: Partial<Parameters<typeof createProcessDescriber>[0]> = {}) =>
	createProcessDescriber({users, run: runTool, procDirectory, ownerOf: everythingIsOf(0), ...options});

const own = 'Uid:\t0\t0\t0\t0\n';

/** Returns a shortened text of /proc/5/stat. */
const stat = (comm: string, state = 'S', startTicks = 0) =>
	`5 (${comm}) ${state} ${'0 '.repeat(18)}${startTicks} 0 0\n`;

const children: ChildProcess[] = [];

afterEach(() => {
	for (const child of children.splice(0)) {
		child.kill('SIGKILL');
	}
});

const start = (command: string, args: string[], argv0?: string): number => {
	const child = spawn(command, args, {stdio: 'ignore', argv0});
	children.push(child);
	return child.pid ?? 0;
};

test('process details include the owner, name, command line and start', async () => {
	const pid = start('sleep', ['600', '601']);
	// Right after its start, a process has no memory map yet.
	await eventually(async () => (await describe([pid])).get(pid)?.hostMemoryMiB !== undefined);
	const details = await describe([pid]);
	expect(details.get(pid)).toMatchObject({
		startTicks: expect.any(Number) as number,
		startTime: expect.closeTo(Date.now() / 1000, -1) as number,
		parentPid: process.pid,
		hostMemoryMiB: expect.any(Number) as number,
		user: account,
		name: 'sleep',
		commandLine: 'sleep 600 601',
		ancestors: expect.arrayContaining([expect.stringContaining('vitest')]) as string[],
	});
});

test('process details include up to three ancestors, nearest first', async () => {
	const statLine = (pid: number, parent: number): string =>
		`${pid} (x) S ${parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${pid} 0 0\n`;
	const files = Object.fromEntries(
		[6, 5, 4, 3, 2].flatMap((pid) => [
			[`${pid}/stat`, statLine(pid, pid - 1)],
			[`${pid}/status`, 'Uid:\t0\t0\t0\t0\n'],
			[`${pid}/cmdline`, `program\0${pid}\0`],
		]),
	);
	const directory = await createFiles(files);
	const details = await describeIn(directory)([6, 2]);
	expect(details.get(6)?.ancestors).toEqual(['program 5', 'program 4', 'program 3']);
	expect(details.get(2)?.ancestors).toBeUndefined();
});

test.each([
	[
		'a-rather-long-n',
		'/usr/bin/a-rather-long-name\0--x\0\0\0',
		'a-rather-long-name',
		'/usr/bin/a-rather-long-name --x',
	],
	['MainThread', 'node\0server.js\0', 'node', 'node server.js'],
	['my tool', '/opt/my tools/my tool\0', 'my tool', '/opt/my tools/my tool'],
	['sshd', 'sshd: ada@pts/0\0\0\0', 'sshd', 'sshd: ada@pts/0'],
	['bash', '-bash\0', 'bash', '-bash'],
	['kthread', '', 'kthread', undefined],
	['odd', '\0x\0', 'odd', 'x'],
])('a process with the kernel name %s and the arguments %j is called %s', async (comm, text, name, commandLine) => {
	const directory = await createFiles({'5/stat': stat(comm), '5/status': 'Uid:\t0\t1\t2\t3\n', '5/cmdline': text});
	const details = await describeIn(directory)([5]);
	expect(details.get(5)).toMatchObject({startTicks: 0, user: 'root', name, commandLine});
});

test('a very long command line is cut between two characters', async () => {
	const directory = await createFiles({'5/stat': stat('x'), '5/status': own, '5/cmdline': `x${'😀'.repeat(10_000)}\0`});
	const details = await describeIn(directory)([5]);
	const {commandLine = ''} = details.get(5) ?? {};
	expect(commandLine).toBe(`x${'😀'.repeat(2047)}`);
});

test('the owner of a setuid process is the account that started it', async () => {
	const directory = await createFiles({
		'5/stat': stat('setuid'),
		'5/status': 'Uid:\t1\t0\t0\t0\n',
		'6/stat': stat('job'),
	});
	const numbered = {nameOf: async (uid: number) => `user${uid}`};
	const asRoot = await describeIn(directory, {users: numbered})([5]);
	expect(asRoot.get(5)?.user).toBe('user1');
	// A process of an account other than root cannot act as another account, so its status file is not read.
	const asAda = await describeIn(directory, {users: numbered, ownerOf: everythingIsOf(1000)})([6]);
	expect(asAda.get(6)?.user).toBe('user1000');
});

test('a missing or hidden process has no details', async () => {
	const run = vi.fn<typeof runTool>(runTool);
	expect(await createProcessDescriber({users, run})([3_999_999])).toEqual(new Map());
	// `ps` is not asked, because it reads the same files as /proc.
	expect(run).not.toHaveBeenCalled();
});

test('one call of ps finds the owners of several processes, and is repeated after a minute', async () => {
	const directory = await createFiles({});
	const run = vi.fn<typeof runTool>(async (_command, args) => ({
		stdout: args.at(-1)?.includes('8') ? '    8     0\n' : '',
		stderr: '',
	}));
	let now = 0;
	const ask = describeIn(directory, {run, monotonicMs: () => now});

	const details = await ask([7, 8, 7, 8]);
	expect([...details].map(([pid, {user}]) => [pid, user])).toEqual([
		[7, undefined],
		[8, 'root'],
	]);
	expect(run.mock.calls.map(([command, args]) => [command, ...args])).toEqual([
		['ps', '-o', 'pid=', '-o', 'uid=', '-p', '7,8'],
	]);

	now = 59_000;
	await ask([7, 8]);
	expect(run).toHaveBeenCalledTimes(1);
	now = 61_000;
	await ask([7, 8]);
	expect(run).toHaveBeenCalledTimes(2);
	await ask([]);
	await ask([7]);
	expect(run).toHaveBeenCalledTimes(3);
});

test('a command line that cannot be read delays a scan only briefly', async () => {
	const directory = await createFiles({'5/status': own, '5/stat': stat('stuck')});
	// Opening a pipe without a writer blocks.
	await runTool('mkfifo', [`${directory}/5/cmdline`], {timeoutMs: 60_000});
	const run = vi.fn(runTool);
	let now = 0;
	const ask = describeIn(directory, {run, monotonicMs: () => now});

	const startedAt = performance.now();
	for (let round = 0; round < 10; round++) {
		const details = await ask([5]);
		expect(details.get(5)).toMatchObject({user: 'root', name: 'stuck', commandLine: undefined});
	}

	expect(performance.now() - startedAt).toBeLessThan(5000);
	expect(run).toHaveBeenCalledTimes(1);

	await createFilesIn(directory, {'6/status': own, '6/stat': stat('fine'), '6/cmdline': 'fine\0'});
	await runTool('rm', [`${directory}/5/cmdline`], {timeoutMs: 60_000});
	now = 60_000;
	const later = await ask([5, 6]);
	expect(later.get(6)).toMatchObject({commandLine: 'fine'});
});

test('no second reader of command lines is started while the first cannot be killed', async () => {
	const {promise: ended, resolve: release} = Promise.withResolvers<void>();
	const run = vi.fn<typeof runTool>(async () => ({stdout: '', stderr: '', failure: 'timed-out', ended}));
	const directory = await createFiles({'5/stat': stat('a'), '6/stat': stat('b'), '5/status': own, '6/status': own});
	const ask = describeIn(directory, {run});
	await ask([5]);
	await ask([5, 6]);
	expect(run).toHaveBeenCalledTimes(1);

	release();
	await ended;
	await ask([5, 6]);
	expect(run).toHaveBeenCalledTimes(2);
});

test('the command line of a process in uninterruptible sleep is not read', async () => {
	const run = vi.fn(runTool);
	const directory = await createFiles({'5/stat': stat('a', 'D'), '5/status': own, '5/cmdline': 'a\0'});
	const details = await describeIn(directory, {run})([5]);
	expect(details.get(5)).toMatchObject({user: 'root', name: 'a', commandLine: undefined});
	expect(run).not.toHaveBeenCalled();
});

test('a command line is read again only after a minute or for a reused pid', async () => {
	const directory = await createFiles({'5/stat': stat('a'), '5/status': own, '5/cmdline': 'a\0'});
	const run = vi.fn(runTool);
	let now = 0;
	const ask = describeIn(directory, {run, monotonicMs: () => now});
	const read = async () => {
		const details = await ask([5]);
		return details.get(5)?.commandLine;
	};

	expect(await read()).toBe('a');
	await createFilesIn(directory, {'5/cmdline': 'b\0'});
	now = 59_000;
	expect(await read()).toBe('a');
	now = 60_000;
	expect(await read()).toBe('b');
	await createFilesIn(directory, {'5/cmdline': 'c\0', '5/stat': stat('a', 'S', 77)});
	expect(await read()).toBe('c');
	expect(run).toHaveBeenCalledTimes(3);
});

test('an argument with line breaks cannot replace the command line of another process', async () => {
	const directory = await createFiles({});
	const lie = `x\n${directory}/6/cmdline\0evil\0`;
	await createFilesIn(directory, {
		'5/stat': stat('a'),
		'5/status': own,
		'5/cmdline': lie,
		'6/stat': stat('b'),
		'6/status': own,
	});
	const details = await describeIn(directory)([5, 6]);
	expect(details.get(5)?.commandLine).toBe(`x\n${directory}/6/cmdline evil`);
	expect(details.get(6)?.commandLine).toBeUndefined();
});
