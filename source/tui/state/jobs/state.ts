import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {initialTableBy} from '../table/state.js';

/** The columns of the jobs, in the order of the table. */
export const jobSortKeys = ['id', 'state', 'user', 'gpus', 'time', 'command', 'details'] as const;

export type JobSortKey = (typeof jobSortKeys)[number];

export type SeenJobs = {
	readonly rows: readonly JobRow[];
	/** Why the jobs could not be read again. The rows are then old. */
	readonly problem?: string;
};

export const initialJobs = initialTableBy<JobSortKey>('state');
