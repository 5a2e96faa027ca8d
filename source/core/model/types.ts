/**
The words of the whole project. Everything here is a readonly value: snapshots flow up, intents flow down.

Times are seconds since the Unix epoch (fractions allowed) on the store's clock unless a name says otherwise. An unknown
value is `undefined`, never 0.
*/

import type {ProviderName} from './observation.js';
import type {DataLoss, Alert, MemoryBaseline, Overuse} from './alerts.js';
import type {EligibleInstance, HeldInstance} from './mig.js';
import type {GpuGroup, Need} from './need.js';

export type {AuditBefore, AuditEntry, AuditKind, AuditQuery, AuditRecord} from './audit.js';
export type {Alert, DataLoss, MemoryBaseline, Overuse} from './alerts.js';
export type {EligibleInstance, HeldInstance, InstanceName, InstanceNeed, InstanceOfGpu} from './mig.js';
export type {GpuGroup, GpuLink, GpuLinks, Need} from './need.js';
export type {
	GpuPlace,
	GpuProcess,
	GpuReading,
	HealthProblem,
	IdleSpan,
	MigInstance,
	Observation,
	ProviderName,
	UnknownReadings,
} from './observation.js';

export const leaseTypes = ['run', 'manual'] as const;

export type LeaseType = (typeof leaseTypes)[number];

/** A process, distinguished by its start time from a later one with the same pid. */
export type ProcessIdentity = {
	readonly pid: number;
	/** Start time in clock ticks since boot, field 22 of /proc/PID/stat. */
	readonly startTicks?: number;
	/** Which pid namespace the pid counts in, such as `4026531836`. A container's pid says nothing about ours of the same number. */
	readonly namespace?: string;
	/** Time namespace in which `startTicks` was read. The kernel shifts the value for readers in other namespaces. */
	readonly timeNamespace?: string;
	/** Process group, which children stay in by default. Known for a wrapper, which may end before it reports its job. */
	readonly group?: number;
};

/** Current facts about a running process. */
export type ProcessFacts = {
	readonly pid: number;
	readonly startTicks: number;
	/** Whether it belongs to this account. */
	readonly isOwn: boolean;
	/** The account it belongs to, where that has a name. */
	readonly user?: string;
	readonly name?: string;
	readonly commandLine?: string;
};

/** By pid, without processes that have ended or are hidden. */
export type FactsOfProcesses = ReadonlyMap<number, ProcessFacts>;

/** Somebody watches whether a holder stays silent that cannot be judged by its process. The next heartbeat ends the watch. */
export type Silence = {
	/** Which monotonic clock `seconds` is read from: `id` of {@link MonotonicClock}. */
	readonly clock: string;
	/** When the watch began, on that clock. */
	readonly seconds: number;
	/** The last heartbeat by then. A record that bears another one was written by a version that does not know of watches. */
	readonly lastHeartbeat?: number;
	/** When the watch began, on the store's clock, which may step: it tells only when another clock may take the watch over. */
	readonly since: number;
};

/** The holder of a lease, or of a queue position. */
type Held = {
	/** The label under which it is shown: the account, or what `--user` said. */
	readonly user: string;
	/** The OS account that owns it. Absent in very old records: then `user` owns it. */
	readonly actualUser?: string;
	readonly note?: string;
	/** Machine-id of the box the holder runs on. */
	readonly machine?: string;
	/** Absent: it could not be read. */
	readonly bootId?: string;
	/** The wrapper of a job, or the process that waits. */
	readonly holder?: ProcessIdentity;
	readonly silence?: Silence;
	/** Fields of the stored record that this version does not know; written back as they were. */
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

/** A promise that a GPU is held, with an owner. */
export type Lease = Held & {
	readonly type: LeaseType;
	readonly startTime: number;
	readonly lastHeartbeat?: number;
	/** Manual leases only. */
	readonly expiryTime?: number;
	/** The end that its holder was reminded of; another end wants another reminder. */
	readonly remindedOf?: number;
	/** Run leases with a time limit: when the job is stopped at the latest. Says nothing of who is alive. */
	readonly endsBy?: number;
	/** Whether an engine has suspended the job. A suspended job keeps its GPUs. */
	readonly isSuspended?: boolean;
	/** The model that its processes serve or train, the first that was seen. Absent: no one has seen one. */
	readonly model?: string;
	/** Memory requested for a share. Without this and `mig`, the lease has its GPUs alone. */
	readonly memoryMiB?: number;
	/** The instance of MIG that it has of a GPU. A grant of several instances is as many leases of one id. */
	readonly mig?: HeldInstance;
	/** Set while a queue entry holds this GPU and waits for the rest. */
	readonly partialQueueId?: string;
	/** Fences every later change. Absent in the peer's records. One id covers all GPUs of one grant. */
	readonly leaseId?: string;
	/** The job of a `run` lease, or an adopted process. */
	readonly job?: ProcessIdentity;
};

/** A process that a job started and that still ran when the job ended. */
export type LeftProcess = {readonly pid: number; readonly startTicks: number};

/** The last lease, as kept in the record of a free GPU. */
export type EndedLease = {
	/** An {@link EndReason}, or a word of a later version. */
	readonly reason: string;
	readonly leaseId?: string;
	/** The account that owned the lease. Present with `left`. */
	readonly account?: string;
	/** Processes of its job that outlived the job. Absent: none are known. */
	readonly left?: readonly LeftProcess[];
};

/** The record of one GPU, with the raw value for the commit's comparison. `raw` is undefined for an absent key. */
export type GpuRecord =
	| {
			readonly kind: 'free';
			readonly index: number;
			readonly raw: string | undefined;
			/** Absent: never used. */
			readonly lastReleased?: number;
			/** Which lease ended last, and why. Absent where nothing says so: the peer and earlier versions do not write it. */
			readonly ended?: EndedLease;
	  }
	| {readonly kind: 'leased'; readonly index: number; readonly raw: string; readonly lease: Lease}
	/** Several hold a part of it each. */
	| {
			readonly kind: 'shared';
			readonly index: number;
			readonly raw: string;
			/** In the order of their grants, at least one. */
			readonly shares: readonly Lease[];
			/** Memory that all shares may have together, read at the first grant. */
			readonly capacityMiB?: number;
			/** Fields of the stored record that this version does not know; written back as they were. */
			readonly unknownFields?: Readonly<Record<string, unknown>>;
	  }
	| {
			readonly kind: 'garbage';
			readonly index: number;
			/** Undefined when the key is not even a string. */
			readonly raw: string | undefined;
			/** The problem, in words for the user. */
			readonly problem: string;
	  };

/** `used`: without a reservation. `unknown`: it is unknown whether it is used. `mode`: it is unknown whether, or into what, MIG splits it. */
export const outageKinds = ['broken', 'used', 'unknown', 'mode'] as const;

/** A GPU or instance that a waiting request saw out of service. The words can be written by any account. */
export type NotedOutage = {
	readonly gpu: number;
	/** The MIG instance. Absent if the whole GPU is out of service. */
	readonly mig?: Pick<HeldInstance, 'uuid' | 'number'>;
	readonly kind: (typeof outageKinds)[number];
	/** The words of the tool, or the accounts that use it. */
	readonly detail?: string;
	readonly since: number;
};

/** Somebody who waits in the queue. */
export type QueueEntry = Held & {
	readonly id: string;
	readonly requestedCount: number;
	/** Empty: any GPUs will do that have what is needed. */
	readonly requestedIds: readonly number[];
	/** Requirements for its GPUs, if any. */
	readonly need?: Need;
	/**
	The GPUs that can serve it, as it saw with its last scan: any as many as it wants of one of these groups. Absent: any of the pool. None: no
	GPUs are known to have what it needs.
	*/
	readonly eligible?: readonly GpuGroup[];
	/** An entry that wants instances of MIG can be served by these, any as many as it wants. */
	readonly eligibleInstances?: readonly EligibleInstance[];
	/** A copy; `partialQueueId` of the leases is the truth. */
	readonly allocatedGpus: readonly number[];
	readonly reservationType: LeaseType;
	/** Manual reservations only. */
	readonly expirySeconds?: number;
	/** Jobs with a time limit. */
	readonly timeLimitSeconds?: number;
	readonly enqueueTime: number;
	readonly lastHeartbeat: number;
	/** When it gives up, absolute. */
	readonly waitTimeout?: number;
	/** Takes GPUs in spite of use without a reservation and of what is wrong with them. */
	readonly force?: boolean;
	/** Unavailable GPUs that the request needs, by its last scan. Absent if it can be served. */
	readonly unavailable?: readonly NotedOutage[];
	/** An engine that keeps the queue itself says this of the entry. */
	readonly verdict?: EngineVerdict;
};

/** What an engine reports about a request in its queue. */
export type EngineVerdict = {
	/** Why it waits, in the engine's own word, such as `Resources`. */
	readonly reason: string;
	/** When the engine expects to serve it. Absent: it does not tell. */
	readonly startsAt?: number;
};

/** A position of the queue, in order. */
export type QueueRecord =
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string; readonly entry: QueueEntry}
	/** The id stands in the queue but its entry is gone. */
	| {readonly kind: 'orphan'; readonly id: string}
	| {readonly kind: 'garbage'; readonly id: string; readonly raw: string | undefined; readonly problem: string};

export type EntryRecord = Extract<QueueRecord, {kind: 'entry'}>;

export type Pool = {
	readonly gpuCount: number;
	readonly provider: ProviderName;
	/** The box the pool belongs to. Absent when the peer made the pool. */
	readonly machine?: {
		readonly id: string;
		readonly bootId?: string;
		/** New location of this machine's pool, if it moved to another store. */
		readonly movedTo?: string;
	};
};

/** A GPU taken out of service by hand: its holder keeps it, and no one else gets it. */
export type Drain = {
	readonly reason?: string;
	/** OS account that did it. */
	readonly by?: string;
	/** Every store keeps it; Slurm does not tell it of a node that its configuration drains. */
	readonly since?: number;
};

/** The value that an administrator gave to one key of the policy. */
export type PolicySetting = {
	/** As typed. `core/rules/policy/keys.ts` parses it. */
	readonly value: string;
	/** OS account that set it. */
	readonly by?: string;
	readonly since: number;
};

/** Progress of a store, from which a reader detects lost commits. See `restoring.ts`. */
export type Revision = {
	/** Commits of this program so far; those of the peer and of earlier versions are not counted. */
	readonly count: number;
	/** The count at which the present run began: of an earlier run, what was committed after that is lost. */
	readonly base: number;
	/** Names the present run: another one after each restart of a server, and in each new file. */
	readonly run: string;
	/** When the first commit of this run was made, or the last that restored something. Undefined: none was made in this run. */
	readonly since: number | undefined;
	/** The stored form, which a commit compares; undefined when there is none. */
	readonly raw: string | undefined;
};

/** An atomic read of the store. */
export type Snapshot = {
	/** The store's clock at the read. */
	readonly now: number;
	/** Uptime of the store; `Infinity` for a store without a process. */
	readonly storeUptimeSeconds: number;
	/** Undefined: there is no pool here. */
	readonly pool: Pool | undefined;
	/** One record for each GPU, by index. There are `pool.gpuCount`. */
	readonly gpus: readonly GpuRecord[];
	readonly queue: readonly QueueRecord[];
	/** By GPU. If the record is unreadable, it contains every GPU of the pool: unknown is not free. */
	readonly drains: ReadonlyMap<number, Drain>;
	/** Why their record cannot be read. */
	readonly drainProblem?: string;
	/** Policy set by an administrator, by key. It may contain keys of later versions. Empty if the record is unreadable. */
	readonly policy: ReadonlyMap<string, PolicySetting>;
	/** Why the record of the policy cannot be read. */
	readonly policyProblem?: string;
	/** The alerts that stand. */
	readonly alerts: readonly Alert[];
	/** By GPU, while the policy requires clean GPUs. */
	readonly baselines: ReadonlyMap<number, MemoryBaseline>;
	/** Shares that use more than they asked for. */
	readonly overuse: readonly Overuse[];
	/** Why their record can neither be read nor replaced: no more alerts are raised. */
	readonly alertsProblem?: string;
	/** The stored forms, which a commit compares; undefined when there are none. */
	readonly stored: {
		readonly drains: string | undefined;
		readonly alerts: string | undefined;
		readonly policy: string | undefined;
	};
	/** The last time that the store had lost commits and somebody put back what they knew. Absent when that never was. */
	readonly dataLoss?: DataLoss;
	readonly revision: Revision;
	/** When the asking user last gave back each GPU, from the newest 100 usage records; empty when no one was named. */
	readonly lastUsed: ReadonlyMap<number, number>;
	/** Which attempt of the change that was asked about was carried out; undefined when none was, or no one asked. */
	readonly attemptDone?: number;
};

export const endReasons = [
	'released',
	'expired',
	'exited',
	'signalled',
	'timeout',
	'holder-died',
	'heartbeat-lost',
	'reboot',
	'pool-reset',
	'queue-left',
	/** Held while waiting, and taken over by somebody earlier in the queue. */
	'taken-by-earlier',
	/** Held while waiting, and taken over because the waiter was stopped. */
	'holder-stopped',
	/** Held while waiting for GPUs that are out of service, and taken over. */
	'drained',
] as const;

export type EndReason = (typeof endReasons)[number];

/** Use of one GPU by one lease, from grant to end. */
export type UsageRecord = Pick<
	Lease,
	'user' | 'actualUser' | 'startTime' | 'leaseId' | 'note' | 'model' | 'memoryMiB' | 'mig'
> & {
	/** Undefined: an engine reported that it was a GPU, and not which. */
	readonly gpuId: number | undefined;
	readonly endTime: number;
	readonly durationSeconds: number;
	readonly reservationType: LeaseType;
	readonly endReason?: EndReason;
};

export const eventKinds = [
	'granted',
	'released',
	'expired',
	'extended',
	'heartbeat',
	'queue',
	'pool',
	'drain',
	'policy',
	'notice',
] as const;

/** A hint that something changed; the truth is always read again. */
export type PoolEvent = {
	readonly kind: (typeof eventKinds)[number];
	readonly gpus: readonly number[];
	/** The label of the account that did it. */
	readonly user?: string;
	/** Entries that left the queue: those behind them move up without having to read. */
	readonly left?: readonly string[];
	/** The grant is a share of each GPU, and there may be room beside it. */
	readonly shared?: true;
};

export type Liveness = 'alive' | 'stopped' | 'dead' | 'unknown';

/** The requesting OS account, and the label for the reservation. */
export type Requester = {
	/** The name that owns what is taken, see `requesterOf`. */
	readonly account: string;
	readonly uid: number;
	/** Set where nothing vouches for the account, see `Account`. */
	readonly userNamespace?: string;
	/** Set in a user namespace where it is proved which account this is outside: then it is `account`. */
	readonly outsideName?: string | undefined;
	/** Equal to `account` unless `--user` said otherwise. */
	readonly label: string;
};

/** The record that `admin` leaves for everybody on this machine, or that a user's own visits leave for that user. */
export type PoolRecord =
	| {
			readonly store: 'redis';
			readonly host: string;
			readonly port: number;
			readonly db: number;
			/** Path of a Unix socket, instead of host and port. */
			readonly socket?: string;
	  }
	| {readonly store: 'embedded'; readonly directory: string};

/** The last second that JavaScript has a date for. Milliseconds that somebody took for seconds are before it. */
export const latestTime = 8_640_000_000_000;
