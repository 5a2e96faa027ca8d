/** The start of detached jobs, with wrappers that cannot be started. */
import {expect, test} from 'vitest';
import type {App} from '../../../source/app/contract.js';
import {startWrappers} from '../../../source/commands/shared/detached/start-wrappers.js';
import {takeJob} from '../../../source/core/operations/jobs/job-keeper.js';
import {readCurrentJobs} from '../../../source/core/operations/jobs/jobs.js';
import {jobIdOf} from '../../../source/core/rules/jobs/ids.js';
import {soundJobs} from '../../../source/core/rules/jobs/look.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {submitTestJobs} from '../../_helpers/jobs.js';
import {createTestWorld} from '../../_helpers/world.js';

test('if some jobs of an array cannot be started, the others run and the failure says how many', async () => {
	const world = await createTestWorld();
	const jobs = await submitTestJobs(world, {array: {indices: [0, 1, 2, 3]}});
	const unstartable = new Set(['1_1', '1_3']);
	const app = {
		environment: {},
		clock: world.clock,
		loadDetaching: async () => ({
			readLogoutSurvival: async () => ({hasLinger: false}),
			async start({id}: {readonly id: string}) {
				if (unstartable.has(id)) {
					throw new CanhazgpuError('failed', `Job ${id} could not be started`, {
						hint: `See why: canhazgpu logs ${id}`,
					});
				}

				await takeJob(
					world,
					jobs.find((job) => jobIdOf(job) === id)!,
					new AbortController().signal,
				);
				return {ended: Promise.withResolvers<void>().promise, letGo: () => undefined};
			},
		}),
	} as unknown as App;
	expect(await startWrappers(app, world, jobs, {isNewLog: true})).toMatchObject({
		interrupted: 0,
		failure: {
			message: 'Job 1_1 could not be started. In all, 2 of 4 jobs could not be started',
			hint: 'See why: canhazgpu logs 1_1',
		},
	});
	expect(soundJobs(await readCurrentJobs(world)).map((job) => [jobIdOf(job), job.state])).toEqual([
		['1_0', 'pending'],
		['1_1', 'failed'],
		['1_2', 'pending'],
		['1_3', 'failed'],
	]);
});
