/** `run`: srun carries the command, with our terminal, our input and our signals, and ends with the command's exit code. */
import path from 'node:path';
import {CanhazgpuError, hasCode} from '../../errors.js';
import type {Clock} from '../../core/model/ports.js';
import type {DetachedJob, Submission, Submitted} from '../../core/operations/engine.js';
import type {SlurmJob} from './answers/jobs.js';
import {clusterEnvironment, runSlurm, type Cluster} from './cluster.js';
import {noneInTimeError, noneNowError, outOfServiceError} from './refusals.js';
import {grantOf} from './snapshot.js';
import {createStartGate} from './start-gate.js';
import {isOutOfService, laterWords, requestWords, scriptOf, type Gres} from './request-words.js';

/** Exit code of srun if Slurm failed and not the command. Few commands use it. */
const slurmFailed = 243;
/** ... and where nothing was free in time. */
const nothingFree = 244;

/** Exit code of srun if it finds no configuration. Many commands use it, too. */
const noConfiguration = 1;

const timedOutExitCode = 124;
/** Exit code of a command that was killed. */
const killedExitCode = 137;

/** Srun exits with 0 where a node fails below its command. */
const nodeFailures = new Set(['NODE_FAIL', 'BOOT_FAIL']);

/** No node is found to have failed within so short a time: a short command is not held up by a question. */
const soonestFailureMs = 1000;

/** How long the controller may take to say how a job ended. */
const longestStateMs = 10_000;

/** Interval between queries for the job of an srun. */
const firstQuestionMs = 250;
const longestQuestionMs = 2000;
/** ... where the grant is not reported. */
const longestQuietQuestionMs = 10_000;

/** Which job an srun runs, by its own pid: `scontrol show step` names the srun of each step. */
function jobOfStep(steps: string, pid: number): number | undefined {
	for (const line of steps.split('\n')) {
		const {job} =
			new RegExp(String.raw`^StepId=(?<job>\d+)\..* SrunHost:Pid=\S+:${pid}(?: |$)`, 'v').exec(line)?.groups ?? {};
		if (job !== undefined) {
			return Number(job);
		}
	}

	return undefined;
}

/** The jobs that the controller knows. None where it does not say. */
async function knownJobs(cluster: Cluster, clock: Clock): Promise<readonly SlurmJob[]> {
	const enough = new AbortController();
	// For a job in cleanup, scontrol reports nothing else.
	const read = cluster.until(enough.signal).read();
	// A controller that is away has said nothing of this job, and who waits for the command waits no longer for it.
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

/**
Asks srun again without running anything: then it says in words that can be read here why it takes no such job.

@throws CanhazgpuError Where it takes none. Of nodes that are out of service (`isAway`) srun says the same as of those that no cluster has.
*/
async function checkTaken(cluster: Cluster, words: readonly string[], isAway: () => Promise<boolean>): Promise<void> {
	try {
		await cluster.run('srun', ...words);
	} catch (error) {
		if (error instanceof CanhazgpuError && error.code === 'store-unreachable') {
			throw new CanhazgpuError('store-unreachable', error.message, {
				hint: 'A job that srun could not take back still waits, and gets GPUs that nobody uses: squeue --me, scancel JOB',
				cause: error,
			});
		}

		throw hasCode(error, 'impossible') && (await isAway()) ? outOfServiceError() : error;
	}
}

/** Jobs are asked for and end on the controller's clock, which counts whole seconds. */
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
	// If this option is missing, srun never reports a shortage, and a command may exit with that code itself.
	const isImmediate = waitSeconds !== undefined || (environment['SLURM_IMMEDIATE'] ?? '') !== '';
	// A gate makes srun begin some milliseconds later.
	const gate = isHeld || isImmediate ? createStartGate(clock, isHeld) : undefined;
	const soonest = Math.floor(Date.now() / 1000) - clockToleranceSeconds;
	let jobId: number | undefined;
	/** Checks, when there is no gate, whether the account's latest job of this command exited with that code, which srun also uses. */
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

	/** @throws CanhazgpuError Where srun, which is not known to have got a job, exited with that for itself. */
	const throwFailure = async (exitCode: number): Promise<void> => {
		if (exitCode === noConfiguration) {
			// Needs the configuration, and nothing else: it fails where srun found none.
			await cluster.run('scontrol', 'show', 'hostnames', 'localhost');
			return;
		}

		const isNone = exitCode === nothingFree && isImmediate;
		if ((!isNone && exitCode !== slurmFailed) || (gate === undefined && (await hasRun(exitCode)))) {
			return;
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
		// No answer is waited for once the command has ended.
		const asked = cluster.until(signal);
		for (;;) {
			// A command that ends at once has no need of words, and does not wait for them.
			await clock.sleep(pauseMs, signal).catch(() => undefined);
			pauseMs = Math.min(isQuiet ? longestQuietQuestionMs : longestQuestionMs, Math.max(firstQuestionMs, pauseMs * 2));
			if (signal.aborted) {
				return undefined;
			}

			try {
				jobId ??= jobOfStep(await asked.run('scontrol', 'show', 'step', '--oneliner'), pid);
				if (jobId !== undefined) {
					return isQuiet ? undefined : grantOf(await asked.read(), jobId);
				}
			} catch (error) {
				// A controller that is away is asked again: the command runs without it.
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
		async exitCodeOf(exitCode) {
			if (jobId === undefined) {
				await throwFailure(exitCode);
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

/** Hands a command to sbatch. It gets the environment of this program, and its output goes to a file, as with sbatch itself. */
export async function submitDetached(
	{request, words, later, environment}: Submission,
	directory: string,
	gres: Gres,
): Promise<DetachedJob> {
	const printed = await runSlurm(
		'sbatch',
		[
			'--parsable',
			'--ntasks=1',
			...requestWords(request, {waitSeconds: undefined, gres, name: path.basename(words[0])}),
			...laterWords(later),
			`--chdir=${directory}`,
			`--wrap=${scriptOf(words)}`,
		],
		{environment: clusterEnvironment(environment)},
	);
	// With several clusters the output includes the cluster: 17;lab.
	const jobId = /^\d+/v.exec(printed)?.[0];
	if (jobId === undefined) {
		throw new CanhazgpuError('failed', 'Slurm took the job and did not say its number', {hint: 'See it: squeue --me'});
	}

	return {jobId, output: later.array === undefined ? `slurm-${jobId}.out` : `slurm-${jobId}_N.out`};
}
