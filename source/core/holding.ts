/**
Holding a `run` lease: its job is named in it, its holder's life is told to the store, and it ends once, with its reason.
*/
import {CanhazgpuError} from '../errors.js';
import {isLeased, planChange, planEnd, type LeasedRecord} from './lifecycle.js';
import {emptyPlan, type Plan} from './plan.js';
import type {World} from './ports.js';
import {readLiving, transact} from './transaction.js';
import type {EndReason, Lease, Pool, ProcessIdentity, Snapshot} from './types.js';

/** Between two heartbeats of a lease. */
export const leaseHeartbeatMs = 60_000;

/** What a wrapper knows of its own lease: enough to know it again, and to put it back. */
export type Hold = {
	readonly leaseId: string;
	/** Sorted. */
	readonly gpus: readonly number[];
	/** As it was granted, with the job since it runs. */
	readonly lease: Lease;
	readonly pool: Pool;
};

const bearing = (snapshot: Snapshot, leaseId: string): readonly LeasedRecord[] =>
	snapshot.gpus.filter(isLeased).filter(({lease}) => lease.leaseId === leaseId);

/**
The lease as the store has it now, right after it was granted.

@throws CanhazgpuError `failed` when it is gone already.
*/
export async function findHold(world: World, leaseId: string): Promise<Hold> {
	const snapshot = await readLiving(world);
	const records = bearing(snapshot, leaseId);
	if (records.length === 0 || snapshot.pool === undefined) {
		throw new CanhazgpuError('failed', 'The GPUs were taken away again before the command could start', {
			hint: 'Somebody released them, or remade the pool. Try again.',
		});
	}

	return {leaseId, gpus: records.map(({index}) => index), lease: records[0]!.lease, pool: snapshot.pool};
}

/** Writes down the job, so that the lease stays with it even if the wrapper is killed. */
export async function nameJob(world: World, hold: Hold, job: ProcessIdentity): Promise<Hold> {
	await transact(world, {
		attempt: (snapshot) => ({
			plan: planChange(bearing(snapshot, hold.leaseId), (lease) => ({...lease, job}), undefined),
			result: undefined,
		}),
		happened: (snapshot) => bearing(snapshot, hold.leaseId).every(({lease}) => lease.job?.pid === job.pid),
	});
	return {...hold, lease: {...hold.lease, job}};
}

export type Beat =
	| {readonly kind: 'held'}
	/** Some or all of its GPUs are not ours any more; `holder` has them now, if anybody. */
	| {readonly kind: 'lost'; readonly gpus: ReadonlyArray<{readonly index: number; readonly holder: Lease | undefined}>};

/** The peer rewrites records and drops the fields it does not know: same user, type and start, and no id. */
const isRewritten = (lease: Lease, own: Lease): boolean =>
	lease.leaseId === undefined &&
	lease.user === own.user &&
	lease.type === own.type &&
	Math.floor(lease.startTime) === Math.floor(own.startTime);

/** After a store that lost its data: the lease and the pool are put back only if both are gone. */
const planRestore = ({gpus, lease, pool}: Hold, now: number): Plan => ({
	expect: [
		{kind: 'pool', gpuCount: undefined},
		...gpus.map((index) => ({kind: 'gpu', index, raw: undefined}) as const),
	],
	writes: [
		{kind: 'pool', pool},
		...gpus.map((index) => ({kind: 'lease', index, lease: {...lease, lastHeartbeat: now}}) as const),
	],
	usage: [],
	event: {kind: 'pool', gpus},
	grants: false,
});

/**
Says that the lease's holder lives, and finds out whether it still is the holder.

@throws CanhazgpuError `store-unreachable`, ... : then nothing is known, and the lease stays for a quarter of an hour.
*/
export async function beat(world: World, hold: Hold): Promise<Beat> {
	const {store, clock} = world;
	for (;;) {
		const snapshot = await store.read();
		if (snapshot.pool === undefined) {
			const outcome = await store.commit(planRestore(hold, snapshot.now));
			if (outcome === 'done') {
				return {kind: 'held'};
			}

			await clock.sleep(20 * clock.random());
			continue;
		}

		const own = hold.gpus
			.map((index) => snapshot.gpus[index])
			.filter((record) => record !== undefined && isLeased(record))
			.filter(({lease}) => lease.leaseId === hold.leaseId || isRewritten(lease, hold.lease));
		const lost = hold.gpus.filter((index) => own.every((record) => record.index !== index));
		if (own.length > 0) {
			const plan = planChange(own, () => ({...hold.lease, lastHeartbeat: snapshot.now}), undefined);
			if ((await store.commit(plan)) !== 'done') {
				await clock.sleep(20 * clock.random());
				continue;
			}
		}

		return lost.length === 0
			? {kind: 'held'}
			: {
					kind: 'lost',
					gpus: lost.map((index) => {
						const record = snapshot.gpus[index];
						return {index, holder: record !== undefined && isLeased(record) ? record.lease : undefined};
					}),
				};
	}
}

/** Ends the lease on all GPUs that still bear it. Returns which; those that were lost before are not touched. */
export const finish = async (world: World, {leaseId}: Hold, reason: EndReason): Promise<readonly number[]> =>
	transact<readonly number[]>(world, {
		attempt(snapshot) {
			const records = bearing(snapshot, leaseId);
			const gpus = records.map(({index}) => index);
			return records.length === 0
				? {plan: emptyPlan, result: []}
				: {
						plan: planEnd(
							records.map((record) => ({record, ending: {reason, endTime: snapshot.now}})),
							{kind: 'released', gpus, user: records[0]!.lease.user},
						),
						result: gpus,
					};
		},
		happened: (snapshot) => bearing(snapshot, leaseId).length === 0,
	});
