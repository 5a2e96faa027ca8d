/** Cancels jobs, and waits until those that run have ended. */
import type {EngineWorld} from '../../core/operations/engine.js';
import {cancelJobs, readCurrentJobs} from '../../core/operations/jobs/jobs.js';
import {soundJobs} from '../../core/rules/jobs/look.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {isOver} from '../../core/rules/jobs/start.js';
import {CanhazgpuError} from '../../errors.js';
import type {App} from '../../app/contract.js';
import type {Job} from '../../core/model/jobs.js';
import type {Requester} from '../../core/model/types.js';

const lookMs = 100;

/** How long to wait for the end of a running job: the 30 seconds that its wrapper leaves it, and those of a busy machine. */
const patienceMs = 45_000;

/** Asks the wrapper to end, which ends the command. If the wrapper was killed, asks the command itself. */
function signal(app: App, {holder, job}: Job): void {
	const answer = holder === undefined ? 'gone' : app.sendSignal(holder, 'SIGTERM');
	if (answer === 'gone' && job !== undefined) {
		app.sendSignal(job, 'SIGTERM');
	}
}

/** Waits until these jobs have ended, or until the signal is aborted. Returns those that are not, after a while. */
async function awaitEnds(
	app: App,
	world: EngineWorld,
	numbers: readonly number[],
	aborted: AbortSignal | undefined,
): Promise<readonly Job[]> {
	const untilMs = app.clock.monotonicMs() + patienceMs;
	for (;;) {
		const left = soundJobs(await readCurrentJobs(world, numbers)).filter((job) => !isOver(job));
		if (left.length === 0 || app.clock.monotonicMs() > untilMs || aborted?.aborted === true) {
			return left;
		}

		await app.clock.sleep(lookMs);
	}
}

export const stuckError = (stuck: Job): CanhazgpuError => {
	const id = jobIdOf(stuck);
	return new CanhazgpuError('failed', `Job ${id} was asked to end, but is still running`, {
		hint: `See what it does: canhazgpu logs ${id}. Its process id is ${stuck.job?.pid ?? stuck.holder?.pid}.`,
	});
};

type CancelRequest = {
	readonly requester: Requester;
	readonly ids: readonly string[];
	/** The interface of the cancellation. Absent for the command line. */
	readonly via?: string;
	/** Aborting ends the wait, not the cancellation. */
	readonly aborted?: AbortSignal;
};

/** Returns the ids of the jobs that were cancelled, without those that had already ended, and a job that still runs. */
export async function cancelAndWait(
	app: App,
	world: EngineWorld,
	{requester, ids, via, aborted}: CancelRequest,
): Promise<{readonly cancelled: readonly string[]; readonly stuck?: Job | undefined}> {
	if (world.engine !== undefined) {
		return {cancelled: await world.engine.jobs.cancel(requester, ids)};
	}

	const changed = await cancelJobs(world, requester, ids, via);
	for (const {before} of changed) {
		// A wrapper that cannot be signalled, as in a container, notices the cancellation in the store.
		if (before.isHeld) {
			signal(app, before);
		}
	}

	const running = changed.map(({before}) => before).filter(({state, isHeld}) => isHeld && state === 'running');
	const left =
		running.length === 0
			? []
			: await awaitEnds(
					app,
					world,
					running.map(({number}) => number),
					aborted,
				);
	return {
		cancelled: changed
			.map(({before}) => before)
			.filter(({number}) => left.every((job) => job.number !== number))
			.map((job) => jobIdOf(job)),
		stuck: left[0],
	};
}
