import type {App} from '../../app/contract.js';
import type {EngineWorld} from '../../core/operations/engine.js';
import type {Requester} from '../../core/model/types.js';
import {retryJobs} from '../../core/operations/jobs/jobs.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {sealedParts} from '../../core/rules/jobs/submit.js';
import {startWrappers, type WrappersStarted} from '../shared/detached/start-wrappers.js';

type AgainOptions = {readonly ids: readonly string[]; readonly signal?: AbortSignal};

type Again = WrappersStarted & {readonly ids: readonly string[]};

/** Starts ended jobs again, with the environment variables of this process. */
export async function startAgain(
	app: App,
	world: EngineWorld,
	requester: Requester,
	{ids, signal}: AgainOptions,
): Promise<Again> {
	if (world.engine !== undefined) {
		return {ids: await world.engine.jobs.retry(requester, ids), interrupted: 0};
	}

	const detaching = await app.loadDetaching();
	detaching.prepareLogs();
	const jobs = await retryJobs(world, requester, ids, (job) => job.seal === detaching.seal(sealedParts(job)));
	const started = await startWrappers(app, world, jobs, {isNewLog: false, signal});
	return {...started, ids: jobs.map((job) => jobIdOf(job))};
}
