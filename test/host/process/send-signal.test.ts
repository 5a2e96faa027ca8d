import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {sendSignal} from '../../../source/host/process/send-signal.js';
import type {ProcessIdentity} from '../../../source/core/model/types.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';

const isRoot = process.getuid?.() === 0;

async function start(uid?: number) {
	// Other accounts may be unable to run this Node.js, so a system program is used.
	const child = spawn('/bin/sh', ['-c', 'echo up; exec sleep 600'], {
		stdio: ['ignore', 'pipe', 'ignore'],
		cwd: '/',
		uid,
	});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	await once(child.stdout, 'data');
	return {child, identity: identityOf(child.pid!)!};
}

test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('sendSignal delivers %s to the process', async (signal) => {
	const {child, identity} = await start();
	const ended = once(child, 'exit');
	expect(sendSignal(identity, signal)).toBe('sent');
	expect((await ended)[1]).toBe(signal);
	expect(sendSignal(identity, signal)).toBe('gone');
});

test('sendSignal sends nothing to a process that reuses the pid', async () => {
	const {child, identity} = await start();
	const others: ReadonlyArray<readonly [ProcessIdentity, string]> = [
		[{...identity, startTicks: identity.startTicks! + 1}, 'gone'],
		[{...identity, startTicks: undefined}, 'unknown'],
		[{...identity, namespace: '1'}, 'unknown'],
		[{pid: 0, startTicks: 1}, 'unknown'],
		[{pid: -child.pid!, startTicks: identity.startTicks}, 'unknown'],
		[{pid: 1.5, startTicks: 1}, 'unknown'],
	];
	for (const [other, outcome] of others) {
		expect(sendSignal(other, 'SIGKILL')).toBe(outcome);
	}

	expect(identityOf(child.pid!)).toEqual(identity);
	expect(child.exitCode ?? child.signalCode).toBeNull();
});

test.runIf(isRoot)('sendSignal as root sends nothing to processes of other accounts', async () => {
	const {child, identity} = await start(65_534);
	expect(sendSignal(identity, 'SIGKILL')).toBe('not-yours');
	expect(child.signalCode).toBeNull();
});
