import {submitJobs} from '../../source/core/operations/jobs/jobs.js';
import type {JobRequest} from '../../source/core/rules/jobs/submit.js';

/** Stores jobs of alice that run `true` on one GPU, unless `part` says otherwise. Starts no wrappers. */
export const submitTestJobs = async (world: Parameters<typeof submitJobs>[0], part: Partial<JobRequest> = {}) =>
	submitJobs(
		world,
		{
			account: 'alice',
			directory: '/home/alice',
			words: ['--', 'true'],
			command: ['true'],
			count: 1,
			after: [],
			retries: 0,
			...part,
		},
		{logOf: (id) => `/jobs/${id}.log`, sealOf: String},
	);
