/** Takes over a detached job, waits until it may start, and keeps its record. Used by the wrapper of the job. */
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Job, JobList, JobState} from '../../model/jobs.js';
import type {World} from '../../model/ports.js';
import {calledOff, planJobChanges, queued, taken} from '../../rules/jobs/changes.js';
import {jobsNamed} from '../../rules/jobs/ids.js';
import {soundJobs, soundRecords} from '../../rules/jobs/look.js';
import {isOver, startOf, type Start} from '../../rules/jobs/start.js';
import {planPutBack} from '../../rules/jobs/submit.js';
import {createWakeSignal} from '../waiting/wake-signal.js';
import {isTransient} from '../waiting/waiter.js';
import {changeJob, changeJobs, readCurrentJobs} from './jobs.js';

const retryMs = 1000;

/** How often a job that is next in turn looks, and how much rarer one looks that has others before it. */
const shortestLookMs = 2000;
const moreMsForEach = 100;
const longestLookMs = 20_000;

/** The longest time until the next look at the clock, which can be set. */
const longestSleepMs = 30_000;

/** How often the record is put back if the store has lost it. */
const putBackMs = 60_000;

/** Repeats work while the store cannot be used. Returns undefined if the signal is aborted first. */
async function persist<Result>(
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

/** Returns which records a pending job depends on. This never changes, because an array is stored in one commit. */
function concerningNumbers(job: Job, list: JobList): readonly number[] {
	const jobs = soundJobs(list);
	const concerning = [
		...job.after.flatMap(({id}) => jobsNamed(jobs, id)),
		...(job.array?.limit === undefined ? [] : jobsNamed(jobs, String(job.array.id))),
	];
	return [...new Set([job.number, ...concerning.map(({number}) => number)])];
}

function lookAgainMs(start: Start, job: Job, now: number): number {
	switch (start.kind) {
		case 'at': {
			return Math.min(longestSleepMs, Math.max(0, (start.time - now) * 1000));
		}

		case 'in-turn': {
			const ahead = start.before - (job.array?.limit ?? 0);
			return Math.min(longestLookMs, shortestLookMs + ahead * moreMsForEach);
		}

		default: {
			return shortestLookMs;
		}
	}
}

type WaitOptions = {
	readonly signal: AbortSignal;
	readonly onStart?: (start: Start) => void;
};

/**
Waits until the job may start: its dependencies have ended, its time has come, and its array has a free slot.
@param find - Returns the job in what was read, or undefined if it is to wait no longer.
@returns The last decision, or undefined if the job is to wait no longer, or if the signal was aborted.
*/
export async function awaitStart(
	world: World,
	find: (list: JobList) => Job | undefined | Promise<Job | undefined>,
	{signal, onStart}: WaitOptions,
): Promise<Start | undefined> {
	const wakeSignal = createWakeSignal();
	let numbers: readonly number[] | undefined;
	let isNear = true;
	const read = async (): Promise<JobList> => readCurrentJobs(world, numbers);
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

			numbers ??= concerningNumbers(job, list);
			const start = startOf(job, soundJobs(list), list.now);
			if (start.kind === 'now' || start.kind === 'never') {
				return start;
			}

			onStart?.(start);
			// With a long array, the end of one job wakes only those that come next.
			isNear = start.kind !== 'in-turn' || start.before <= (job.array?.limit ?? 0) + 1;
			await wakeSignal.wait(world.clock, lookAgainMs(start, job, list.now) * (0.75 + world.clock.random() / 2), signal);
		}

		return undefined;
	} finally {
		await unsubscribe?.();
	}
}

const progress: Readonly<Partial<Record<JobState, number>>> = {pending: 0, queued: 1, running: 2};

/** Whether the store shows an earlier state than this wrapper has stored, because it has lost its last data. */
const isEarlier = (found: Job, latest: Job): boolean =>
	found.state === 'lost' ||
	(!isOver(found) &&
		(found.starts < latest.starts ||
			(found.starts === latest.starts && (progress[found.state] ?? 0) < (progress[latest.state] ?? 0))));

export type JobKeeper = {
	readonly job: () => Job;
	/** Waits until the job may start, and stores that it now waits for GPUs. Returns false if it never starts. */
	readonly awaitStart: (signal: AbortSignal) => Promise<boolean>;
	/**
	Stores a change, and waits for the store as long as necessary. Puts the record back if the store has lost it.
	@returns The changed job. Undefined if the job was cancelled or belongs to another wrapper, if `change` returns undefined, or after an abort.
	*/
	readonly update: (
		change: (job: Job, now: number) => Job | undefined,
		signal?: AbortSignal,
	) => Promise<Job | undefined>;
	/** Puts the record back now and then if the store has lost it, until the signal is aborted. */
	readonly keep: (signal: AbortSignal) => Promise<void>;
};

/** Takes over a job that was submitted for this wrapper. Returns undefined if the job was cancelled, or another wrapper has it. */
export async function takeJob(
	world: World,
	{number, token}: {readonly number: number; readonly token: string},
	signal: AbortSignal,
): Promise<JobKeeper | undefined> {
	const own = await persist(
		world,
		async () =>
			(await changeJob(world, number, (job) => taken(job, token, world.host))) ??
			// The answer to the change may have been lost.
			soundJobs(await world.store.readJobs([number])).find(
				(job) => job.token === token && job.isHeld && !isOver(job) && job.holder?.pid === world.host.self.pid,
			),
		signal,
	);
	if (own === undefined) {
		return undefined;
	}

	let latest = own;
	const planUpdate = (
		list: JobList,
		change: (job: Job, now: number) => Job | undefined,
	): {plan: Plan; result: Job | undefined} => {
		const record = soundRecords(list).find((each) => each.number === number);
		const nothing = {plan: emptyPlan, result: undefined};
		if (record === undefined) {
			const job = change(latest, list.now);
			const plan = job && planPutBack(list, job);
			return plan === undefined ? nothing : {plan, result: job};
		}

		const found = record.job;
		if (found.token !== token) {
			return nothing;
		}

		const current = isEarlier(found, latest)
			? {...latest, cancelledBy: found.cancelledBy ?? latest.cancelledBy}
			: found;
		const job = isOver(current) ? undefined : change(current, list.now);
		return job === undefined
			? nothing
			: {plan: planJobChanges([{record, job}], {now: list.now, host: world.host.hostname}), result: job};
	};

	const update: JobKeeper['update'] = async (change, signalOfUpdate) => {
		const changed = await persist(
			world,
			async () => changeJobs(world, {numbers: [number], plan: (list) => planUpdate(list, change)}),
			signalOfUpdate,
		);
		latest = changed ?? latest;
		return changed;
	};

	return {
		job: () => latest,
		update,
		async awaitStart(startSignal) {
			const start = await awaitStart(
				world,
				async (list) => {
					const found = soundJobs(list).find((job) => job.number === number);
					if (found === undefined || (found.token === token && isEarlier(found, latest))) {
						// If nothing could be updated, another job has this number now.
						return update((job) => job, startSignal);
					}

					return found.token === token && found.state === 'pending' ? found : undefined;
				},
				{signal: startSignal},
			);
			if (start === undefined) {
				return false;
			}

			const changed = await update(
				(job, now) => (start.kind === 'never' ? calledOff(job, start.reason, now) : queued(job)),
				startSignal,
			);
			return changed?.state === 'queued';
		},
		async keep(keepSignal) {
			const wakeSignal = createWakeSignal();
			while (!keepSignal.aborted) {
				await wakeSignal.wait(world.clock, putBackMs, keepSignal);
				const list = keepSignal.aborted ? undefined : await world.store.readJobs([number]).catch(() => undefined);
				const found = list && soundJobs(list).find((job) => job.number === number);
				if (list !== undefined && (found === undefined || (found.token === token && isEarlier(found, latest)))) {
					await update((job) => job, keepSignal);
				}
			}
		},
	};
}
