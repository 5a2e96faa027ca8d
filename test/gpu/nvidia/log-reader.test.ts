import {expect, test} from 'vitest';
import {createLogReader} from '../../../source/gpu/nvidia/problems/log-reader.js';
import type {ToolOutcome} from '../../../source/gpu/tool/tool.js';

const xid: ToolOutcome = {
	stdout:
		"[   100.000001] NVRM: Xid (PCI:0000:02:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n",
	stderr: '',
	exitCode: 0,
};
const empty: ToolOutcome = {stdout: '', stderr: '', exitCode: 0};
const tooSlow: ToolOutcome = {stdout: '', stderr: '', signal: 'SIGKILL', failure: 'timed-out'};
const forbidden: ToolOutcome = {stdout: '', stderr: 'Operation not permitted\n', exitCode: 1};

/** A reader on a machine where each read of the log has the next of these outcomes, and the last one from then on. */
const readerOf = (...outcomes: readonly ToolOutcome[]) => {
	let nowMs = 0;
	let reads = 0;
	const read = createLogReader({
		async run(command) {
			reads += command === 'dmesg' ? 1 : 0;
			return outcomes[Math.min(reads, outcomes.length) - 1]!;
		},
		monotonicMs: () => nowMs,
		uptimeSeconds: () => 200,
	});
	return {
		reads: () => reads,
		async readAt(seconds: number, signal = new AbortController().signal) {
			nowMs = seconds * 1000;
			const problems = await read(signal);
			return problems?.keys().toArray();
		},
	};
};

const gpu = '00000000:02:00.0';

test('the log is read again after five seconds', async () => {
	const {readAt, reads} = readerOf(xid, empty);
	expect(await readAt(0)).toEqual([gpu]);
	expect(await readAt(4)).toEqual([gpu]);
	expect(reads()).toBe(1);
	expect(await readAt(5)).toEqual([]);
});

test('after a read that took too long, known problems remain and the log is read again after a minute', async () => {
	const {readAt, reads} = readerOf(xid, tooSlow, empty);
	expect(await readAt(0)).toEqual([gpu]);
	expect(await readAt(10)).toEqual([gpu]);
	expect(await readAt(69)).toEqual([gpu]);
	expect(reads()).toBe(2);
	expect(await readAt(70)).toEqual([]);
});

test('if the account may not read the log, the problems are unknown and the log is read again after ten minutes', async () => {
	const {readAt, reads} = readerOf(forbidden, xid);
	expect(await readAt(0)).toBeUndefined();
	expect(await readAt(599)).toBeUndefined();
	expect(reads()).toBe(1);
	expect(await readAt(600)).toEqual([gpu]);
});

test('an aborted read changes nothing, and the next scan reads the log', async () => {
	const {readAt} = readerOf({...tooSlow, failure: 'aborted'}, xid);
	expect(await readAt(0, AbortSignal.abort())).toBeUndefined();
	expect(await readAt(1)).toEqual([gpu]);
});
