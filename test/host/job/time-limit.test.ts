import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {expect, test, vi} from 'vitest';
import {bearersOf, isRunning, listProcesses, signalOne} from '../../../source/host/job/descendants.js';
import {afterSeconds, endChild} from '../../../source/host/job/time-limit.js';
import {liveness} from '../../../source/host/process/processes.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';
import {becomes, createStage, gone} from './_stage.js';

/** Awaits a promise and measures how long it took, in milliseconds. */
const timed = async <T>(wait: Promise<T>): Promise<{value: T; ms: number}> => {
	const startedAt = performance.now();
	return {value: await wait, ms: performance.now() - startedAt};
};

const pidsIn = (lines: readonly string[]) => lines.map((line) => ({pid: Number(line)}));

test('the time limit interrupts the job and ends the grace period as soon as the job ends', async () => {
	const stage = await createStage();
	const {value, ms} = await timed(once(stage.spawn(['timeout', '0.2', '--', 'sleep', '600']), 'exit'));
	expect(value).toEqual([124, null]);
	expect(ms).toBeGreaterThanOrEqual(200);
	expect(ms).toBeLessThan(30_000);
	expect(stage.reports().map(({event}) => event)).toEqual(['started', 'timeout', 'ended', 'released', 'exit']);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode: 124, reason: 'timeout', signal: 'SIGINT'}});
});

test('a job that exits with 0 when the time limit interrupts it counts as timed out', async () => {
	const stage = await createStage({job: '#!/bin/sh\ntrap "exit 0" INT\nwhile :; do sleep 0.01; done\n'});
	const {exitCode, stderr} = await stage.run(['timeout', '3', '--', './job']);
	expect(exitCode).toBe(124);
	expect(stderr).toBe('chg: time is up\nchg: released\n');
	expect(await stage.when('ended')).toEqual({event: 'ended', end: {exitCode: 124, reason: 'timeout', left: []}});
});

test('a job that ignores the interrupt is killed after the grace period', async () => {
	const stage = await createStage();
	const {value, ms} = await timed(once(stage.spawn(['timeout', '2', 'grace', '0.5', '--', './counter.mjs']), 'exit'));
	expect(value).toEqual([124, null]);
	expect(ms).toBeGreaterThanOrEqual(1000);
	expect(stage.signals()).toEqual(['ready', 'INT']);
	expect(await stage.when('ended')).toMatchObject({end: {exitCode: 124, reason: 'timeout', signal: 'SIGKILL'}});
});

test('the time limit ends every child process of the job', async () => {
	// A background process of sh ignores SIGINT. The second-level process has a parent that does not wait for it.
	const stage = await createStage({
		'job.sh': [
			'sleep 600 & echo $! >>pids',
			String.raw`sh -c "sleep 600 & echo \$! >>pids; exec sleep 600" & echo $! >>pids`,
			'setsid sleep 600 & echo $! >>pids',
			'env -i sleep 600 & echo $! >>pids',
			'echo complete >>marks',
			'wait; wait; wait',
		].join('\n'),
	});
	const exit = once(stage.spawn(['timeout', '3', 'grace', '0.3', '--', 'sh', './job.sh']), 'exit');
	await vi.waitFor(
		() => {
			expect([stage.lines('pids').length, stage.lines('marks').length]).toEqual([5, 1]);
		},
		{timeout: patienceMs},
	);
	const started = pidsIn(stage.lines('pids'));
	expect(await exit).toEqual([124, null]);
	expect(liveness(started)).toEqual(['dead', 'dead', 'dead', 'dead', 'dead']);
});

test('the time limit ends daemons that the job has started', async () => {
	// The process is a daemon: its parent has ended, and it has its own session.
	const stage = await createStage({
		'daemon.sh': 'echo $$ >>pids; exec sleep 600',
		'job.sh':
			'setsid sh -c "setsid sh daemon.sh & exit" & wait; until [ -s pids ]; do sleep 0.01; done; echo 1 >up; exec sleep 600',
	});
	const exit = once(stage.spawn(['timeout', '3', 'grace', '0.3', '--', 'sh', './job.sh']), 'exit');
	const {job} = await stage.started();
	await vi.waitFor(
		() => {
			expect(stage.lines('up')).toEqual(['1']);
		},
		{timeout: patienceMs},
	);
	const [daemon = {pid: 0}] = pidsIn(stage.lines('pids'));
	expect(listProcesses().get(daemon.pid)?.parentPid).not.toBe(job.pid);
	// The job dies at once, but its GPUs are released only after the daemon, which ignores SIGINT, has ended.
	await stage.when('ended');
	expect(liveness([daemon])).toEqual(['dead']);
	expect(await exit).toEqual([124, null]);
});

test('the time limit kills processes that start during the grace period', async () => {
	const stage = await createStage({
		'job.sh': String.raw`trap "setsid sleep 600 & echo \$! >>pids" INT; while :; do sleep 0.01; done`,
	});
	const exit = once(stage.spawn(['timeout', '3', 'grace', '3', '--', 'sh', './job.sh']), 'exit');
	expect(await exit).toEqual([124, null]);
	expect(stage.lines('pids')).toHaveLength(1);
	expect(liveness(pidsIn(stage.lines('pids')))).toEqual(['dead']);
});

test('the time limit ends a job that keeps starting processes', async () => {
	const stage = await createStage({
		'job.sh': String.raw`trap "" INT; while :; do sh -c "trap \"\" INT; sleep 600" & sleep 0.02; done`,
	});
	const exit = once(stage.spawn(['timeout', '0.3', 'grace', '0.3', '--', 'sh', './job.sh']), 'exit');
	const {job} = await stage.started();
	expect(await exit).toEqual([124, null]);
	// No process is left that has the environment variable of the job.
	const left = await bearersOf(stage.directory, listProcesses().values().toArray(), runTool);
	expect(left).toEqual([]);
	await gone(job);
});

test('the time limit sends no signal to processes of the same process group outside the job', async () => {
	const stage = await createStage();
	const child = stage.script(
		'./counter.mjs & until [ -s "$SIGNALS" ]; do sleep 0.01; done; chg timeout 0.2 -- sleep 600; kill -USR2 $!; wait; exit 0',
	);
	const exit = once(child, 'exit');
	await stage.counted('USR2');
	stage.stop();
	expect(await exit).toEqual([0, null]);
});

test('the time limit resumes a stopped job in order to end it', async () => {
	const stage = await createStage({'job.sh': String.raw`sh -c "echo \$\$ >pids; kill -STOP \$\$" & kill -STOP $$`});
	const exit = once(stage.spawn(['timeout', '3', '--', 'sh', './job.sh']), 'exit');
	const {job} = await stage.started();
	await becomes('stopped', job);
	const {value, ms} = await timed(exit);
	expect(value).toEqual([124, null]);
	expect(ms).toBeLessThan(30_000);
	await gone(...pidsIn(stage.lines('pids')));
});

test('time during which Ctrl-Z stops the job counts toward the time limit', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg timeout 3 -- sleep 600\r');
	const {wrapper, job} = await stage.started();
	const startedAt = performance.now();
	terminal.type('\u{1A}');
	await terminal.shows('Stopped');
	await terminal.shows('shell> ');
	// The shell waits only for the wrapper.
	await becomes('stopped', {pid: wrapper}, job);
	await vi.waitUntil(() => performance.now() > startedAt + 3100, {timeout: patienceMs});
	expect(stage.reports()).toHaveLength(1);
	terminal.type('fg\r');
	await stage.when('timeout');
	await terminal.shows('shell> ');
	terminal.type('echo code $?\r');
	await terminal.shows('code 124');
});

test('the time limit does not affect a job that ends earlier', async () => {
	const stage = await createStage();
	const {exitCode, stderr} = await stage.run(['timeout', '600', '--', 'sh', '-c', 'exit 3']);
	expect({exitCode, stderr}).toEqual({exitCode: 3, stderr: 'chg: released\n'});
});

test('endChild interrupts a job whose processes cannot be inspected, and kills it if it ignores the interrupt', async () => {
	const child = spawn('sh', ['-c', 'trap "echo heard" INT; echo ready; while :; do sleep 0.01; done'], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const said = text(child.stdout);
	await once(child.stdout, 'data');
	await endChild(child, once(child, 'exit'), {request: 'SIGINT', graceSeconds: 3});
	expect(child.signalCode).toBe('SIGKILL');
	expect(await said).toBe('ready\nheard\n');
});

test('afterSeconds can wait for months, unlike setTimeout', () => {
	vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout', 'Date']});
	try {
		const reached = vi.fn<() => void>();
		const callOff = afterSeconds(60 * 24 * 3600, reached, () => Date.now());
		vi.advanceTimersByTime(60 * 24 * 3600 * 1000 - 1);
		expect(reached).not.toHaveBeenCalled();
		vi.advanceTimersByTime(1);
		expect(reached).toHaveBeenCalledTimes(1);
		callOff();
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});

test('signalOne sends nothing to a process that reuses the pid of the target', async () => {
	const stage = await createStage();
	const {pid = 0} = stage.script('exec ./counter.mjs');
	await stage.counted();
	const target = {pid, startTicks: identityOf(pid)?.startTicks ?? 0};
	expect(isRunning(target)).toBe(true);
	const earlier = {...target, startTicks: target.startTicks - 1};
	expect(isRunning(earlier)).toBe(false);
	signalOne(earlier, 'SIGINT');
	process.kill(target.pid, 'SIGUSR2');
	await stage.counted('USR2');
	signalOne(target, 'SIGINT');
	await stage.counted('USR2', 'INT');
	signalOne(target, 'SIGKILL');
	await gone(target);
});
