/** Keeps the record of a detached job for the job's wrapper: takes over the job, waits until the job may start, and stores changes. */
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Job, JobList, JobState} from '../../model/jobs.js';
import type {World} from '../../model/ports.js';
import {calledOff, planJobChanges, queued, taken} from '../../rules/jobs/changes.js';
import {soundJobs, soundRecords} from '../../rules/jobs/look.js';
import {isOver} from '../../rules/jobs/start.js';
import {planPutBack} from '../../rules/jobs/submit.js';
import {createWakeSignal} from '../waiting/wake-signal.js';
import {awaitStart, persist} from './await-start.js';
import {changeJob, changeJobs} from './jobs.js';

/** How often the record is checked, and written again if the store has lost it. */
const putBackMs = 60_000;

const progress: Readonly<Partial<Record<JobState, number>>> = {pending: 0, queued: 1, running: 2};

/** Whether the found job has an earlier state than this wrapper has stored. If so, the store has lost its newest data. */
const isEarlier = (found: Job, latest: Job): boolean =>
	found.state === 'lost' ||
	(!isOver(found) &&
		(found.starts < latest.starts ||
			(found.starts === latest.starts && (progress[found.state] ?? 0) < (progress[latest.state] ?? 0))));

export type JobKeeper = {
	readonly job: () => Job;
	/** Waits until the job may start, and stores that the job now waits for GPUs. Returns false if the job never starts. */
	readonly awaitStart: (signal: AbortSignal) => Promise<boolean>;
	/**
	Stores a change, and waits for the store as long as necessary. Writes the record again if the store has lost it. Returns the changed job.
	Undefined if the job was cancelled or belongs to another wrapper, if `change` returns undefined, or after an abort.
	*/
	readonly update: (
		change: (job: Job, now: number) => Job | undefined,
		signal?: AbortSignal,
	) => Promise<Job | undefined>;
	/** Writes the record again whenever the store loses it, and calls `cancelled` when somebody cancels the job. Ends when the signal is aborted. */
	readonly keep: (signal: AbortSignal, cancelled: () => void) => Promise<void>;
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
			// Perhaps the change was made, and only its answer was lost.
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
			? {
					...latest,
					cancelledBy: found.cancelledBy ?? latest.cancelledBy,
					cancelledVia: found.cancelledVia ?? latest.cancelledVia,
				}
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
						// Returns undefined if another job has this number now.
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
		async keep(keepSignal, cancelled) {
			const wakeSignal = createWakeSignal();
			const unsubscribe = await persist(
				world,
				async () =>
					world.store.subscribe({
						changed(event) {
							if (event === undefined || event.jobs?.includes(number) === true) {
								wakeSignal.wake();
							}
						},
						restored: wakeSignal.wake,
					}),
				keepSignal,
			);
			while (!keepSignal.aborted) {
				await wakeSignal.wait(world.clock, putBackMs, keepSignal);
				const list = keepSignal.aborted ? undefined : await world.store.readJobs([number]).catch(() => undefined);
				const found = list && soundJobs(list).find((job) => job.number === number);
				if (list !== undefined && (found === undefined || (found.token === token && isEarlier(found, latest)))) {
					await update((job) => job, keepSignal);
				} else if (found?.token === token && found.cancelledBy !== undefined) {
					cancelled();
				}
			}

			await unsubscribe?.();
		},
	};
}
