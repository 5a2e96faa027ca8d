/** Lists jobs, whether this program or an engine such as Slurm keeps them. */
import type {EngineWorld} from '../../core/operations/engine.js';
import {jobsWithIds, readCurrentJobs, requireOwner} from '../../core/operations/jobs/jobs.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {isRecent, jobRows, type JobRow} from '../../core/rules/jobs/rows.js';
import {isOver} from '../../core/rules/jobs/start.js';
import type {JobRecord} from '../../core/model/jobs.js';
import type {Requester} from '../../core/model/types.js';
import {engineReasonText} from '../../format/engine/engine-reasons.js';

export type Listed = {
	readonly rows: readonly JobRow[];
	readonly now: number;
	readonly garbage: ReadonlyArray<Extract<JobRecord, {kind: 'garbage'}>>;
};

const inWords = (rows: readonly JobRow[]): readonly JobRow[] =>
	rows.map((row) => ({
		...row,
		reason: row.reason === undefined || isOver(row) ? row.reason : engineReasonText(row.reason),
	}));

/** Lists all jobs, or the jobs of `account` without those that ended more than a day ago. Hides what `account` may not see. */
export async function listJobs(
	world: EngineWorld,
	{account, isAll}: {readonly account: string | undefined; readonly isAll: boolean},
): Promise<Listed> {
	if (world.engine !== undefined) {
		const {rows, now} = await world.engine.jobs.list(account ?? '', isAll);
		return {rows: inWords(rows), now, garbage: []};
	}

	const list = await readCurrentJobs(world);
	return {
		rows: jobRows(list, {account, isAll}),
		now: list.now,
		garbage: list.records.filter((record) => record.kind === 'garbage'),
	};
}

/** Returns everybody's jobs without those that ended more than a day ago. Hides what `account` may not see. */
export async function readRecentJobs(
	world: EngineWorld,
	account: string | undefined,
): Promise<Pick<Listed, 'rows' | 'now'>> {
	const {rows, now} = await listJobs(world, {account, isAll: true});
	return {rows: rows.filter((row) => isRecent(row, now)), now};
}

/** Returns the job or the array with this id. Throws `usage` for an unknown id, and `not-owner` for a job of another account, also for root. */
export async function findOwnJobs(
	world: EngineWorld,
	requester: Requester,
	id: string,
): Promise<Pick<Listed, 'rows' | 'now'>> {
	const {account} = requester;
	if (world.engine !== undefined) {
		const rows = await world.engine.jobs.find([id], account);
		for (const row of rows) {
			requireOwner(requester, row);
		}

		return {rows: inWords(rows), now: Date.now() / 1000};
	}

	const list = await readCurrentJobs(world);
	const ids = new Set(jobsWithIds(list, [id]).map(({job}) => jobIdOf(job)));
	const rows = jobRows(list, {account, isAll: true}).filter((row) => ids.has(row.id));
	for (const row of rows) {
		requireOwner(requester, row);
	}

	return {rows, now: list.now};
}
