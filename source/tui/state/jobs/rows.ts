/** The rows of the table of detached jobs. */
import {jobStates} from '../../../core/model/jobs.js';
import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {isOver} from '../../../core/rules/jobs/start.js';
import {detailsCell} from '../../../format/jobs.js';
import {sanitize} from '../../../format/text/text.js';
import {storeNow, type State} from '../state.js';
import {tableOf} from '../table/table.js';

const noJobs: readonly JobRow[] = [];

/** Returns how long a job has run, or has waited, in seconds. */
const secondsOf = ({submitTime, startTime, endTime}: JobRow, now: number): number =>
	(endTime ?? now) - (startTime ?? submitTime);

/** Returns the rank of a job for sorting by state: running jobs first, then waiting jobs, then ended jobs. */
const rankOf = (job: JobRow): number => (isOver(job) ? jobStates.length : -jobStates.indexOf(job.state));

/** Returns a function for the place of a job in the order of submission. Ids cannot be compared, because ids such as `7_10` are no numbers. */
function placeIn(rows: readonly JobRow[]): (job: JobRow) => number | undefined {
	const places = new Map(rows.map((job, index) => [job.id, index]));
	return ({id}) => places.get(id);
}

const nowOf = (state: State): number => storeNow(state) ?? 0;

/** The table of jobs. Jobs of equal rank are in the order of submission, but among ended jobs, the last one to end comes first. */
export const jobTable = tableOf<JobRow>({
	name: 'jobs',
	noun: 'job',
	rowsOf: ({seenJobs}) => seenJobs?.rows ?? noJobs,
	keysOf: ({id}) => [id],
	textOf: (job, state) =>
		sanitize([job.id, job.state, job.account, job.command, detailsCell(job, nowOf(state))].join(' ')),
	isOf: (job, account) => job.account === account,
	isMine: (job, {settings}) => job.account === settings.requester.account,
	userOf: (job) => job.account,
	noUser: 'This job has no user',
	valuesOf: (state, rows) => ({
		id: placeIn(rows),
		state: rankOf,
		user: (job) => job.account,
		gpus: (job) => job.count,
		time: (job) => secondsOf(job, nowOf(state)),
		command: (job) => job.command,
		details: (job) => detailsCell(job, nowOf(state)),
	}),
	wordsOf: ({id, state}) => ({id, state}),
	tieOf: () => (a, b) => (isOver(a) && isOver(b) ? (b.endTime ?? 0) - (a.endTime ?? 0) : 0),
});
