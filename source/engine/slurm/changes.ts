/** Releases, extends and cancels whole jobs, because Slurm changes nothing smaller. */
import {CanhazgpuError, hasCode} from '../../errors.js';
import {select, type Selection} from '../../core/rules/leases/selection.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {holdingsIn, type Holding} from '../../core/rules/leases/holdings.js';
import {isRoot, mayChange} from '../../core/rules/leases/ownership.js';
import type {Requester, Snapshot} from '../../core/model/types.js';
import type {ExtendResult, LeaveResult, NewEnd, ReleaseResult} from '../../core/operations/engine.js';
import type {Cluster} from './cluster.js';
import {snapshotOf, type ClusterState} from './snapshot.js';
import {limitMinutes} from './request-words.js';

/**
Returns the name of a whole job in Slurm's commands. An array and its last task have the same id, which means all tasks, so a single task needs
another name. A part of a heterogeneous job has the name of the first part, because all parts end together.
*/
function nameOf({jobs}: ClusterState, jobId = ''): string {
	const {array, leader} = jobs.find(({id}) => String(id) === jobId) ?? {};
	return array?.isOne === true ? `${array.id}_${array.tasks}` : (leader?.toString() ?? jobId);
}

const jobsOf = (state: ClusterState, holdings: readonly Holding[]): ReadonlyMap<string, readonly Holding[]> =>
	Map.groupBy(holdings, ({lease}) => nameOf(state, lease.leaseId));

/** Throws `failed` if a job has more GPUs than the selected ones. */
function checkWhole(
	state: ClusterState,
	snapshot: Snapshot,
	meant: readonly Holding[],
	[does, done]: readonly [does: string, done: string],
): void {
	const all = jobsOf(state, holdingsIn(snapshot.gpus));
	for (const [job, named] of jobsOf(state, meant)) {
		const whole = all.get(job)!;
		if (named.length < whole.length) {
			const [ids, allIds] = [named, whole].map((holdings) => holdings.map(({index}) => index).join(','));
			throw new CanhazgpuError(
				'failed',
				`GPU ${ids} alone cannot be ${done}: Slurm ${does} only whole jobs, and job ${job} has GPU ${allIds}`,
				{hint: `Name them all: --gpu-ids ${allIds}`},
			);
		}
	}
}

/** Whether the job to cancel has already ended, so that nothing is left to do. */
const isGone = (error: unknown): boolean => hasCode(error, 'not-found');

async function cancel(cluster: Cluster, words: readonly string[]): Promise<void> {
	try {
		await cluster.run('scancel', ...words);
	} catch (error) {
		if (!isGone(error)) {
			throw error;
		}
	}
}

export const cancelJob = async (cluster: Cluster, jobId: number): Promise<void> => cancel(cluster, [String(jobId)]);

/** Ends the jobs with the selected holdings, and everything that runs in them. */
export async function releaseJobs(
	cluster: Cluster,
	requester: Requester,
	selection: Selection,
): Promise<ReleaseResult> {
	const state = await cluster.read();
	const snapshot = snapshotOf(state);
	const {records, notYours} = select(snapshot, requester, selection);
	if (notYours.length > 0 || records.length === 0) {
		return {released: [], notYours};
	}

	checkWhole(state, snapshot, records, ['gives back', 'released']);
	await cancel(cluster, jobsOf(state, records).keys().toArray());
	return {released: records, notYours};
}

/** Changes the time limits of the jobs with the selected holdings. Ordinary users can only lower a limit. */
export async function extendJobs(
	cluster: Cluster,
	requester: Requester,
	selection: Selection,
	end: NewEnd,
): Promise<ExtendResult> {
	const state = await cluster.read();
	const snapshot = snapshotOf(state);
	const {now} = snapshot;
	const {records, notYours} = select(snapshot, requester, selection);
	const limitOf = new Map(state.jobs.map(({id, timeLimitSeconds}) => [String(id), timeLimitSeconds]));
	// A job without a time limit that is ending has an end, but none that could be moved.
	const isTimed = ({lease}: Holding): boolean =>
		latestEndOf(lease) !== undefined && limitOf.get(lease.leaseId!) !== undefined;
	const notTimed = records.filter((holding) => !isTimed(holding)).map(({index}) => index);
	if (notYours.length > 0 || notTimed.length > 0 || records.length === 0) {
		return {extended: [], notYours, notTimed, now};
	}

	if ('until' in end && end.until <= now) {
		throw new CanhazgpuError('usage', 'The new end is in the past', {
			hint: 'To end the reservation now: canhazgpu release',
		});
	}

	checkWhole(state, snapshot, records, ['extends', 'extended']);
	const endOf = ({lease}: Holding): number => Math.ceil('by' in end ? latestEndOf(lease)! + end.by : end.until);
	// Time in suspension is not part of the time limit, so the start is computed from the end.
	const beginOf = ({lease}: Holding): number => latestEndOf(lease)! - limitOf.get(lease.leaseId!)!;
	const minutesOf = (holding: Holding): number => limitMinutes(endOf(holding) - beginOf(holding));
	const later = records.find((holding) => endOf(holding) > latestEndOf(holding.lease)!);
	if (later !== undefined && !isRoot(requester)) {
		// Slurm itself would only say "Access/permission denied".
		throw new CanhazgpuError('not-owner', 'On Slurm, only administrators can move an end to a later time', {
			hint: `Ask an administrator to run: scontrol update JobId=${nameOf(state, later.lease.leaseId)} TimeLimit=${minutesOf(later)}. You can set an earlier end with --until`,
		});
	}

	for (const [job, [holding]] of jobsOf(state, records)) {
		await cluster.run('scontrol', 'update', `JobId=${job}`, `TimeLimit=${minutesOf(holding!)}`);
	}

	return {
		extended: records.map((holding) => ({
			index: holding.index,
			expiryTime: beginOf(holding) + minutesOf(holding) * 60,
		})),
		notYours,
		notTimed,
		now,
	};
}

/** Removes a job from the queue. `id` is its whole number, because the start of a number is often the number of another job. */
export async function leaveSlurmQueue(cluster: Cluster, requester: Requester, id: string): Promise<LeaveResult> {
	const state = await cluster.read();
	const {queue} = snapshotOf(state);
	const record = queue.find((each) => each.id === id);
	if (record?.kind !== 'entry') {
		return {kind: 'not-found'};
	}

	if (!mayChange(requester, record.entry)) {
		return {kind: 'not-yours', entry: record.entry};
	}

	// Running tasks of an array continue.
	const isArray = state.jobs.some(({id: jobId, array}) => String(jobId) === record.id && array !== undefined);
	await cancel(cluster, [...(isArray ? ['--state=PENDING'] : []), nameOf(state, record.id)]);
	return {kind: 'left', id: record.id, freed: []};
}
