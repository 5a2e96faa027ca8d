import {expect, test, vi} from 'vitest';
import {startEarly} from '../../../source/gpu/tool/early-tool.js';
import type {RunTool, ToolOutcome} from '../../../source/gpu/tool/tool.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {monotonicMs} from '../nvidia/set-up.js';

const call = {command: 'tool', args: ['-a']};
const options = {timeoutMs: 5000};
const said = (stdout: string): ToolOutcome => ({stdout, stderr: '', exitCode: 0});

test('startEarly gives the output of the early run only to the first call with the same arguments', async () => {
	const run = vi.fn<RunTool>().mockResolvedValueOnce(said('early')).mockResolvedValue(said('later'));
	const early = startEarly(run, [call], monotonicMs);
	expect(await early.run('tool', ['-b'], options)).toMatchObject({stdout: 'later'});
	expect(await early.run('tool', ['-a'], options)).toMatchObject({stdout: 'early'});
	expect(await early.run('tool', ['-a'], options)).toMatchObject({stdout: 'later'});
	expect(run).toHaveBeenCalledTimes(3);
});

test('startEarly runs the GPU tool again if the early run is too old', async () => {
	const run = vi.fn<RunTool>().mockResolvedValueOnce(said('early')).mockResolvedValue(said('later'));
	let now = 0;
	const early = startEarly(run, [call], () => now);
	await vi.waitFor(
		() => {
			expect(run).toHaveBeenCalledTimes(1);
		},
		{timeout: patienceMs},
	);
	now = 1500;
	expect(await early.run('tool', ['-a'], options)).toMatchObject({stdout: 'later'});
});

test('the caller that uses the output of an early run sets the time limit of the run', async () => {
	const early = startEarly(runTool, [{command: 'sleep', args: ['600']}], monotonicMs);
	const started = monotonicMs();
	expect(await early.run('sleep', ['600'], {timeoutMs: 100})).toMatchObject({failure: 'timed-out', signal: 'SIGTERM'});
	expect(monotonicMs() - started).toBeLessThan(5000);
});

test('the caller that uses the output of an early run can end the run', async () => {
	const early = startEarly(runTool, [{command: 'sleep', args: ['600']}], monotonicMs);
	const controller = new AbortController();
	const outcome = early.run('sleep', ['600'], {timeoutMs: 60_000, signal: controller.signal});
	controller.abort();
	expect(await outcome).toMatchObject({failure: 'aborted'});
});

test('an early run of the GPU tool is stopped if its output is not needed', async () => {
	const outcomes: Array<Promise<ToolOutcome>> = [];
	const early = startEarly(
		async (...given) => {
			const outcome = runTool(...given);
			outcomes.push(outcome);
			return outcome;
		},
		[{command: 'sleep', args: ['600']}],
		monotonicMs,
	);
	early.stop();
	expect(await outcomes[0]).toMatchObject({failure: 'aborted', signal: 'SIGTERM'});
});
