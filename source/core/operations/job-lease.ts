/** Keeps the `run` lease of a job: names the job, sends heartbeats, and ends the lease once, with a reason. */
import {CanhazgpuError, hasCode, isTransient} from '../../errors.js';
import {planHoldings, type HoldingChange, instancesHeld} from '../rules/leases/holding-changes.js';
import {
	gpusOf,
	holdingsIn,
	holdingsOn,
	isShare,
	partKey,
	type HeldPart,
	type Holding,
	type SharedRecord,
} from '../rules/leases/holdings.js';
import {planChange, planEnd, withHeartbeat} from '../rules/leases/lease-changes.js';
import {hasExpired, isLeaseHeartbeatDue} from '../rules/leases/liveness.js';
import {emptyPlan, poolExpectations, type Plan} from '../model/plan.js';
import {isSameLease, ownerOf} from '../rules/leases/ownership.js';
import {secondsUntilGrants} from '../rules/pool/alerts.js';
import {poolIsolationOf, type PoolIsolation} from '../rules/pool/isolation.js';
import {requirePool} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import {takenBack as takenBackReason, grantEntry, isEndOf} from '../rules/leases/audit-entries.js';
import type {
	EndedLease,
	EndReason,
	GpuRecord,
	InstanceOfGpu,
	Lease,
	LeftProcess,
	ProcessIdentity,
	Snapshot,
} from '../model/types.js';
import {readCurrent, transact} from './transact.js';
import {createWakeSignal} from './waiting/wake-signal.js';
import {commitUntilSettled} from './change-once.js';

const retryMs = 1000;

/** A lease on one GPU, with the memory for all shares of this GPU. The memory is kept here, because the record of a free GPU does not contain it. */
type OwnPart = HeldPart & {readonly capacityMiB?: number | undefined};

/** A wrapper's copy of its lease. The wrapper uses the copy to recognize and restore the lease. */
export type JobLease = {
	readonly leaseId: string;
	readonly gpus: readonly number[];
	/** The part of the lease on each GPU or MIG instance, by {@link partKey}. A GPU that the request already held while it waited has an earlier start. */
	readonly leases: ReadonlyMap<string, OwnPart>;
	readonly seenAt: number;
};

type FoundJobLease = JobLease & {readonly poolIsolation: PoolIsolation};

const partsOf = (parts: readonly OwnPart[]): JobLease['leases'] =>
	new Map(parts.map((part) => [partKey(part.index, part.lease), part]));

export const instancesOfJob = ({leases}: Pick<JobLease, 'leases'>): readonly InstanceOfGpu[] | undefined =>
	instancesHeld(leases.values().toArray());

/** Reads the lease from the store right after the grant. Throws `failed` if the lease is already gone. */
export async function findJobLease(world: World, leaseId: string): Promise<FoundJobLease> {
	const snapshot = await readCurrent(world);
	const {gpus, now} = snapshot;
	const holdings = holdingsIn(gpus).filter(({lease}) => lease.leaseId === leaseId);
	if (holdings.length === 0) {
		throw new CanhazgpuError('failed', 'The GPUs were lost before the command could start', {
			hint:
				secondsUntilGrants(snapshot) > 0
					? 'The store lost its data, and the restored copy is older than this reservation. Try again.'
					: 'Somebody released them, or the pool was replaced. Try again.',
		});
	}

	const leases = partsOf(
		holdings.map(({index, lease, sharedBy}) => ({index, lease, capacityMiB: sharedBy?.record.capacityMiB})),
	);
	return {
		leaseId,
		gpus: gpusOf(leases.values().toArray()),
		leases,
		seenAt: now,
		poolIsolation: poolIsolationOf(snapshot),
	};
}

type FindOptions = {
	readonly signal: AbortSignal;
	readonly away: (reason: string) => void;
};

/** Reads the lease after a grant, and retries while the store is unreachable. Undefined after an abort. Throws `failed` if the lease is gone. */
export async function awaitJobLease(
	world: World,
	leaseId: string,
	{signal, away}: FindOptions,
): Promise<FoundJobLease | undefined> {
	const {clock} = world;
	const wakeSignal = createWakeSignal();
	let said: string | undefined;
	for (;;) {
		try {
			// Reads at least once even if the signal is already aborted, so that the caller can release the lease.
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

/** Adds the job's processes and model to the lease. After the next heartbeat has stored them, the job keeps its lease even if the wrapper is killed. */
export const withJob = (
	jobLease: JobLease,
	job: ProcessIdentity,
	model?: string,
	children?: readonly LeftProcess[],
): JobLease => ({
	...jobLease,
	leases: new Map(
		Array.from(
			jobLease.leases,
			([key, part]) => [key, {...part, lease: {...part.lease, job, model, children}}] as const,
		),
	),
});

function without(jobLease: JobLease, lost: readonly HeldPart[]): JobLease {
	const leases = new Map([...jobLease.leases].filter(([, part]) => !lost.includes(part)));
	return {...jobLease, leases, gpus: gpusOf(leases.values().toArray())};
}

/** A GPU whose lease was ended by mistake while the job ran. The job has leased the GPU again. `reason` is the recorded reason of that end. */
type TakenBack = {readonly index: number; readonly reason: string | undefined};

export type HeartbeatResult =
	| {readonly kind: 'held'; readonly jobLease: JobLease; readonly takenBack: readonly TakenBack[]}
	/** Some or all GPUs were lost. `holder` is the new holder, if there is one. `jobLease` contains the remaining GPUs. */
	| {
			readonly kind: 'lost';
			readonly jobLease: JobLease;
			readonly takenBack: readonly TakenBack[];
			readonly gpus: ReadonlyArray<{readonly index: number; readonly holder: Lease | undefined}>;
	  };

const ownOf = ({leases}: JobLease, {index, lease}: HeldPart): Lease | undefined =>
	leases.get(partKey(index, lease))?.lease;

export const ownHoldings = (snapshot: Snapshot, jobLease: JobLease): readonly Holding[] =>
	holdingsIn(snapshot.gpus).filter((holding) => {
		const own = ownOf(jobLease, holding);
		return own !== undefined && isSameLease(holding.lease, own);
	});

const isOfPart = (holding: HeldPart, part: HeldPart): boolean =>
	partKey(holding.index, holding.lease) === partKey(part.index, part.lease);

/** Returns the lease to write, with a new heartbeat. Adds fields that the Go program has dropped. */
function withOwnFacts(lease: Lease, own: Lease, now: number): Lease {
	const {job, children, model, unknownFields} = own;
	return lease.leaseId === undefined
		? withHeartbeat({...own, unknownFields: lease.unknownFields ?? unknownFields}, now)
		: withHeartbeat({...lease, job, children, model: lease.model ?? model}, now);
}

const isDue = (lease: Lease, own: Lease, now: number): boolean =>
	lease.leaseId === undefined || lease.job?.pid !== own.job?.pid || isLeaseHeartbeatDue(lease, now);

/** Reasons that end a lease for good. A lease that ended for any other reason while its job runs was ended by mistake. */
const endsForGood: ReadonlySet<string> = new Set<EndReason>([
	'released',
	'pool-reset',
	'exited',
	'signalled',
	'timeout',
]);

type VacantRecord = Extract<GpuRecord, {kind: 'free'}> | SharedRecord;

function isVacant(record: GpuRecord, own: Lease): record is VacantRecord {
	if (record.kind !== 'shared') {
		return record.kind === 'free';
	}

	const {capacityMiB, shares} = record;
	const {mig} = own;
	if (mig !== undefined || shares.some((lease) => lease.mig !== undefined)) {
		return mig !== undefined && shares.every((lease) => lease.mig !== undefined && lease.mig.uuid !== mig.uuid);
	}

	return (
		isShare(own) &&
		capacityMiB !== undefined &&
		shares.reduce((sum, {memoryMiB = 0}) => sum + memoryMiB, own.memoryMiB!) <= capacityMiB
	);
}

const endedIn = (record: VacantRecord): EndedLease | undefined => (record.kind === 'free' ? record.ended : undefined);

type Vacancy = {readonly part: OwnPart; readonly record: VacantRecord};

type KnownEnds = {
	readonly over: ReadonlySet<HeldPart>;
	/** Store time until which the history already contains the use of each part. */
	readonly chargedTo: ReadonlyMap<HeldPart, number>;
};

/**
Returns which parts of the lease have ended for good. Looks for an end in the GPU's record first, and then in the audit log. If neither shows an
end, the part continues. If there is no audit log, MIG instances and shares on a GPU with other shares count as ended, because a record cannot show
their ends.
*/
async function knownEnds({store}: World, vacant: readonly Vacancy[], {leaseId, seenAt}: JobLease): Promise<KnownEnds> {
	// The record shows only the end of the GPU's last lease. For a MIG instance, this can be another instance's lease, so it proves nothing.
	const isAlone = ({part}: Vacancy): boolean => part.lease.mig === undefined;
	const isSaid = (vacancy: Vacancy): boolean => isAlone(vacancy) && endedIn(vacancy.record)?.leaseId === leaseId;
	const isLast = (vacancy: Vacancy): boolean =>
		isAlone(vacancy) && (endedIn(vacancy.record)?.leaseId === undefined || isSaid(vacancy));
	const over = new Set(
		vacant
			.filter((vacancy) => isSaid(vacancy) && endsForGood.has(endedIn(vacancy.record)!.reason))
			.map(({part}) => part),
	);
	const chargedTo = new Map<HeldPart, number>();
	for (const vacancy of vacant) {
		const {record, part} = vacancy;
		// If the record shows the mistaken end, the history already contains the time before that end.
		if (record.kind === 'free' && isLast(vacancy)) {
			chargedTo.set(part, record.lastReleased ?? part.lease.startTime);
		}
	}

	const silent = vacant.filter((vacancy) => !isSaid(vacancy));
	if (silent.length === 0) {
		return {over, chargedTo};
	}

	try {
		const audit = await store.audit({fromTime: seenAt - 1});
		for (const entry of audit) {
			const named = silent.filter(({part}) => isEndOf(entry, part));
			for (const vacancy of named) {
				if (entry.kind === 'released' || endsForGood.has(entry.reason ?? '')) {
					over.add(vacancy.part);
				} else if (vacancy.record.kind === 'shared' || !isAlone(vacancy)) {
					chargedTo.set(vacancy.part, entry.until ?? entry.time);
				}
			}
		}
	} catch (error) {
		if (!hasCode(error, 'store-refused')) {
			throw error;
		}

		const shared = silent.filter((vacancy) => vacancy.record.kind === 'shared' || !isAlone(vacancy));
		for (const {part} of shared) {
			over.add(part);
		}
	}

	return {over, chargedTo};
}

/** Returns the lease to write again on a lost GPU. Its start time can be later than before, so that no time is counted twice in the history. */
const resumed = (own: Lease, chargedTo: number | undefined, now: number): Lease =>
	withHeartbeat({...own, startTime: Math.max(own.startTime, Math.floor(chargedTo ?? 0))}, now);

type Back = Vacancy & {readonly lease: Lease};

function planTakeBack(snapshot: Snapshot, back: readonly Back[], host: string): Plan {
	const {now} = snapshot;
	const gpus = gpusOf(back.map(({record}) => record));
	const {lease} = back[0]!;
	const instances = instancesHeld(back.map((one) => ({index: one.record.index, lease: one.lease})));
	const changes = planHoldings(
		back.map((one): HoldingChange => ({
			kind: 'add',
			record: one.record,
			lease: one.lease,
			capacityMiB: one.part.capacityMiB,
		})),
	);
	return {
		...changes,
		expect: [...poolExpectations(snapshot), ...changes.expect],
		audit: [grantEntry(lease, gpus, {now, host}, {reason: takenBackReason, instances})],
		event: {kind: 'granted', gpus, user: ownerOf(lease), ...(isShare(lease) && {shared: true})},
		grants: false,
	};
}

const withLeases = (jobLease: JobLease, back: readonly Back[]): JobLease => ({
	...jobLease,
	leases: new Map([...jobLease.leases, ...partsOf(back.map(({part, lease}) => ({...part, lease})))]),
});

/** Plans to take back lost GPUs, or else to send the heartbeats that are due. */
async function planHeartbeat(
	world: World,
	snapshot: Snapshot,
	jobLease: JobLease,
): Promise<{readonly plan: Plan; readonly back: readonly Back[]}> {
	const own = ownHoldings(snapshot, jobLease);
	const {now} = snapshot;
	const vacant = jobLease.leases
		.values()
		.filter((part) => own.every((holding) => !isOfPart(holding, part)))
		.flatMap((part): readonly Vacancy[] => {
			const record = snapshot.gpus[part.index];
			return record !== undefined && isVacant(record, part.lease) && !hasExpired(part.lease, now)
				? [{part, record}]
				: [];
		})
		.toArray();
	const {over, chargedTo}: KnownEnds =
		vacant.length === 0 ? {over: new Set(), chargedTo: new Map()} : await knownEnds(world, vacant, jobLease);
	const back = vacant
		.filter(({part}) => !over.has(part))
		.map(({record, part}) => ({record, part, lease: resumed(part.lease, chargedTo.get(part), now)}));
	if (back.length > 0) {
		return {plan: planTakeBack(snapshot, back, world.host.hostname), back};
	}

	const due = own.filter((holding) => isDue(holding.lease, ownOf(jobLease, holding)!, now));
	return {
		plan: planChange(due, (lease, holding) => withOwnFacts(lease, ownOf(jobLease, holding)!, now), undefined),
		back,
	};
}

/**
Checks that the lease exists, sends a heartbeat if one is due, and takes back lost GPUs. Without heartbeats, the
lease lasts another quarter of an hour.
*/
export async function sendHeartbeat(world: World, granted: JobLease): Promise<HeartbeatResult> {
	const takenBack: TakenBack[] = [];
	let jobLease = granted;
	const {snapshot} = await commitUntilSettled(world, {
		async read() {
			const read = await world.store.read();
			requirePool(read, world.host, world.store);
			return read;
		},
		plan: async (read) => planHeartbeat(world, read, jobLease),
		committed({back}) {
			if (back.length === 0) {
				return;
			}

			takenBack.push(...back.map(({record}) => ({index: record.index, reason: endedIn(record)?.reason})));
			jobLease = withLeases(jobLease, back);
		},
	});
	const own = ownHoldings(snapshot, jobLease);
	const lost = jobLease.leases
		.values()
		.filter((part) => own.every((holding) => !isOfPart(holding, part)))
		.toArray();
	const rest = {...without(jobLease, lost), seenAt: snapshot.now};
	return lost.length === 0
		? {kind: 'held', jobLease: rest, takenBack}
		: {
				kind: 'lost',
				jobLease: rest,
				takenBack,
				gpus: lost.map((part) => ({index: part.index, holder: holderNow(snapshot, part)})),
			};
}

const holderNow = ({gpus}: Snapshot, {index, lease: {mig}}: HeldPart): Lease | undefined =>
	holdingsOn(gpus[index]).find(({lease}) => mig === undefined || lease.mig === undefined || lease.mig.uuid === mig.uuid)
		?.lease;

/** Ends the lease on all GPUs that it still has, and returns these GPUs. `left` are processes that outlive the job. */
export const endJobLease = async (
	world: World,
	jobLease: JobLease,
	reason: EndReason,
	left: readonly LeftProcess[] = [],
): Promise<readonly number[]> =>
	transact<readonly number[]>(world, {
		isAboutLeases: true,
		attempt(snapshot) {
			const holdings = ownHoldings(snapshot, jobLease);
			const gpus = gpusOf(holdings);
			return holdings.length === 0
				? {plan: emptyPlan, result: []}
				: {
						plan: planEnd(
							holdings.map((holding) => ({
								// The Go program may have dropped fields from the record, so the copy is used.
								holding: holding.lease.leaseId === undefined ? {...holding, lease: ownOf(jobLease, holding)!} : holding,
								ending: {reason, endTime: snapshot.now, left},
							})),
							{kind: 'released', gpus, user: holdings[0]!.lease.user},
							{now: snapshot.now, host: world.host.hostname},
						),
						result: gpus,
					};
		},
	});
