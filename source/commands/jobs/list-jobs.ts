import {readCurrentJobs} from '../../core/operations/jobs/jobs.js';
import {isRecent, jobRows, type JobRow} from '../../core/rules/jobs/rows.js';
import {isOver} from '../../core/rules/jobs/start.js';
import type {EngineWorld} from '../../core/operations/engine.js';
import type {JobRecord} from '../../core/model/jobs.js';
import {engineReasonText} from '../../format/engine/engine-reasons.js';

type Listed = {
	readonly rows: readonly JobRow[];
	readonly now: number;
	readonly garbage: ReadonlyArray<Extract<JobRecord, {kind: 'garbage'}>>;
};

/** Lists the jobs of the pool, or those of the engine. */
export async function listJobs(
	world: EngineWorld,
	{account, isAll}: {readonly account: string | undefined; readonly isAll: boolean},
): Promise<Listed> {
	if (world.engine !== undefined) {
		const {rows, now} = await world.engine.jobs.list(account ?? '', isAll);
		const inWords = rows.map((row) => ({
			...row,
			reason: row.reason === undefined || isOver(row) ? row.reason : engineReasonText(row.reason),
		}));
		return {rows: inWords, now, garbage: []};
	}

	const list = await readCurrentJobs(world);
	return {
		rows: jobRows(list, {account, isAll}),
		now: list.now,
		garbage: list.records.filter((record) => record.kind === 'garbage'),
	};
}

/** Returns everybody's jobs that wait, run, or ended a short time ago, as this account sees them. */
export async function readRecentJobs(
	world: EngineWorld,
	account: string | undefined,
): Promise<Pick<Listed, 'rows' | 'now'>> {
	const {rows, now} = await listJobs(world, {account, isAll: true});
	return {rows: rows.filter((row) => isRecent(row, now)), now};
}
