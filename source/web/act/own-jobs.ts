import type {EngineWorld} from '../../core/operations/engine.js';
import type {Requester} from '../../core/model/types.js';

/** The commands for jobs. Both throw `usage` for an unknown id, and `not-owner` for a job of another account, also for root. */
export type OwnJobs = {
	/** Cancels a job or the jobs of an array. Returns the ids of the jobs that have already ended, and whether any job is still ending. */
	readonly cancel: (
		world: EngineWorld,
		requester: Requester,
		id: string,
	) => Promise<{readonly cancelled: readonly string[]; readonly isEnding: boolean}>;
	/** Starts an ended job again. Returns warnings for the user, for example that a logout ends the job. Throws `failed` if the job still runs. */
	readonly retry: (world: EngineWorld, requester: Requester, id: string) => Promise<readonly string[]>;
};

type Cancelled = Awaited<ReturnType<OwnJobs['cancel']>>;

const jobsText = (ids: readonly string[]): string =>
	ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs of array ${ids[0]!.split('_', 1)[0]}`;

function cancelText(id: string, {cancelled, isEnding}: Cancelled): string {
	if (isEnding) {
		return `Asked job ${id} to end. Processes that still run after 30 seconds are killed`;
	}

	return cancelled.length === 0 ? `Job ${id} has already ended` : `Cancelled ${jobsText(cancelled)}`;
}

type JobRequest = {readonly job_id: string};

export const jobDeeds = (jobs: OwnJobs) => ({
	cancel: async (world: EngineWorld, requester: Requester, {job_id: id}: JobRequest) => ({
		words: cancelText(id, await jobs.cancel(world, requester, id)),
		gpus: [],
	}),
	async retry(world: EngineWorld, requester: Requester, {job_id: id}: JobRequest) {
		const remarks = await jobs.retry(world, requester, id);
		return {words: [`Started job ${id} again`, ...remarks].join('. '), gpus: []};
	},
});
