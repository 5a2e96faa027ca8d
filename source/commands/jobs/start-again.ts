import type {App} from '../../app/contract.js';
import type {EngineWorld} from '../../core/operations/engine.js';
import type {Requester} from '../../core/model/types.js';
import {retryJobs} from '../../core/operations/jobs/jobs.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {startWrappers} from '../shared/detached/start-wrappers.js';

/** Starts ended jobs again, with the environment variables of this process. Returns their ids. */
export async function startAgain(
	app: App,
	world: EngineWorld,
	requester: Requester,
	ids: readonly string[],
): Promise<readonly string[]> {
	if (world.engine !== undefined) {
		return world.engine.jobs.retry(requester, ids);
	}

	const detaching = await app.loadDetaching();
	detaching.prepareLogs();
	const jobs = await retryJobs(
		world,
		requester,
		ids,
		({words, directory, seal}) => seal === detaching.seal([words, directory]),
	);
	await startWrappers(app, world, jobs, {isNewLog: false});
	return jobs.map((job) => jobIdOf(job));
}
