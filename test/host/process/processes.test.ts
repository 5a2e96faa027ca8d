import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import * as fc from 'fast-check';
import {afterEach, expect, test, vi} from 'vitest';
import type {ProcessIdentity} from '../../../source/core/model/types.js';
import {parseStat, readStat} from '../../../source/host/process/proc.js';
import {liveness, ownIdentity} from '../../../source/host/process/processes.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {cpuMsOf} from '../../_helpers/program/timed.js';
import {createFiles} from '../temporary.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';

const children: ChildProcess[] = [];

afterEach(() => {
	for (const child of children.splice(0)) {
		child.kill('SIGKILL');
	}
});

/** Starts a program and returns its identity. */
const start = (command: string, ...args: string[]): {child: ChildProcess; identity: ProcessIdentity} => {
	const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'ignore']});
	children.push(child);
	const identity = identityOf(child.pid ?? 0);
	expect(identity).toMatchObject({pid: child.pid, startTicks: expect.any(Number) as number});
	return {child, identity: identity ?? {pid: 0}};
};

const becomes = async (identity: ProcessIdentity, expected: string) =>
	vi.waitFor(
		() => {
			expect(liveness([identity])).toEqual([expected]);
		},
		{timeout: patienceMs, interval: 10},
	);

/** Returns the pid of the first child of a process. */
const childOf = async (pid: number): Promise<number> =>
	vi.waitFor(
		async () => {
			const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
			expect(text).not.toBe('');
			return Number(text.split(' ', 1)[0]);
		},
		{timeout: patienceMs, interval: 10},
	);

/** Whether the kernel has time namespaces, which exist since Linux 5.6. */
const hasTimeNamespaces = existsSync('/proc/self/ns/time');

test('liveness reports this process as alive', () => {
	const self = ownIdentity();
	expect(self).toEqual({
		pid: process.pid,
		startTicks: expect.any(Number) as number,
		namespace: expect.stringMatching(/^\d+$/v) as string,
		...(hasTimeNamespaces && {timeNamespace: expect.stringMatching(/^\d+$/v) as string}),
		group: expect.any(Number) as number,
	});
	expect(liveness([self, {pid: process.pid}])).toEqual(['alive', 'alive']);
});

test('liveness returns one answer per process, in order', async () => {
	const first = start('sleep', '600');
	const second = start('sleep', '600');
	first.child.kill('SIGKILL');
	await once(first.child, 'exit');
	expect(liveness([second.identity, first.identity, ownIdentity()])).toEqual(['alive', 'dead', 'alive']);
	expect(liveness([])).toEqual([]);
});

test('liveness reports a process as dead if a later process has its pid', () => {
	const {identity} = start('sleep', '600');
	expect(liveness([{...identity, startTicks: (identity.startTicks ?? 0) - 1}])).toEqual(['dead']);
});

test('liveness distinguishes a stopped process from a running process', async () => {
	const {child, identity} = start('sleep', '600');
	child.kill('SIGSTOP');
	await becomes(identity, 'stopped');
	child.kill('SIGCONT');
	await becomes(identity, 'alive');
});

test('liveness reports a zombie as dead', async () => {
	// The shell replaces itself by a sleep that never reaps its child.
	const {child} = start('sh', '-c', 'sleep 600 & exec sleep 600');
	const pid = await childOf(child.pid ?? 0);
	const identity = identityOf(pid) ?? {pid: 0};
	expect(liveness([identity])).toEqual(['alive']);
	process.kill(pid, 'SIGKILL');
	await becomes(identity, 'dead');
	expect(readStat(pid)).toMatchObject({state: 'Z'});
	expect(identityOf(pid)).toBeUndefined();
});

const hasPython = spawnSync('python3', ['-c', 'import ctypes']).status === 0;

test.skipIf(!hasPython)('liveness reports a process as alive while any of its threads runs', async () => {
	const script = [
		'import ctypes, threading, time',
		'threading.Thread(target=lambda: time.sleep(600)).start()',
		'ctypes.CDLL(None).pthread_exit(None)',
	];
	const {child, identity} = start('python3', '-c', script.join('\n'));
	await vi.waitFor(
		() => {
			expect(readStat(child.pid ?? 0)).toMatchObject({state: 'Z'});
		},
		{timeout: patienceMs},
	);
	expect(liveness([identity])).toEqual(['alive']);
	child.kill('SIGKILL');
	await becomes(identity, 'dead');
});

test('liveness reports a pid in another namespace as unknown', () => {
	const self = ownIdentity();
	expect(liveness([{...self, namespace: '1'}])).toEqual(['unknown']);
	expect(liveness([{pid: 4_000_000, startTicks: 5, namespace: '1'}])).toEqual(['unknown']);
});

test('liveness returns "unknown" for a running pid whose start time is from another time namespace', async () => {
	const {child, identity} = start('sleep', '600');
	const elsewhere = {...identity, timeNamespace: '1'};
	expect(liveness([elsewhere, {...elsewhere, startTicks: identity.startTicks! - 100_000}])).toEqual([
		'unknown',
		'unknown',
	]);
	// No start time was recorded, so only the pid is checked.
	expect(liveness([{...elsewhere, startTicks: undefined}])).toEqual(['alive']);
	child.kill('SIGKILL');
	await once(child, 'exit');
	expect(liveness([elsewhere])).toEqual(['dead']);
});

test('liveness reports identities with a namespace as unknown if namespaces cannot be read', async () => {
	const {identity} = start('sleep', '600');
	const {pid, startTicks} = identity;
	const directory = await createFiles({
		'self/stat': await readFile('/proc/self/stat', 'utf8'),
		[`${pid}/stat`]: await readFile(`/proc/${pid}/stat`, 'utf8'),
	});
	const bare = {pid, startTicks};
	expect(liveness([bare, {...bare, namespace: '1'}, {...bare, timeNamespace: '1'}], directory)).toEqual([
		'alive',
		'unknown',
		'unknown',
	]);
});

test.each([0, -1, -process.pid, 1.5, NaN, Infinity, 2 ** 31, 2 ** 53])(
	'liveness reports the invalid pid %d as unknown and sends no signal',
	(pid) => {
		const kill = vi.spyOn(process, 'kill');
		expect(liveness([{pid}])).toEqual(['unknown']);
		expect(kill).not.toHaveBeenCalled();
		kill.mockRestore();
	},
);

test('liveness reports a hidden or unreadable process as unknown', async () => {
	// As with hidepid=2, init and the child exist but have no entry in /proc.
	const {child} = start('sleep', '600');
	const own = await readFile('/proc/self/stat', 'utf8');
	const directory = await createFiles({'self/stat': own, '7/stat': 'garbage'});
	await mkdir(path.join(directory, '8/stat'), {recursive: true});
	const hidden = [{pid: 1}, {pid: child.pid ?? 0}, {pid: 7}, {pid: 8}];
	expect(liveness(hidden, directory)).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
	child.kill('SIGKILL');
	await once(child, 'exit');
	expect(liveness(hidden, directory)).toEqual(['unknown', 'dead', 'unknown', 'unknown']);
});

test('liveness without /proc checks only whether the process exists', async () => {
	const {child, identity} = start('sleep', '600');
	const {pid} = identity;
	const directory = await createFiles({});
	expect(liveness([{pid}, {pid: 1}, identity], directory)).toEqual(['alive', 'alive', 'unknown']);
	child.kill('SIGKILL');
	await once(child, 'exit');
	expect(liveness([{pid}], directory)).toEqual(['dead']);
});

test('liveness answers for a hundred processes in less than a second', () => {
	const self = ownIdentity();
	const many = Array.from({length: 100}, () => self);
	expect(cpuMsOf(() => liveness(many))).toBeLessThan(1000);
});

test('parseStat reads the right state for any program name', () => {
	fc.assert(
		fc.property(
			fc.oneof(fc.string({maxLength: 15}), fc.constantFrom(') Z 1 1', 'a) R', '((', ') ', '\n', '1 (x) T 2')),
			fc.constantFrom('R', 'S', 'T', 'Z'),
			fc.nat(),
			fc.nat(),
			(comm, state, parentPid, startTicks) => {
				const fields = [
					state,
					parentPid,
					7,
					8,
					34_816,
					-1,
					0,
					0,
					0,
					0,
					0,
					40,
					2,
					0,
					0,
					0,
					0,
					3,
					0,
					startTicks,
					0,
					55,
					9,
				];
				expect(parseStat(`42 (${comm}) ${fields.join(' ')}\n`)).toEqual({
					comm,
					state,
					parentPid,
					processGroup: 7,
					session: 8,
					terminal: 34_816,
					foregroundGroup: -1,
					threads: 3,
					cpuTicks: 42,
					startTicks,
					residentPages: 55,
				});
			},
		),
	);
});

test('parseStat accepts any text', () => {
	fc.assert(
		fc.property(
			fc.oneof(
				fc.string(),
				fc.string().map((text) => `1 (a) ${text}`),
			),
			(text) => {
				const stat = parseStat(text);
				expect(stat === undefined || Number.isFinite(stat.startTicks + stat.residentPages)).toBe(true);
			},
		),
	);
});
