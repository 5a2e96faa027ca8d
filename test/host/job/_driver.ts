/**
Runs a job like `canhazgpu run`, but without a pool: `chg [timeout SECONDS] [grace SECONDS] -- COMMAND...`. Writes each event to the file REPORT,
one JSON object per line.
*/
import {appendFileSync, existsSync, readFileSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fences} from '../../../source/core/model/isolation.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createIsolate} from '../../../source/host/isolation/isolate.js';
import {startJob} from '../../../source/host/job/job.js';

const report = (event: string, facts: Readonly<Record<string, unknown>> = {}) => {
	appendFileSync(process.env['REPORT'] ?? '/dev/null', `${JSON.stringify({event, ...facts})}\n`);
};

const words = process.argv.slice(2);
const end = words.indexOf('--');
const settings = words.slice(0, end);
const [command = '', ...args] = words.slice(end + 1);
const seconds = (name: string): number | undefined =>
	settings.includes(name) ? Number(settings[settings.indexOf(name) + 1]) : undefined;

const listening = () =>
	process.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG') && name !== 'SIGWINCH');

process.once('exit', (exitCode) => {
	report('exit', {exitCode, listening: listening()});
});

/** If the stage has device nodes, the job is isolated with the first of their GPUs, by this method. */
const {STAND_IN: standIn, FENCE: fence} = process.env;
const isolation =
	standIn === undefined
		? undefined
		: await createIsolate({root: standIn, environment: process.env})(
				[{index: 0, pciBusId: '00000000:01:00.0'}],
				fences.find((each) => each === fence),
			);
if (isolation?.kind === 'not-isolated') {
	throw new Error(`It is not isolated: ${JSON.stringify(isolation.problem)}`);
}

const {EARLY: early} = process.env;
if (early !== undefined) {
	process.on(early, () => undefined);
	process.kill(process.pid, early);
}

try {
	const job = await startJob({
		command,
		args,
		entrance: isolation?.entrance,
		environment: process.env,
		timeoutSeconds: seconds('timeout'),
		graceSeconds: seconds('grace'),
		onTimeout() {
			report('timeout');
			process.stderr.write('chg: time is up\n');
		},
	});
	report('started', {wrapper: process.pid, job: job.process});
	// Simulates a commit to a file that other processes keep locked for a while.
	while (process.env['BUSY'] !== undefined && !existsSync(process.env['BUSY'])) {
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
	}

	const ended = await job.ended;
	report('ended', {end: ended});
	process.stderr.write('chg: released\n');
	// Releasing the GPUs takes a moment, or as long as the test requires.
	do {
		await sleep(10);
	} while (process.env['HELD'] !== undefined && !existsSync(process.env['RELEASE'] ?? ''));

	await isolation?.close();
	report('released', {children: readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim()});
	job.letGo();
	process.exitCode = ended.exitCode;
} catch (error) {
	if (!(error instanceof CanhazgpuError)) {
		throw error;
	}

	report('refused', {code: error.code, message: error.message, hint: error.hint, listening: listening()});
	process.exitCode = error.exitCode;
}
