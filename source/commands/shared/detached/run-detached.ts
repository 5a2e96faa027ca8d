/** The wrapper of a detached job: waits until it may start, then runs the command as `run` does, and keeps the record of the job. */
import process from 'node:process';
import {persist} from '../../../core/operations/jobs/await-start.js';
import {endJobLease, instancesOfJob, type JobLease} from '../../../core/operations/job-lease.js';
import {takeJob, type JobKeeper} from '../../../core/operations/jobs/job-keeper.js';
import {worldVia} from '../../../core/operations/world-via.js';
import {calledOff, ended, started, type JobEnding} from '../../../core/rules/jobs/changes.js';
import {exitReason, searchedBytes} from '../../../core/rules/jobs/exit-reason.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';
import {soundJobs} from '../../../core/rules/jobs/look.js';
import {isOverMaxWaiting} from '../../../core/rules/limits/limits.js';
import {isOver} from '../../../core/rules/jobs/start.js';
import type {Job} from '../../../core/model/jobs.js';
import {CanhazgpuError, isMissingPart, isTransient} from '../../../errors.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, Interruption, OpenWorld} from '../../../app/contract.js';
import type {Input} from '../../../command-line/command.js';
import {createBackground} from '../background.js';
import {runHere, type JobObserver, type RunRequest} from '../job/run-here.js';
import {reportNotStarted} from '../job/report-end.js';
import {detailsFor} from '../request-flags.js';
import {keepHeapSmall} from '../small-heap.js';
import {addedVariables, jobVariables, type Ticket} from '../job/ticket.js';

/** Time in ms to wait until the last output has been copied to the log. */
const copyMs = 200;

/** Time in ms between two attempts to get GPUs from a store that cannot be used. */
const retryMs = 1000;

/** The longest pause before another try to join the queue. Short enough to notice free room, and long enough for an array of many jobs. */
const longestPauseMs = 60_000;

/** Time in ms for which this process waits after a signal for a store that does not answer. Another process then records the end of the job. */
const lastTryMs = 10_000;

type Failure = {
	readonly exitCode: number;
	/** The size of the log when the command started. The log can begin with the output of earlier runs. */
	readonly logStart: number;
};

/** Looks for the cause of a failure at the end of the output and on the GPUs. Never rejects. */
async function reasonOf(
	app: App,
	world: OpenWorld,
	job: Job,
	{exitCode, logStart}: Failure,
): Promise<string | undefined> {
	const background = createBackground(app.remark);
	return background.attempt(async () => {
		const [{readLogEnd}, {gpus}] = await Promise.all([
			app.loadDetaching(),
			world.gpus.observe(),
			app.clock.sleep(copyMs),
		]);
		return exitReason({
			exitCode,
			output: readLogEnd(job.log, searchedBytes, logStart),
			readings: gpus.filter(({index}) => job.gpus?.includes(index)),
		});
	});
}

/** Returns an app whose changes of the pool are recorded in the audit log as made via `via`. */
const appVia = (app: App, via: string): App => ({
	...app,
	open: async (options) => worldVia(await app.open(options), via),
});

type Attempt = {
	readonly exitCode: number;
	readonly ending: JobEnding;
	readonly hasStarted: boolean;
	/** The lease of the attempt. During an outage of the store, its release may have been given up. */
	readonly jobLease?: JobLease | undefined;
};

type NotStarted = {readonly ticket: Ticket; readonly request: RunRequest['request']; readonly isAsked: boolean};

/** Notifies the user that the command never started. Reads the reason from the record, because another process may have ended the job. */
async function notifyNotStarted(app: App, world: OpenWorld, {ticket, request, isAsked}: NotStarted): Promise<void> {
	await createBackground(app.remark).attempt(async () => {
		const job = soundJobs(await world.store.readJobs([ticket.number])).find(({token}) => token === ticket.token);
		if (job !== undefined && isOver(job)) {
			await reportNotStarted(app, {request, isAsked, jobId: jobIdOf(job), problem: job.reason ?? job.state});
		}
	});
}

/**
Releases the GPUs of an attempt that has ended, unless they are released already. Retries until the store answers. No other command would release
them while this process is alive, and the next attempt would wait for its own GPUs.
*/
async function giveBackLater(app: App, world: OpenWorld, jobLease: JobLease, signal: AbortSignal): Promise<void> {
	await createBackground(app.remark).attempt(async () =>
		persist(world, async () => endJobLease(world, jobLease, 'exited'), signal),
	);
}

/**
Stores why a job cannot join the queue, so that `jobs` shows it. Undefined means that the job has joined the queue. After a failed run, the record keeps
the reason of that failure instead.
*/
async function noteObstacle(keeper: JobKeeper, reason: string | undefined, signal: AbortSignal): Promise<void> {
	const {starts, reason: noted} = keeper.job();
	if (starts === 0 && noted !== reason) {
		await keeper.update((job) => (job.state === 'queued' ? {...job, reason} : undefined), signal);
	}
}

async function runOnce(
	app: App,
	input: Input,
	request: RunRequest,
	{keeper, interruption}: {readonly keeper: JobKeeper; readonly interruption: Interruption},
): Promise<Attempt> {
	const background = createBackground(app.remark);
	const leaseId = app.clock.uuid();
	const over = new AbortController();
	/** The updates that store the process of the command in the record. Undefined until the command has started. */
	let noting: Promise<unknown> | undefined;
	let ending: JobEnding | undefined;
	let jobLease: JobLease | undefined;
	const observer: JobObserver = {
		interruption,
		variables: {...addedVariables(app), ...jobVariables(keeper.job())},
		waiting() {
			void background.attempt(async () => noteObstacle(keeper, undefined, over.signal));
		},
		async granted(lease, signal) {
			jobLease = lease;
			const changed = await keeper.update(
				(job, now) => started(job, {...lease, instances: instancesOfJob(lease)}, now),
				signal,
			);
			return changed !== undefined;
		},
		running(command) {
			const update = background.attempt(async () => keeper.update((job) => ({...job, job: command}), over.signal));
			noting = Promise.all([noting, update]);
		},
		ended({exitCode, reason, isStopped}) {
			ending = {exitCode, isTimeout: reason === 'timeout', isStopped};
			return isOver(ended(keeper.job(), ending, 0));
		},
	};
	const {via} = keeper.job();
	const appOfJob = via === undefined ? app : appVia(app, via);
	const {waitSeconds = Infinity} = request;
	const deadlineMs = app.clock.monotonicMs() + waitSeconds * 1000;
	const requestOfJob = {
		...request,
		leaseId,
		// The entry can still be in the queue after an outage, because this process is still alive.
		entryId: app.clock.uuid(),
		request: {...request.request, via},
	};
	let waitLeft = request.waitSeconds;
	const notStarted = {reason: 'it was stopped before its command started'};
	const endWithBug = async (error: unknown) => {
		const reason = isMissingPart(error) ? 'canhazgpu was replaced or removed' : 'a bug in canhazgpu';
		return keeper.update((job, now) => ended(job, {...ending, reason}, now), interruption.signal);
	};

	let said: string | undefined;
	let pauseMs = retryMs;
	while (!interruption.signal.aborted) {
		try {
			const exitCode = await runHere(appOfJob, input, {...requestOfJob, waitSeconds: waitLeft}, observer);
			return {exitCode, ending: ending ?? notStarted, hasStarted: noting !== undefined, jobLease};
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				await endWithBug(error);
				throw error;
			}

			const isQueueFull = isOverMaxWaiting(error) && app.clock.monotonicMs() < deadlineMs;
			if (noting !== undefined || !(isTransient(error) || isQueueFull)) {
				app.remark(`Error: ${sanitize(error.message)}${error.hint === undefined ? '' : `\n${sanitize(error.hint)}`}`);
				return {
					exitCode: error.exitCode,
					ending: ending ?? {reason: error.message},
					hasStarted: noting !== undefined,
					jobLease,
				};
			}

			if (error.message !== said) {
				said = error.message;
				const what = isQueueFull ? 'join the queue yet' : 'start until the store answers';
				app.remark(`canhazgpu: the command cannot ${what}: ${sanitize(said)}`);
				if (isQueueFull) {
					await background.attempt(async () => noteObstacle(keeper, error.message, interruption.signal));
				}
			}

			pauseMs = isQueueFull ? Math.min(pauseMs * 2, longestPauseMs) : retryMs;
		} finally {
			if (noting !== undefined) {
				over.abort();
				await noting;
			}
		}

		const randomMs = pauseMs * (0.5 + app.clock.random() / 2);
		// Negative after the deadline, while the store has not answered yet.
		const leftMs = deadlineMs - app.clock.monotonicMs();
		await app.clock
			.sleep(leftMs > 0 ? Math.min(randomMs, leftMs) : randomMs, interruption.signal)
			.catch(() => undefined);
		if (waitSeconds !== 0 && waitSeconds !== Infinity) {
			// Never 0, because a request with an entry must leave the queue at its deadline.
			waitLeft = Math.max(1, (deadlineMs - app.clock.monotonicMs()) / 1000);
		}
	}

	return {exitCode: interruption.exitCode(), ending: notStarted, hasStarted: false};
}

export async function runDetached(app: App, input: Input, request: RunRequest, ticket: Ticket): Promise<number> {
	// Each waiting job has a process like this one, so the process must stay small.
	keepHeapSmall();
	const interruption = app.interruption();
	const over = new AbortController();
	const givenUp = new AbortController();
	interruption.signal.addEventListener('abort', () => {
		void (async () => {
			await app.clock.sleep(lastTryMs, over.signal).catch(() => undefined);
			givenUp.abort();
		})();
	});
	let world: OpenWorld | undefined;
	try {
		// The outage of the store can begin after the job was submitted and before this process first connects.
		world = await persist(app, async () => app.open({keepReconnecting: true}), interruption.signal);
		if (world === undefined) {
			return interruption.exitCode();
		}

		// An upgrade can remove the files of the program while the job waits.
		const [{sizeOfLog}] = await Promise.all([app.loadDetaching(), app.loadAhead(detailsFor(request.request.need))]);
		const keeper = await takeJob(world, ticket, interruption.signal);
		if (keeper === undefined) {
			return 1;
		}

		const keeping = keeper.keep(over.signal, () => {
			// A cancellation by root or from another container sends no signal, so this process sends the signal to itself.
			if (!interruption.signal.aborted) {
				process.kill(process.pid, 'SIGTERM');
			}
		});
		const notStarted = {ticket, request: request.request, isAsked: input.has('notify')};
		if (!(await keeper.awaitStart(interruption.signal))) {
			await keeper.update(
				(job, now) => calledOff(job, 'the background process of the job was stopped', now),
				givenUp.signal,
			);
			await notifyNotStarted(app, world, notStarted);
			return interruption.signal.aborted ? interruption.exitCode() : 1;
		}

		for (;;) {
			const logStart = sizeOfLog(keeper.job().log);
			const {exitCode, ending, hasStarted, jobLease} = await runOnce(app, input, request, {keeper, interruption});
			const code = ending.exitCode ?? 0;
			const reason =
				code === 0 || interruption.signal.aborted
					? undefined
					: await reasonOf(app, world, keeper.job(), {exitCode: code, logStart});
			const job = await keeper.update((found, now) => {
				// The signal can arrive during the search for the reason, or while the store is unreachable.
				const isStopped = ending.isStopped === true || interruption.signal.aborted;
				return ended(found, {...ending, reason: reason ?? ending.reason, isStopped}, now);
			}, givenUp.signal);
			if (job?.state !== 'queued') {
				if (!hasStarted) {
					await notifyNotStarted(app, world, notStarted);
				}

				over.abort();
				await keeping;
				return exitCode;
			}

			app.remark(
				`canhazgpu: the command failed with exit code ${ending.exitCode}. Running it again (retry ${job.starts} of ${job.retries})`,
			);
			if (jobLease !== undefined) {
				await giveBackLater(app, world, jobLease, interruption.signal);
			}
		}
	} finally {
		over.abort();
		interruption.end();
		await world?.close().catch(() => undefined);
	}
}
