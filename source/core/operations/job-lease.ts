/**
Holding a `run` lease: its job is named in it, its holder's life is told to the store, and it ends once, with its reason.
*/
import {CanhazgpuError} from '../../errors.js';
import {isLeased, planChange, planEnd, withHeartbeat, type LeasedRecord} from '../rules/leases/lease-changes.js';
import {isLeaseBeatDue} from '../rules/leases/liveness.js';
import {emptyPlan, type Plan} from '../model/plan.js';
import {isSameLease, ownerOf} from '../rules/leases/ownership.js';
import {requirePool} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import {takenBack as takenBackReason, grantEntry} from '../rules/leases/audit-entries.js';
import type {AuditEntry, EndReason, GpuRecord, Lease, ProcessIdentity, Snapshot} from '../model/types.js';
import {readCurrent, transact} from './transact.js';
import {createWakeSignal} from './waiting/wake-signal.js';
import {isTransient} from './waiting/waiter.js';
import {commitUntilSettled} from './settle.js';

/** Between two questions to a store that is away, on average. */
const retryMs = 1000;

/** What a wrapper knows of its own lease: enough to know it again, and to take it back. */
export type JobLease = {
	readonly leaseId: string;
	/** Sorted. */
	readonly gpus: readonly number[];
	/** Each GPU's lease, since those held while waiting began earlier than the last; with the job since it runs. */
	readonly leases: ReadonlyMap<number, Lease>;
	/** On the store's clock: when it was last seen to be there. */
	readonly seenAt: number;
};

/**
The lease as the store has it now, right after it was granted.

@throws CanhazgpuError `failed` when it is gone already.
*/
export async function findJobLease(world: World, leaseId: string): Promise<JobLease> {
	const {gpus, now} = await readCurrent(world);
	const records = gpus.filter(isLeased).filter(({lease}) => lease.leaseId === leaseId);
	if (records.length === 0) {
		throw new CanhazgpuError('failed', 'The GPUs were taken away again before the command could start', {
			hint: 'Somebody released them, or remade the pool. Try again.',
		});
	}

	const leases = new Map(records.map(({index, lease}) => [index, lease]));
	return {leaseId, gpus: leases.keys().toArray(), leases, seenAt: now};
}

export type FindOptions = {
	/** Aborted: the caller gives the lease up. */
	readonly signal: AbortSignal;
	/** Told in words why the store cannot be asked, once for each reason. */
	readonly away: (reason: string) => void;
};

/**
The same for one who has waited for the lease, and waits on while the store is away: the GPUs are granted, and this process keeps the lease alive.

@returns Undefined when the signal was aborted before the store answered.
@throws CanhazgpuError `failed` when the lease is gone.
*/
export async function awaitJobLease(
	world: World,
	leaseId: string,
	{signal, away}: FindOptions,
): Promise<JobLease | undefined> {
	const {clock} = world;
	const wakeSignal = createWakeSignal();
	let said: string | undefined;
	for (;;) {
		try {
			// Also once after the signal: what is found can be given back.
			return await findJobLease(world, leaseId);
		} catch (error) {
			if (!isTransient(error)) {
				throw error;
			}

			if (error.message !== said) {
				said = error.message;
				away(error.message);
			}
		}

		if (signal.aborted) {
			return undefined;
		}

		await wakeSignal.wait(clock, retryMs * (0.5 + clock.random()), signal);
	}
}

/**
The same with its job, so that the lease stays with that even if the wrapper is killed, and with the model that its command names. The
next beat writes both down.
*/
export const withJob = (hold: JobLease, job: ProcessIdentity, model?: string): JobLease => ({
	...hold,
	leases: new Map(hold.gpus.map((index) => [index, {...hold.leases.get(index)!, job, model}])),
});

/** What is left when some are lost. */
const without = (hold: JobLease, lost: readonly number[]): JobLease => ({
	...hold,
	gpus: hold.gpus.filter((index) => !lost.includes(index)),
});

/** A GPU that was free although its job runs and nobody had given it up. `reason`: for which its lease had ended, where the record says that. */
export type TakenBack = {readonly index: number; readonly reason: string | undefined};

export type HeartbeatResult =
	| {readonly kind: 'held'; readonly hold: JobLease; readonly takenBack: readonly TakenBack[]}
	/** Some or all of its GPUs are not ours any more; `holder` has them now, if anybody. `hold` is the rest. */
	| {
			readonly kind: 'lost';
			readonly hold: JobLease;
			readonly takenBack: readonly TakenBack[];
			readonly gpus: ReadonlyArray<{readonly index: number; readonly holder: Lease | undefined}>;
	  };

const ownRecords = (snapshot: Snapshot, {gpus, leases}: JobLease): readonly LeasedRecord[] =>
	snapshot.gpus
		.filter(isLeased)
		.filter(({index, lease}) => gpus.includes(index) && isSameLease(lease, leases.get(index)!));

/** What the record has to say now: all of ours where the peer dropped it, else only that the holder lives. */
function beaten(lease: Lease, own: Lease, now: number): Lease {
	const {job, model, unknownFields} = own;
	return lease.leaseId === undefined
		? withHeartbeat({...own, unknownFields: lease.unknownFields ?? unknownFields}, now)
		: withHeartbeat({...lease, job, model: lease.model ?? model}, now);
}

const isDue = (lease: Lease, own: Lease, now: number): boolean =>
	lease.leaseId === undefined || lease.job?.pid !== own.job?.pid || isLeaseBeatDue(lease, now);

/** Reasons for which a lease is over for good: somebody ended it, or its own job did. Any other end of a lease whose job runs was a mistake. */
const endsForGood: ReadonlySet<string> = new Set<EndReason>([
	'released',
	'pool-reset',
	'exited',
	'signalled',
	'timeout',
]);

type FreeRecord = Extract<GpuRecord, {kind: 'free'}>;

/**
Which of the leases are over for good, by their GPU: the record of the GPU says so, or else the audit trail, where somebody else has had the GPU
since, or an earlier version has written the record. What nobody says is no end.
*/
async function endedForGood(
	{store}: World,
	free: readonly FreeRecord[],
	{leaseId, seenAt}: JobLease,
): Promise<ReadonlySet<number>> {
	const isSaid = ({ended}: FreeRecord): boolean => ended?.leaseId === leaseId;
	const said = free.filter((record) => isSaid(record) && endsForGood.has(record.ended!.reason));
	let audit: readonly AuditEntry[] = [];
	if (free.some((record) => !isSaid(record))) {
		try {
			audit = await store.audit({fromTime: seenAt - 1});
		} catch (error) {
			// A store that keeps no trail says nothing.
			if (!(error instanceof CanhazgpuError && error.code === 'store-refused')) {
				throw error;
			}
		}
	}

	const ends = audit.filter(
		(entry) =>
			entry.leaseId === leaseId &&
			(entry.kind === 'released' || (entry.kind === 'ended' && endsForGood.has(entry.reason ?? ''))),
	);
	const silent = free.filter((record) => !isSaid(record) && ends.some(({gpus}) => gpus.includes(record.index)));
	return new Set([...said, ...silent].map(({index}) => index));
}

/**
The lease as it goes on from a GPU that was free meanwhile. Up to its wrong end it is charged already, where a record says so: the rest begins
there.
*/
function resumed(own: Lease, {lastReleased = 0, ended}: FreeRecord, now: number): Lease {
	const isCharged = ended?.leaseId === undefined || ended.leaseId === own.leaseId;
	const startTime = isCharged ? Math.max(own.startTime, Math.floor(lastReleased)) : own.startTime;
	return withHeartbeat({...own, startTime}, now);
}

/** Takes back GPUs that nobody gave up and nobody has, in one commit. */
function planTakeBack(snapshot: Snapshot, free: readonly FreeRecord[], hold: JobLease, host: string): Plan {
	const {now} = snapshot;
	const gpus = free.map(({index}) => index);
	const leases = free.map((record) => ({
		index: record.index,
		lease: resumed(hold.leases.get(record.index)!, record, now),
	}));
	return {
		...emptyPlan,
		expect: [
			{kind: 'pool', gpuCount: snapshot.gpus.length},
			...free.map(({index, raw}) => ({kind: 'gpu', index, raw}) as const),
		],
		writes: leases.map(({index, lease}) => ({kind: 'lease', index, lease})),
		audit: [grantEntry(leases[0]!.lease, gpus, {now, host}, {reason: takenBackReason})],
		event: {kind: 'granted', gpus, user: ownerOf(leases[0]!.lease)},
	};
}

/** With its leases as they were just written. */
const withLeases = (hold: JobLease, {writes}: Plan): JobLease => ({
	...hold,
	leases: new Map([
		...hold.leases,
		...writes.flatMap((write) => (write.kind === 'lease' ? [[write.index, write.lease] as const] : [])),
	]),
});

/** What there is to write: GPUs to take back, and else heartbeats that are due. */
async function planBeat(
	world: World,
	snapshot: Snapshot,
	hold: JobLease,
): Promise<{readonly plan: Plan; readonly back: readonly FreeRecord[]}> {
	const own = ownRecords(snapshot, hold);
	const free = snapshot.gpus.filter((record) => record.kind === 'free').filter(({index}) => hold.gpus.includes(index));
	const over = free.length === 0 ? new Set() : await endedForGood(world, free, hold);
	const back = free.filter(({index}) => !over.has(index));
	if (back.length > 0) {
		return {plan: planTakeBack(snapshot, back, hold, world.host.hostname), back};
	}

	const {now} = snapshot;
	const due = own.filter(({index, lease}) => isDue(lease, hold.leases.get(index)!, now));
	return {plan: planChange(due, (lease, index) => beaten(lease, hold.leases.get(index)!, now), undefined), back};
}

/**
Finds out whether we still are the holder, and says that we live where that is due. A GPU that is free although nobody gave it up is taken
back. It writes nothing else, so that it may be called as often as something happens.

@throws CanhazgpuError `store-unreachable`, `no-pool`, ... : then nothing is known, and the lease stays for a quarter of an hour.
*/
export async function sendHeartbeat(world: World, granted: JobLease): Promise<HeartbeatResult> {
	const takenBack: TakenBack[] = [];
	let hold = granted;
	const {snapshot} = await commitUntilSettled(world, {
		async read() {
			const read = await world.store.read();
			requirePool(read, world.host, world.store.location);
			return read;
		},
		plan: async (read) => planBeat(world, read, hold),
		committed({plan, back}) {
			if (back.length === 0) {
				return;
			}

			takenBack.push(...back.map(({index, ended}) => ({index, reason: ended?.reason})));
			hold = withLeases(hold, plan);
		},
	});
	const own = ownRecords(snapshot, hold);
	const lost = hold.gpus.filter((index) => own.every((record) => record.index !== index));
	const rest = {...without(hold, lost), seenAt: snapshot.now};
	return lost.length === 0
		? {kind: 'held', hold: rest, takenBack}
		: {
				kind: 'lost',
				hold: rest,
				takenBack,
				gpus: lost.map((index) => {
					const record = snapshot.gpus[index];
					return {index, holder: record !== undefined && isLeased(record) ? record.lease : undefined};
				}),
			};
}

/** Ends the lease on all GPUs that still are ours. Returns which; those that were lost before are not touched. */
export const endJobLease = async (world: World, hold: JobLease, reason: EndReason): Promise<readonly number[]> =>
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
	});
