import {readFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {createClock} from '../../source/host/clock.js';
import {createHost} from '../../source/host/host.js';
import {readBootId, readMachineId} from '../../source/host/machine.js';
import {createFiles} from './temporary.js';

const id = '0123456789abcdef0123456789abcdef';

test('readMachineId uses the first file with a valid machine id', async () => {
	const directory = await createFiles({
		empty: '',
		unborn: 'uninitialized\n',
		zero: `${'0'.repeat(32)}\n`,
		good: `${id}\n`,
		other: `${'f'.repeat(32)}\n`,
	});
	const files = ['missing', 'empty', 'unborn', 'zero', 'good', 'other'].map((name) => path.join(directory, name));
	expect(readMachineId(files)).toBe(id);
});

test('readMachineId derives the id from the hostname if no file contains an id', () => {
	const first = readMachineId([], 'box-1');
	expect(first).toMatch(/^[\da-f]{32}$/v);
	expect(readMachineId([], 'box-1')).toBe(first);
	expect(readMachineId([], 'box-2')).not.toBe(first);
});

test('readBootId returns the boot id of the kernel', async () => {
	const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
	expect(readBootId()).toBe(text.trim());
});

test.skipIf(process.platform !== 'linux')('readBootId returns undefined if the file is unreadable', () => {
	expect(readBootId('/no/such/file')).toBeUndefined();
});

test('createHost describes this machine, account and process', () => {
	const host = createHost();
	expect(host).toMatchObject({
		hostname: os.hostname(),
		machineId: readMachineId(),
		self: {pid: process.pid},
		account: {uid: process.getuid?.(), name: expect.stringMatching(/./v) as string},
	});
	expect(host.liveness([host.self])).toEqual(['alive']);
});

test('monotonicMs advances during a sleep', async () => {
	const clock = createClock();
	const before = clock.monotonicMs();
	await clock.sleep(20);
	expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(19);
	await clock.sleep(-5);
});

test('sleep ends early when its signal aborts', async () => {
	const {sleep} = createClock();
	await expect(sleep(60_000, AbortSignal.timeout(20))).rejects.toMatchObject({name: 'AbortError'});
	await expect(sleep(Infinity, AbortSignal.timeout(20))).rejects.toMatchObject({name: 'AbortError'});
});

test('uuid returns a different value each time', () => {
	const {uuid, random} = createClock();
	expect(uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/v);
	expect(uuid()).not.toBe(uuid());
	expect(random()).toBeLessThan(1);
});
