/** Whether a process belongs to the caller's account, tested with real processes. One of them is in its own namespace. */
import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {childIdentity, ownIdentity, runsAsCaller} from '../../../source/host/process/processes.js';

test('runsAsCaller is true for this process, and false for a process with another start time', () => {
	const self = ownIdentity();
	expect(runsAsCaller(self)).toBe(true);
	expect(runsAsCaller({...self, startTicks: self.startTicks! + 1})).toBe(false);
	expect(runsAsCaller({...self, pid: spawnSync('true').pid})).toBe(false);
	expect(runsAsCaller({...self, namespace: '1'})).toBe(false);
});

test.runIf(process.getuid?.() === 0)('runsAsCaller is false for a process of another account', () => {
	const child = spawn('sleep', ['60'], {uid: 61_002, gid: 61_002});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	expect(runsAsCaller(childIdentity(child.pid!))).toBe(false);
	expect(runsAsCaller(childIdentity(child.pid!), {uid: 61_002})).toBe(true);
});

test('runsAsCaller is false if the owner is the overflow uid for unknown accounts', () => {
	const directory = mkdtempSync('/tmp/canhazgpu-proc-');
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	mkdirSync(path.join(directory, 'sys/kernel'), {recursive: true});
	const uid = process.getuid!();
	const stat = '7 (job) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n';
	for (const pid of ['7', 'self']) {
		mkdirSync(path.join(directory, pid));
		writeFileSync(path.join(directory, pid, 'stat'), stat);
	}

	const job = {pid: 7, startTicks: 500};
	expect(runsAsCaller(job, {procDirectory: directory, uid})).toBe(true);
	writeFileSync(path.join(directory, 'sys/kernel/overflowuid'), `${uid}\n`);
	expect(runsAsCaller(job, {procDirectory: directory, uid})).toBe(false);
	expect(runsAsCaller(ownIdentity(), {uid: 65_534})).toBe(false);
});
