/** Keys for processes: signals to the selected ones, and copied commands. */
import {Buffer} from 'node:buffer';
import {afterEach, expect, test} from 'vitest';
import type {ProcessIdentity} from '../../../source/core/model/types.js';
import type {SignalName} from '../../../source/tui/ports.js';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createCrowd} from './_crowd.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

type Sent = Array<readonly [pid: number, signal: SignalName]>;

async function openProcesses(outcomes: Readonly<Record<number, 'gone'>> = {}): Promise<Sent> {
	const sent: Sent = [];
	session = startMonitor(await createCrowd(), {
		size: {columns: 120, rows: 32},
		ports: {
			sendSignal({pid}: ProcessIdentity, signal) {
				const outcome = outcomes[pid] ?? 'sent';
				if (outcome === 'sent') {
					sent.push([pid, signal]);
				}

				return outcome;
			},
		},
	});
	await session.shows(/> 0 +Mine/v);
	await session.press('6');
	await session.shows(/> 0 +81234/v);
	return sent;
}

test('the key K signals the selected process on any GPU, and refuses processes of other accounts', async () => {
	const sent = await openProcesses();
	await session!.press('j', 'K');
	await session!.shows('WARN Not yours: process 90001 of carol');
	await session!.press('/');
	await session!.paste('ray');
	await session!.press(keys.enter, 'K');
	await session!.shows('Send SIGTERM to process 81377?');
	await session!.shows('$ kill -TERM 81377');
	await session!.press('y');
	await session!.shows('OK sent SIGTERM to process 81377');
	expect(sent).toEqual([[81_377, 'SIGTERM']]);
});

test("the key K signals the user's tagged processes and names those that it excludes", async () => {
	const sent = await openProcesses({81_377: 'gone'});
	await session!.press(' ', ' ', 'j', 'j', ' ', 'K');
	await session!.shows('Left out: 90001 of carol');
	await session!.shows('Send SIGTERM to 2 processes?');
	await session!.press(keys.tab, keys.tab);
	await session!.shows('$ kill -KILL 81234 81377');
	await session!.press('y');
	await session!.shows('WARN sent SIGKILL to process 81234, but process 81377 has already ended');
	expect(sent).toEqual([[81_234, 'SIGKILL']]);
});

test('the key y copies the command of the selected process', async () => {
	await openProcesses();
	await session!.press('y');
	await session!.shows('OK Copied the command of process 81234');
	const command = '/opt/venv/bin/vllm serve Llama-3-70B --tensor-parallel-size 1';
	expect(session!.written()).toContain(`\u{1B}]52;c;${Buffer.from(command).toString('base64')}\u{7}`);
});
