/**
Holding a `run` lease: its job is named in it, its holder's life is told to the store, and it ends once, with its reason.
*/
import {CanhazgpuError} from '../errors.js';
import {isLeased, planChange, planEnd, type LeasedRecord} from './lifecycle.js';
import {emptyPlan, isEmpty, type Plan} from './plan.js';
import {isSameLease, ownerOf} from './ownership.js';
import {tellPool} from './pool.js';
import type {World} from './ports.js';
import {tellGrant} from './telling.js';
import {readLiving, transact} from './transaction.js';
import type {EndReason, Lease, Pool, ProcessIdentity, Snapshot} from './types.js';

/** Between two heartbeats of a lease. */
export const leaseHeartbeatSeconds = 60;

/** What a wrapper knows of its own lease: enough to know it again, and to put it back. */
export type Hold = {
	readonly leaseId: string;
	/** Sorted. */
	readonly gpus: readonly number[];
	/** Each GPU's lease, since those held while waiting began earlier than the last; with the job since it runs. */
	readonly leases: ReadonlyMap<number, Lease>;
	readonly pool: Pool;
	/** On the store's clock: when it was last seen to be there. */
	readonly seenAt: number;
};

/**
The lease as the store has it now, right after it was granted.

@throws CanhazgpuError `failed` when it is gone already.
*/
export async function findHold(world: World, leaseId: string): Promise<Hold> {
	const {pool, gpus, now} = await readLiving(world);
	const records = gpus.filter(isLeased).filter(({lease}) => lease.leaseId === leaseId);
	if (records.length === 0 || pool === undefined) {
		throw new CanhazgpuError('failed', 'The GPUs were taken away again before the command could start', {
			hint: 'Somebody released them, or remade the pool. Try again.',
		});
	}

	const leases = new Map(records.map(({index, lease}) => [index, lease]));
	return {leaseId, gpus: leases.keys().toArray(), leases, pool, seenAt: now};
}

/**
The same with its job, so that the lease stays with that even if the wrapper is killed, and with the model that its command names. The
next beat writes both down.
*/
export const withJob = (hold: Hold, job: ProcessIdentity, model?: string): Hold => ({
	...hold,
	leases: new Map(hold.gpus.map((index) => [index, {...hold.leases.get(index)!, job, model}])),
});

/** What is left when some are lost. */
const without = (hold: Hold, lost: readonly number[]): Hold => ({
	...hold,
	gpus: hold.gpus.filter((index) => !lost.includes(index)),
});

export type Beat =
	| {readonly kind: 'held'; readonly hold: Hold}
	/** Some or all of its GPUs are not ours any more; `holder` has them now, if anybody. `hold` is the rest. */
	| {
			readonly kind: 'lost';
			readonly hold: Hold;
			readonly gpus: ReadonlyArray<{readonly index: number; readonly holder: Lease | undefined}>;
	  };

const ownRecords = (snapshot: Snapshot, {gpus, leases}: Hold): readonly LeasedRecord[] =>
	snapshot.gpus
		.filter(isLeased)
		.filter(({index, lease}) => gpus.includes(index) && isSameLease(lease, leases.get(index)!));

/** What the record has to say now: all of ours where the peer dropped it, else only that the holder lives. */
function beaten(lease: Lease, own: Lease, now: number): Lease {
	const {job, model, unknownFields} = own;
	return lease.leaseId === undefined
		? {...own, unknownFields: lease.unknownFields ?? unknownFields, lastHeartbeat: now}
		: {...lease, job, model: lease.model ?? model, lastHeartbeat: now};
}

const isDue = (lease: Lease, own: Lease, now: number): boolean =>
	lease.leaseId === undefined ||
	lease.job?.pid !== own.job?.pid ||
	now - (lease.lastHeartbeat ?? lease.startTime) >= leaseHeartbeatSeconds;

/**
After a store that lost its data, the lease is put back, and with it the pool, unless somebody has made that anew. A key that is gone
while the store ran on, or a record in its place, is somebody's doing, and stays.
*/
function planRestore(snapshot: Snapshot, {gpus, leases, pool, seenAt}: Hold, host: string): Plan | undefined {
	const isPoolGone = snapshot.pool === undefined;
	const hasRestarted = snapshot.now - snapshot.storeUptimeSeconds > seenAt;
	const areKeysGone = gpus.every((index) => {
		const record = snapshot.gpus[index];
		return record?.kind === 'free' && record.raw === undefined;
	});
	if (gpus.length === 0 || !(isPoolGone || (hasRestarted && areKeysGone))) {
		return undefined;
	}

	const lastHeartbeat = snapshot.now;
	const lease = leases.get(gpus[0]!)!;
	const occasion = {now: snapshot.now, host};
	return {
		expect: [
			{kind: 'pool', gpuCount: snapshot.pool?.gpuCount},
			...gpus.map((index) => ({kind: 'gpu', index, raw: undefined}) as const),
		],
		writes: [
			...(isPoolGone ? [{kind: 'pool', pool} as const] : []),
			...gpus.map((index) => ({kind: 'lease', index, lease: {...leases.get(index)!, lastHeartbeat}}) as const),
		],
		usage: [],
		audit: [
			...(isPoolGone ? [tellPool(pool, {...occasion, account: ownerOf(lease)}, {reason: 'restored'})] : []),
			tellGrant(lease, gpus, occasion, {reason: 'restored'}),
		],
		event: {kind: 'pool', gpus},
		grants: false,
	};
}

/**
Finds out whether we still are the holder, and says that we live where that is due. It writes nothing else, so that it may be called as
often as something happens.

@throws CanhazgpuError `store-unreachable`, ... : then nothing is known, and the lease stays for a quarter of an hour.
*/
export async function beat(world: World, hold: Hold): Promise<Beat> {
	const {store, clock} = world;
	for (let tries = 0; tries < 20; tries++) {
		const snapshot = await store.read();
		const {now} = snapshot;
		const own = ownRecords(snapshot, hold);
		const due = own.filter(({index, lease}) => isDue(lease, hold.leases.get(index)!, now));
		const plan =
			planRestore(snapshot, hold, world.host.hostname) ??
			planChange(due, (lease, index) => beaten(lease, hold.leases.get(index)!, now), undefined);
		if (!isEmpty(plan)) {
			if ((await store.commit(plan)) !== 'done') {
				await clock.sleep(20 * clock.random());
			}

			continue;
		}

		const lost = hold.gpus.filter((index) => own.every((record) => record.index !== index));
		const rest = {...without(hold, lost), seenAt: now};
		return lost.length === 0
			? {kind: 'held', hold: rest}
			: {
					kind: 'lost',
					hold: rest,
					gpus: lost.map((index) => {
						const record = snapshot.gpus[index];
						return {index, holder: record !== undefined && isLeased(record) ? record.lease : undefined};
					}),
				};
	}

	throw new CanhazgpuError('busy', 'The lease could not be told from its changes');
}

/** Ends the lease on all GPUs that still are ours. Returns which; those that were lost before are not touched. */
export const finish = async (world: World, hold: Hold, reason: EndReason): Promise<readonly number[]> =>
	transact<readonly number[]>(world, {
		attempt(snapshot) {
			const records = ownRecords(snapshot, hold);
			const gpus = records.map(({index}) => index);
			return records.length === 0
				? {plan: emptyPlan, result: []}
				: {
						plan: planEnd(
							records.map(({index, lease, ...record}) => ({
								// What the peer dropped from the record is not missing in its history.
								record: {...record, index, lease: lease.leaseId === undefined ? hold.leases.get(index)! : lease},
								ending: {reason, endTime: snapshot.now},
							})),
							{kind: 'released', gpus, user: records[0]!.lease.user},
							{now: snapshot.now, host: world.host.hostname},
						),
						result: gpus,
					};
		},
		happened: (snapshot) => ownRecords(snapshot, hold).length === 0,
	});
