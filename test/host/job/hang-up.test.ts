import {readFile} from 'node:fs/promises';
import process from 'node:process';
import {expect, test, vi} from 'vitest';
import {liveness} from '../../../source/host/process/processes.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {becomes, createStage, gone, type Stage} from './_stage.js';

/**
Whether a process ignores SIGHUP, according to the hexadecimal mask in /proc/PID/status. Bit n - 1 stands for signal n, so the last digit is odd.
*/
const ignoresHangUp = async (pid: number): Promise<boolean> =>
	/^SigIgn:\s*[\da-f]*[13579bdf]$/mv.test(await readFile(`/proc/${pid}/status`, 'utf8'));

test('closing the terminal ends the job and releases its GPUs', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg -- sleep 600\r');
	const {wrapper} = await stage.started();
	terminal.hangUp();
	// The wrapper continues although it writes to a terminal that is gone.
	await stage.when('released');
	expect(await stage.when('exit')).toMatchObject({exitCode: 129, listening: []});
	expect(await stage.when('ended')).toMatchObject({end: {exitCode: 129, reason: 'signalled', signal: 'SIGHUP'}});
	await gone({pid: wrapper}, {pid: terminal.pid});
});

test('closing the terminal ends a background job of its shell', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('chg -- sleep 600 &\r');
	await stage.started();
	terminal.hangUp();
	expect(await stage.when('exit')).toMatchObject({exitCode: 129});
});

test('a job that ignores the loss of its terminal gets one SIGHUP and keeps its wrapper', async () => {
	const stage = await createStage();
	// An interactive bash would send SIGHUP itself. This shell leaves it to the kernel, which sends SIGHUP when the shell exits.
	const terminal = stage.terminal('bash', '-c', 'chg -- ./counter.mjs; true');
	const {wrapper, job} = await stage.started();
	await stage.counted();
	terminal.hangUp();
	await gone({pid: terminal.pid});
	await stage.heard('HUP');
	expect(liveness([{pid: wrapper}, job])).toEqual(['alive', 'alive']);
	process.kill(wrapper, 'SIGUSR2');
	await stage.heard('USR2');
	expect(stage.signals().filter((name) => name === 'HUP')).toEqual(['HUP']);
	stage.stop(3);
	expect(await stage.when('exit')).toMatchObject({exitCode: 3});
});

test("the wrapper passes SIGHUP to the job once if the wrapper leads the terminal's session", async () => {
	const stage = await createStage();
	const terminal = stage.terminal('./chg', '--', './counter.mjs');
	const {wrapper} = await stage.started();
	expect(wrapper).toBe(terminal.pid);
	await stage.counted();
	terminal.hangUp();
	await stage.counted('HUP');
	process.kill(wrapper, 'SIGUSR2');
	await stage.counted('HUP', 'USR2');
	stage.stop(3);
	expect(await stage.when('exit')).toMatchObject({exitCode: 3});
});

test('the time limit ends a job whose terminal was closed', async () => {
	const stage = await createStage();
	// On a slow machine, it takes some seconds until the counter handles SIGHUP.
	const terminal = stage.terminal('./chg', 'timeout', '5', 'grace', '0.1', '--', './counter.mjs');
	await stage.counted();
	terminal.hangUp();
	expect(await stage.when('exit')).toMatchObject({exitCode: 124});
});

/** Closes the terminal after its shell has exited, so that nothing else sends SIGHUP. The job must survive. */
const expectToOutlive = async (stage: Stage, line: string) => {
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type(`${line}\r`);
	const {wrapper, job} = await stage.started();
	// Shortly after its start, the process executes the program of nohup, which ignores SIGHUP.
	await vi.waitFor(
		async () => {
			expect(await ignoresHangUp(job.pid)).toBe(true);
		},
		{timeout: patienceMs},
	);
	terminal.hangUp();
	await gone({pid: terminal.pid});
	// Neither this SIGHUP nor one from the terminal may end the wrapper.
	process.kill(wrapper, 'SIGHUP');
	process.kill(wrapper, 'SIGCONT');
	await becomes('alive', {pid: wrapper}, job);
	stage.stop(3);
	expect(await stage.when('exit')).toMatchObject({exitCode: 3});
};

const job = 'sh -c \'until [ -e "$STOP" ]; do sleep 0.01; done; exit 3\'';

test.each([
	['from a terminal', `nohup chg -- ${job} &`],
	['with its output in a file', `nohup chg -- ${job} >log 2>&1 &`],
	['with everything redirected', `nohup chg -- ${job} </dev/null >log 2>&1 &`],
	['in a pipe', `true | nohup chg -- ${job} 2>&1 | cat >log &`],
	['in a script', 'nohup bash script.sh </dev/null >log 2>&1 &'],
	['in the foreground', `nohup chg -- ${job}`],
	['in the foreground, with its output in a file', `nohup chg -- ${job} >log 2>&1`],
	['in the foreground, without input', `nohup chg -- ${job} </dev/null`],
	['in the foreground, in a script', 'nohup bash script.sh </dev/null >log 2>&1'],
])('a job started with nohup %s survives the closing of its terminal', async (_, line) => {
	const stage = await createStage({'script.sh': `chg -- ${job}\nexit $?`});
	await expectToOutlive(stage, line);
});

test.each([
	['a terminal to write to', 'chg -- ./counter.mjs </dev/null &'],
	['a terminal to read from, in the foreground', 'chg -- ./counter.mjs >log 2>&1'],
	['only files, in the foreground', 'chg -- ./counter.mjs </dev/null >log 2>&1'],
])('a job started without nohup, with %s, receives SIGHUP', async (_, line) => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type(`${line}\r`);
	const {wrapper} = await stage.started();
	await stage.counted();
	process.kill(wrapper, 'SIGHUP');
	await stage.counted('HUP');
	stage.stop();
	await stage.when('exit');
});

test('a job in its own session is not mistaken for a job started with nohup', async () => {
	const stage = await createStage();
	const terminal = stage.shell();
	await terminal.shows('shell> ');
	terminal.type('setsid chg -- ./counter.mjs </dev/null >log 2>&1 &\r');
	const {wrapper, job: sleeper} = await stage.started();
	await stage.counted();
	expect(await ignoresHangUp(sleeper.pid)).toBe(false);
	terminal.hangUp();
	await gone({pid: terminal.pid});
	process.kill(wrapper, 'SIGHUP');
	await stage.counted('HUP');
	stage.stop();
	await stage.when('exit');
});
