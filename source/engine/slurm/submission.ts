/** Implements `run`: srun executes the command with our terminal, input and signals, and exits with its exit code. */
import os from 'node:os';
import path from 'node:path';
import {CanhazgpuError, hasCode} from '../../errors.js';
import type {Clock} from '../../core/model/ports.js';
import type {DetachedJob, Submission, Submitted} from '../../core/operations/engine.js';
import type {SlurmJob} from './answers/jobs.js';
import {clusterEnvironment, runSlurm, submitEnvironment, type Cluster} from './cluster.js';
import {noneInTimeError, noneNowError, outOfServiceError} from './refusals.js';
import {grantOf} from './snapshot.js';
import {createStartGate} from './start-gate.js';
import {isOutOfService, laterWords, requestWords, scriptOf, type Gres} from './request-words.js';

/** Exit codes of srun: `slurmFailed` if Slurm failed, not the command, and `nothingFree` if no GPU was free in time. Few commands use these codes. */
const slurmFailed = 243;
const nothingFree = 244;

/** Exit code of srun without a configuration. Many commands use this code, too. */
const noConfiguration = 1;

const timedOutExitCode = 124;
const killedExitCode = 137;

/** Job states that mean a node has failed. srun exits with 0 in this case. */
const nodeFailures = new Set(['NODE_FAIL', 'BOOT_FAIL']);

/** The shortest time in which Slurm can detect a failed node. After a shorter command, there is no need to ask Slurm. */
const soonestFailureMs = 1000;

/** How long the controller may take to report how a job ended. */
const longestStateMs = 10_000;

/** Interval between queries for the job of an srun, at first and at most. */
const firstQuestionMs = 250;
const longestQuestionMs = 2000;
/** The longest interval if the grant is not reported to the user. */
const longestQuietQuestionMs = 10_000;

type Srun = {readonly pid: number; readonly uid: number | undefined; readonly hostname: string};

/**
Returns the job of an srun. `scontrol show step` lists the steps of all users and hosts, and contains the account, host and pid of srun for each. Its
host name is the part before the first dot.
@param srun - `uid` is undefined in a user namespace, where Slurm knows the account by another number.
*/
export function jobOfStep(steps: string, {pid, uid, hostname}: Srun): number | undefined {
	const sender = `SrunHost:Pid=${hostname.split('.', 1)[0]}:${pid}`;
	for (const line of steps.split('\n')) {
		const words = new Set(line.split(' '));
		const job = /^StepId=(?<job>\d+)\./v.exec(line)?.groups?.['job'];
		if (job !== undefined && words.has(sender) && (uid === undefined || words.has(`UserId=${uid}`))) {
			return Number(job);
		}
	}

	return undefined;
}

async function knownJobs(cluster: Cluster, clock: Clock): Promise<readonly SlurmJob[]> {
	const enough = new AbortController();
	// Reads all jobs, because for a job in cleanup, scontrol alone does not report how it ended.
	const read = cluster.until(enough.signal).read();
	// Stops waiting after a while. The command has already ended, and a controller that has not answered by now may never report the job.
	void (async () => {
		await clock.sleep(longestStateMs, enough.signal).catch(() => undefined);
		enough.abort();
	})();

	try {
		const {jobs} = await read;
		return jobs;
	} catch {
		return [];
	} finally {
		enough.abort();
	}
}

/** Asks srun to check a job without running it. Throws if srun rejects the job. `isAway` finds out whether nodes are out of service. */
async function checkTaken(cluster: Cluster, words: readonly string[], isAway: () => Promise<boolean>): Promise<void> {
	try {
		await cluster.run('srun', ...words);
	} catch (error) {
		if (error instanceof CanhazgpuError && error.code === 'store-unreachable') {
			throw new CanhazgpuError('store-unreachable', error.message, {
				hint: 'A job that srun could not cancel is still in the queue, and may get GPUs that nobody uses. Find the job and cancel it: squeue --me, scancel JOB',
				cause: error,
			});
		}

		throw hasCode(error, 'impossible') && (await isAway()) ? outOfServiceError() : error;
	}
}

/** Tolerance for the start and end of jobs, which are in whole seconds of the controller's clock. */
const clockToleranceSeconds = 1;

export function submission(
	cluster: Cluster,
	clock: Clock,
	{request, words, waitSeconds, later, isHeld, isQuiet, hasTerminal, environment}: Submission,
	gres: Gres,
): Submitted {
	const [command] = words;
	const requestFlags = [
		...requestWords(request, {waitSeconds, gres, name: path.basename(command)}),
		...laterWords(later),
	];
	const beganMs = clock.monotonicMs();
	// Only with --immediate does srun report by its exit code that no GPU is free. Without --immediate, the same exit code comes from the job's command.
	const isImmediate = waitSeconds !== undefined || (environment['SLURM_IMMEDIATE'] ?? '') !== '';
	// Creates a gate only if needed, because a gate delays srun by some milliseconds.
	const gate = isHeld || isImmediate ? createStartGate(clock, isHeld) : undefined;
	const soonest = Math.floor(Date.now() / 1000) - clockToleranceSeconds;
	let jobId: number | undefined;
	/** Returns whether the command itself exited with this code, by the exit code of the account's latest job of the command. Used without a gate. */
	const hasRun = async (code: number): Promise<boolean> => {
		const jobs = await knownJobs(cluster, clock);
		const last = jobs
			.filter(
				({user, name, isBatch, submitTime}) =>
					user === request.requester.account && name === path.basename(command) && !isBatch && submitTime >= soonest,
			)
			.toSorted((a, b) => a.id - b.id)
			.at(-1);
		return last?.startTime !== undefined && last.exitCode === code;
	};

	/** Called if no job is known. If the exit code is from srun itself, returns `interruptedCode`, or throws if it is undefined. */
	const checkFailure = async (exitCode: number, interruptedCode: number | undefined): Promise<number | undefined> => {
		if (exitCode === noConfiguration) {
			// This command needs only the configuration, and fails if there is none.
			await cluster.run('scontrol', 'show', 'hostnames', 'localhost');
			return undefined;
		}

		const isNone = exitCode === nothingFree && isImmediate;
		if ((!isNone && exitCode !== slurmFailed) || (gate === undefined && (await hasRun(exitCode)))) {
			return undefined;
		}

		if (interruptedCode !== undefined) {
			return interruptedCode;
		}

		if (isNone) {
			throw noneNowError();
		}

		const test = ['--test-only', '--ntasks=1', ...requestFlags.filter((word) => !word.startsWith('--immediate'))];
		await checkTaken(cluster, [...test, '--', command], async () => {
			const {nodes} = await cluster.read();
			return isImmediate && isOutOfService(nodes, gres, request.host);
		});
		throw waitSeconds === undefined
			? new CanhazgpuError('failed', 'Slurm did not run the command', {hint: 'Its message is above.'})
			: noneInTimeError(later.after !== undefined || later.begin !== undefined);
	};

	const granted: Submitted['granted'] = async (pid, signal) => {
		jobId = await gate?.jobId(signal);
		let pauseMs = jobId === undefined ? firstQuestionMs : 0;
		const asked = cluster.until(signal);
		const {uid, userNamespace} = request.requester;
		const own = {uid: userNamespace === undefined ? uid : undefined, hostname: os.hostname()};
		for (;;) {
			// Waits first, because a command that ends at once needs no report.
			await clock.sleep(pauseMs, signal).catch(() => undefined);
			pauseMs = Math.min(isQuiet ? longestQuietQuestionMs : longestQuestionMs, Math.max(firstQuestionMs, pauseMs * 2));
			if (signal.aborted) {
				return undefined;
			}

			try {
				jobId ??= jobOfStep(await asked.run('scontrol', 'show', 'step', '--oneliner'), {...own, pid});
				if (jobId !== undefined) {
					return isQuiet ? undefined : grantOf(await asked.read(), jobId);
				}
			} catch (error) {
				// Asks an unreachable controller again later. Meanwhile, the command keeps running.
				if (!(error instanceof CanhazgpuError)) {
					throw error;
				}
			}
		}
	};

	return {
		words: [
			'srun',
			'--ntasks=1',
			...requestFlags,
			...(gate === undefined ? [] : [`--prolog=${gate.program}`]),
			...(hasTerminal ? ['--pty'] : ['--unbuffered', '--quit-on-interrupt']),
			'--',
			...words,
		],
		environment: {
			...clusterEnvironment(environment),
			SLURM_EXIT_ERROR: String(slurmFailed),
			SLURM_EXIT_IMMEDIATE: String(nothingFree),
		},
		granted,
		begin() {
			gate?.open();
		},
		async exitCodeOf(exitCode, interruptedCode) {
			const failedCode = jobId === undefined ? await checkFailure(exitCode, interruptedCode) : undefined;
			if (failedCode !== undefined) {
				return failedCode;
			}

			const hasLimit = request.tenure.type === 'run' && request.tenure.timeLimitSeconds !== undefined;
			const mayHide = exitCode === 0 ? clock.monotonicMs() - beganMs >= soonestFailureMs : hasLimit;
			const jobs = mayHide && jobId !== undefined ? await knownJobs(cluster, clock) : [];
			const state = jobs.find(({id}) => id === jobId)?.stateWord;
			if (exitCode === 0) {
				return nodeFailures.has(state ?? '') ? killedExitCode : 0;
			}

			return hasLimit && state === 'TIMEOUT' ? timedOutExitCode : exitCode;
		},
	};
}

/** A shell line that sets the index of an array's task, as for jobs without Slurm. */
const exportIndex = 'export CANHAZGPU_ARRAY_INDEX="$SLURM_ARRAY_TASK_ID"\n';

/** Whether the controller may have got a request that failed: it was sent, and only the answer is missing. */
function mayHaveReached(error: unknown): error is CanhazgpuError {
	if (!hasCode(error, 'store-unreachable')) {
		return false;
	}

	const {said = '', isTimeout = false} = (error.details ?? {}) as {said?: string; isTimeout?: boolean};
	return isTimeout || /socket timed out|zero bytes/iv.test(said);
}

/** Returns an error for a submission that may have reached the controller, although its answer did not come back. */
const unsureSubmission = (error: CanhazgpuError): CanhazgpuError =>
	new CanhazgpuError(error.code, error.message, {
		hint: `Slurm may have taken the job. Before you try again, look for it: squeue --me. ${error.hint ?? ''}`.trim(),
		cause: error,
	});

/** Submits a command to sbatch, with the environment of this program. As with sbatch, its output goes to a file. */
export async function submitDetached(
	{request, words, later, environment}: Submission,
	directory: string,
	gres: Gres,
): Promise<DetachedJob> {
	const submitted = runSlurm(
		'sbatch',
		[
			'--parsable',
			'--ntasks=1',
			...requestWords(request, {waitSeconds: undefined, gres, name: path.basename(words[0])}),
			...laterWords(later),
			// Cancels a job that can never start, as in a pool. Not part of `laterWords`, because srun has no such option.
			...(later.after === undefined ? [] : ['--kill-on-invalid-dep=yes']),
			`--chdir=${directory}`,
			`--wrap=${later.array === undefined ? '' : exportIndex}${scriptOf(words)}`,
		],
		{environment: submitEnvironment('sbatch', environment)},
	);
	const printed = await submitted.catch((error: unknown) => {
		throw mayHaveReached(error) ? unsureSubmission(error) : error;
	});
	// With several clusters the output includes the cluster: 17;lab.
	const jobId = /^\d+/v.exec(printed)?.[0];
	if (jobId === undefined) {
		throw new CanhazgpuError('failed', 'Slurm accepted the job, but did not print its id', {
			hint: 'To find it: squeue --me',
		});
	}

	return {jobId, output: later.array === undefined ? `slurm-${jobId}.out` : `slurm-${jobId}_N.out`};
}
