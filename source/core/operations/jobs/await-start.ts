import type {Job, JobList} from '../../model/jobs.js';
import type {World} from '../../model/ports.js';
import {jobsNamed} from '../../rules/jobs/ids.js';
import {soundJobs} from '../../rules/jobs/look.js';
import {missingIds, startOf, type Start} from '../../rules/jobs/start.js';
import {createWakeSignal} from '../waiting/wake-signal.js';
import {isTransient} from '../../../errors.js';
import {readCurrentJobs} from './jobs.js';

const retryMs = 1000;

/** Interval at which a pending job reads the jobs that it depends on. Each of these jobs, or each earlier job of an array, adds `moreMsForEach`. */
const shortestLookMs = 2000;
const moreMsForEach = 100;
const longestLookMs = 20_000;

/** The longest single sleep before a start time. After it, the clock is read again, because the clock may have been set in the meantime. */
const longestSleepMs = 30_000;

/** Repeats work while the store is unusable. Returns undefined if the signal is aborted first. */
export async function persist<Result>(
	{clock}: Pick<World, 'clock'>,
	work: () => Promise<Result>,
	signal: AbortSignal | undefined,
): Promise<Result | undefined> {
	const never = new AbortController().signal;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!isTransient(error)) {
				throw error;
			}
		}

		await createWakeSignal().wait(clock, retryMs * (0.5 + clock.random()), signal ?? never);
		if (signal?.aborted === true) {
			return undefined;
		}
	}
}

/** Returns the numbers of the jobs on which a pending job depends. These numbers never change, because an array is stored in one commit. */
function concerningNumbers(job: Job, list: JobList): readonly number[] {
	const jobs = soundJobs(list);
	const concerning = [
		...job.after.flatMap(({id}) => jobsNamed(jobs, id)),
		...(job.array?.limit === undefined ? [] : jobsNamed(jobs, String(job.array.id))),
	];
	return [...new Set([job.number, ...concerning.map(({number}) => number)])];
}

/** Returns how long to wait before the jobs are read again. `concerning` is how many jobs are read. */
function lookAgainMs(
	start: Start,
	job: Job,
	{now, concerning}: {readonly now: number; readonly concerning: number},
): number {
	switch (start.kind) {
		case 'at': {
			return Math.min(longestSleepMs, Math.max(0, (start.time - now) * 1000));
		}

		case 'in-turn': {
			const ahead = start.before - (job.array?.limit ?? 0);
			return Math.min(longestLookMs, shortestLookMs + ahead * moreMsForEach);
		}

		default: {
			return Math.min(longestLookMs, shortestLookMs + concerning * moreMsForEach);
		}
	}
}

type WaitOptions = {
	readonly signal: AbortSignal;
	readonly onStart?: (start: Start) => void;
};

/**
Waits until {@link startOf} decides that a job may start or will never start. Undefined if the signal is aborted, or if `find` returns undefined to
end the wait.
*/
export async function awaitStart(
	world: World,
	find: (list: JobList) => Job | undefined | Promise<Job | undefined>,
	{signal, onStart}: WaitOptions,
): Promise<Start | undefined> {
	const wakeSignal = createWakeSignal();
	let numbers: readonly number[] | undefined;
	let isNear = true;
	/** Since when every read has lacked a job on which this job depends. Undefined if none is missing. */
	let missedSinceMs: number | undefined;
	const read = async (): Promise<JobList> => {
		try {
			return await readCurrentJobs(world, numbers);
		} catch (error) {
			// Other wrappers may not reach the store either, so they get the full time again to restore lost records.
			missedSinceMs = undefined;
			throw error;
		}
	};

	const concerns = (changed: readonly number[] = []): boolean =>
		numbers === undefined || changed.some((number) => numbers?.includes(number));
	const unsubscribe = await persist(
		world,
		async () =>
			world.store.subscribe({
				changed(event) {
					const isOurs = event === undefined || (event.kind === 'job' && concerns(event.jobs));
					if (isOurs && isNear) {
						wakeSignal.wake();
					}
				},
				restored: wakeSignal.wake,
			}),
		signal,
	);
	try {
		while (!signal.aborted) {
			const list = await persist(world, read, signal);
			const job = list && (await find(list));
			if (list === undefined || job === undefined) {
				return undefined;
			}

			const jobs = soundJobs(list);
			if (missingIds(job, jobs).length === 0) {
				missedSinceMs = undefined;
				numbers ??= concerningNumbers(job, list);
			} else {
				missedSinceMs ??= world.clock.monotonicMs();
			}

			const missedMs = missedSinceMs === undefined ? 0 : world.clock.monotonicMs() - missedSinceMs;
			const start = startOf(job, jobs, list.now, missedMs / 1000);
			if (start.kind === 'now' || start.kind === 'never') {
				return start;
			}

			onStart?.(start);
			// In a long array, the end of one job wakes only the jobs that can start next.
			isNear = start.kind !== 'in-turn' || start.before <= (job.array?.limit ?? 0) + 1;
			const lookMs = lookAgainMs(start, job, {now: list.now, concerning: numbers?.length ?? 0});
			// A start time must not be missed.
			const most = start.kind === 'at' ? 1 : 1.25;
			await wakeSignal.wait(world.clock, lookMs * (most - world.clock.random() / 2), signal);
		}

		return undefined;
	} finally {
		await unsubscribe?.();
	}
}
