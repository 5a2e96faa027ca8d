import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {watchAnswer} from '../../../source/host/tool/answering-host.js';
import {slowTest} from '../../_helpers/slow.js';

slowTest('watchAnswer ignores that ssh has ended just before its time limit', async () => {
	const child = spawn('true');
	await once(child, 'exit');
	const {promise: ended, resolve: end} = Promise.withResolvers<undefined>();
	const remarks: string[] = [];
	const reason = await watchAnswer(
		{
			host: 'far',
			job: {process: {pid: child.pid!}, ended},
			hasTerminal: false,
			hasAnswered: () => false,
			remark(text) {
				remarks.push(text);
			},
		},
		{connectMs: 0, commandMs: undefined},
	);
	expect(reason).toBe('far: no answer within 0 s');
	expect(remarks).toEqual(['canhazgpu: waiting for far to answer']);
	// The SIGKILL that follows a second later also finds no process.
	await sleep(1200);
	end(undefined);
});

test('watchAnswer limits the time of the command from the answer of the host', async () => {
	const child = spawn('sleep', ['60']);
	const answerMs = performance.now() + 3500;
	const reason = await watchAnswer(
		{
			host: 'far',
			job: {process: {pid: child.pid!}, ended: once(child, 'exit')},
			hasTerminal: false,
			hasAnswered: () => performance.now() >= answerMs,
			remark: () => undefined,
		},
		{connectMs: undefined, commandMs: 1000},
	);
	expect(reason).toBe('far: the command there did not end within 1 s, but may have taken effect');
	expect(performance.now()).toBeGreaterThan(answerMs + 990);
});
