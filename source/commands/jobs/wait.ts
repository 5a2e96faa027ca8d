import {jobsWithIds, readCurrentJobs} from '../../core/operations/jobs/jobs.js';
import type {Engine} from '../../core/operations/engine.js';
import {watchForLoss} from '../../core/operations/jobs/missed-record.js';
import {createWakeSignal} from '../../core/operations/waiting/wake-signal.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {soundJobs} from '../../core/rules/jobs/look.js';
import {combineAnswers, type JobRow} from '../../core/rules/jobs/rows.js';
import {endText, endWords, isOver} from '../../core/rules/jobs/start.js';
import type {World} from '../../core/model/ports.js';
import {hasCode, isTransient} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import type {Command} from '../../command-line/command.js';
import type {Job} from '../../core/model/jobs.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {jobIdsOf} from './job-words.js';

/** Interval in ms between checks. Needed because a job that is killed announces no change. */
const lookMs = 5000;

/** The exit code for a job that failed without an exit code of its own. */
const failedExitCode = 1;

/** Waits until the jobs have ended. Returns undefined if a signal ended the wait. */
export async function awaitJobs(
	app: Pick<App, 'clock'>,
	world: World,
	ids: readonly string[],
	signal: AbortSignal,
): Promise<readonly Job[] | undefined> {
	const latest = new Map(jobsWithIds(await readCurrentJobs(world), ids).map(({number, job}) => [number, job]));
	const numbers = latest.keys().toArray();
	const isLost = watchForLoss(app);
	const wakeSignal = createWakeSignal();
	const unsubscribe = await world.store.subscribe({
		changed(event) {
			if (event === undefined || event.jobs?.some((number) => numbers.includes(number)) === true) {
				wakeSignal.wake();
			}
		},
		restored: wakeSignal.wake,
	});
	try {
		while (!signal.aborted) {
			try {
				const found = soundJobs(await readCurrentJobs(world, numbers));
				for (const job of found) {
					latest.set(job.number, job);
				}

				// If a record is missing, the store has lost its data. A job that had ended stays as it was. The wrapper of any other job writes the
				// record back.
				const jobs = latest.values().toArray();
				if (jobs.every((job) => isOver(job))) {
					return jobs;
				}

				const isMissing = jobs.some((job) => !isOver(job) && found.every(({number}) => number !== job.number));
				if (isLost(isMissing)) {
					return jobs.map((job) =>
						isOver(job) ? job : {...job, state: 'lost', reason: 'the store has lost its record'},
					);
				}
			} catch (error) {
				// The wrappers may not reach the store either, so they get the full time again to restore lost records.
				isLost(false);
				if (!isTransient(error)) {
					throw error;
				}
			}

			await wakeSignal.wait(app.clock, lookMs * (0.75 + app.clock.random() / 2), signal);
		}

		return undefined;
	} finally {
		await unsubscribe();
	}
}

/** Waits until the engine's jobs have ended. Returns undefined if a signal ended the wait. */
export async function awaitEngineJobs(
	app: Pick<App, 'clock' | 'requester'>,
	{engine}: {readonly engine?: Pick<Engine, 'jobs'> | undefined},
	ids: readonly string[],
	signal: AbortSignal,
): Promise<readonly JobRow[] | undefined> {
	const {account} = app.requester(undefined);
	const find = async (id: string): Promise<readonly JobRow[]> => engine!.jobs.find([id], account);
	const findAgain = async (id: string, rows: readonly JobRow[]): Promise<readonly JobRow[]> => {
		try {
			return combineAnswers(rows, await find(id));
		} catch (error) {
			if (isTransient(error)) {
				return rows;
			}

			if (hasCode(error, 'usage')) {
				return combineAnswers(rows, []);
			}

			throw error;
		}
	};

	let found = await Promise.all(ids.map(async (id) => engine!.jobs.findAll([id], account)));
	const hasEnded = (rows: readonly JobRow[]): boolean => rows.every((row) => isOver(row));
	while (found.some((rows) => !hasEnded(rows))) {
		await app.clock.sleep(lookMs, signal).catch(() => undefined);
		if (signal.aborted) {
			return undefined;
		}

		found = await Promise.all(found.map(async (rows, index) => (hasEnded(rows) ? rows : findAgain(ids[index]!, rows))));
	}

	return found.flat();
}

export const wait: Command = {
	name: 'wait',
	summary: 'Wait until jobs have ended, and exit with their exit code',
	usage: 'ID...',
	examples: [
		['canhazgpu wait 7', 'until job 7, or every job of array 7, has ended'],
		['canhazgpu wait 7 && ./publish.sh', 'publish once job 7 has succeeded'],
	],
	notes: [
		"Exit codes: the job's own, such as 143 after SIGTERM; for several jobs, the first that is not 0; 1 for a job without an exit code, such as one that was cancelled before it started.",
	],
	flags: {on: onFlag},
	takesWords: true,
	takesSeveralWords: true,
	words: 'jobs',
	secondsElsewhere: 'unlimited',
	async run(app, input) {
		const ids = jobIdsOf(input, 'wait');
		const elsewhere = await runOnNamedHost(app, input, wait);
		if (elsewhere !== undefined) {
			return elsewhere;
		}

		return withWorld(app, {keepReconnecting: true}, async (world) => {
			const interruption = app.interruption();
			try {
				const {engine} = world;
				const found = await (engine === undefined ? awaitJobs : awaitEngineJobs)(app, world, ids, interruption.signal);
				if (found === undefined) {
					return interruption.exitCode();
				}

				const failed = found.filter(({state}) => state !== 'completed');
				for (const job of failed) {
					const why = job.reason === undefined ? '' : `: ${sanitize(job.reason)}`;
					const code = (job.exitCode ?? 0) === 0 ? '' : ` with exit code ${job.exitCode}`;
					app.remark(
						`canhazgpu: ${'number' in job ? endText(job) : `job ${job.id} ${endWords[job.state]}`}${code}${why}. Its output: canhazgpu logs ${'number' in job ? jobIdOf(job) : job.id}`,
					);
				}

				return failed.length === 0 ? 0 : (failed.find(({exitCode = 0}) => exitCode !== 0)?.exitCode ?? failedExitCode);
			} finally {
				interruption.end();
			}
		});
	},
};
