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

/** Time in ms to wait for a job to end. The wrapper kills the job after 30 seconds, and a busy machine can need more time. */
const patienceMs = 45_000;

/** Asks the wrapper to end, which ends the command with its descendants. If the wrapper was killed, ends them and waits until they have ended. */
async function signal(app: App, {holder, job}: Job): Promise<void> {
	const answer = holder === undefined ? 'gone' : app.sendSignal(holder, 'SIGTERM');
	if (answer !== 'gone' || job === undefined) {
		return;
	}

	const {endOrphan} = await app.loadDetaching();
	await endOrphan(job);
}

/** Waits until these jobs have ended, `patienceMs` have passed, or the wait is aborted. Returns the jobs as they are then. */
async function awaitEnds(
	app: App,
	world: EngineWorld,
	numbers: readonly number[],
	aborted: AbortSignal | undefined,
): Promise<readonly Job[]> {
	const untilMs = app.clock.monotonicMs() + patienceMs;
	for (;;) {
		const jobs = soundJobs(await readCurrentJobs(world, numbers));
		if (jobs.every((job) => isOver(job)) || app.clock.monotonicMs() > untilMs || aborted?.aborted === true) {
			return jobs;
		}

		await app.clock.sleep(lookMs);
	}
}

export const stuckError = (stuck: Job): CanhazgpuError => {
	const id = jobIdOf(stuck);
	const process = `Its process id is ${stuck.job?.pid ?? stuck.holder?.pid}.`;
	return new CanhazgpuError('failed', `Job ${id} was asked to end, but is still running`, {
		hint: `See what it does: canhazgpu logs ${id}. ${process}`,
		agentHint: `See what it does: gpu_logs. ${process}`,
	});
};

type CancelRequest = {
	readonly requester: Requester;
	readonly ids: readonly string[];
	/** The interface that cancels the jobs. Absent for the command line. */
	readonly via?: string;
	/** Aborted to end only the wait. The jobs are still cancelled. */
	readonly aborted?: AbortSignal;
};

/** Cancels jobs and waits until they have ended. Returns the ids of the cancelled jobs, and the first job that did not end in time. */
export async function cancelAndWait(
	app: App,
	world: EngineWorld,
	{requester, ids, via, aborted}: CancelRequest,
): Promise<{readonly cancelled: readonly string[]; readonly stuck?: Job | undefined}> {
	if (world.engine !== undefined) {
		return {cancelled: await world.engine.jobs.cancel(requester, ids)};
	}

	const changed = await cancelJobs(world, requester, ids, via);
	// A wrapper that cannot be signalled, as in a container, notices the cancellation in the store.
	const signalled = Promise.all(
		changed.filter(({before}) => before.isHeld).map(async ({before}) => signal(app, before)),
	);
	const running = changed.map(({before}) => before).filter(({state, isHeld}) => isHeld && state === 'running');
	const afterwards =
		running.length === 0
			? []
			: await awaitEnds(
					app,
					world,
					running.map(({number}) => number),
					aborted,
				);
	if (aborted?.aborted !== true) {
		await signalled;
	}

	// A command can end by itself just before the signal arrives.
	const notCancelled = new Set(afterwards.filter(({state}) => state !== 'cancelled').map(({number}) => number));
	return {
		cancelled: changed
			.map(({before}) => before)
			.filter(({number}) => !notCancelled.has(number))
			.map((job) => jobIdOf(job)),
		stuck: afterwards.find((job) => !isOver(job)),
	};
}
