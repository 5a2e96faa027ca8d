/**
The shared data types, all of them readonly. Times are seconds since the Unix epoch, with fractions, on the store's
clock, unless a name says otherwise. An unknown value is `undefined`, never 0.
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
	/** Pid namespace of the pid, such as `4026531836`. The same pid in another namespace is another process. */
	readonly namespace?: string;
	/** Time namespace in which `startTicks` was read. The kernel shifts the value for readers in other namespaces. */
	readonly timeNamespace?: string;
	/** Process group, which children stay in by default. Known for a wrapper, which may end before it reports its job. */
	readonly group?: number;
};

export type ProcessFacts = {
	readonly pid: number;
	readonly startTicks: number;
	readonly isOwn: boolean;
	readonly user?: string;
	readonly name?: string;
	readonly commandLine?: string;
};

/** The processes by pid. Ended and hidden processes are absent. */
export type FactsOfProcesses = ReadonlyMap<number, ProcessFacts>;

/** A watch for heartbeats of a holder that cannot be judged by its process. The next heartbeat ends the watch. */
export type Silence = {
	/** The monotonic clock of `seconds`: the `id` of {@link MonotonicClock}. */
	readonly clock: string;
	readonly seconds: number;
	/** The last heartbeat before the watch. If the record has another one, an older version has written it. */
	readonly lastHeartbeat?: number;
	/** Store time at which the watch began. That clock can step, so it only decides when another clock takes over. */
	readonly since: number;
};

type Held = {
	/** The label: the account, or the name given with `--user`. */
	readonly user: string;
	/** The owner's OS account. Absent in very old records, where `user` is the owner. */
	readonly actualUser?: string;
	readonly note?: string;
	readonly machine?: string;
	readonly bootId?: string;
	/** The wrapper of a job, or the process that waits. */
	readonly holder?: ProcessIdentity;
	readonly silence?: Silence;
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

export type Lease = Held & {
	readonly type: LeaseType;
	readonly startTime: number;
	readonly lastHeartbeat?: number;
	readonly expiryTime?: number;
	/** The end that the holder was reminded of. A changed end needs another reminder. */
	readonly remindedOf?: number;
	/** Store time at which a job with a time limit is stopped. Does not prove that the job is alive. */
	readonly endsBy?: number;
	/** Whether an engine has suspended the job. A suspended job keeps its GPUs. */
	readonly isSuspended?: boolean;
	/** The first model that its processes were seen to serve or train. */
	readonly model?: string;
	/** Memory requested for a share. Without this and `mig`, the lease has its GPUs alone. */
	readonly memoryMiB?: number;
	/** The MIG instance. A grant of several instances is several leases with the same id. */
	readonly mig?: HeldInstance;
	/** The queue entry that holds this GPU while it waits for the rest. */
	readonly partialQueueId?: string;
	/** Id of the whole grant, checked by every later change. Absent in records of the Go program. */
	readonly leaseId?: string;
	readonly job?: ProcessIdentity;
};

export type LeftProcess = {readonly pid: number; readonly startTicks: number};

/** The last lease, as kept in the record of a free GPU. */
export type EndedLease = {
	/** An {@link EndReason}, or a word of a later version. */
	readonly reason: string;
	readonly leaseId?: string;
	/** The owner's account. Present with `left`, and if the job died without releasing its GPUs. */
	readonly account?: string;
	readonly left?: readonly LeftProcess[];
};

/** The record of one GPU, with the raw value for the commit's comparison. `raw` is undefined for an absent key. */
export type GpuRecord =
	| {
			readonly kind: 'free';
			readonly index: number;
			readonly raw: string | undefined;
			readonly lastReleased?: number;
			/** The last lease. Absent in records of the Go program and of earlier versions. */
			readonly ended?: EndedLease;
	  }
	| {readonly kind: 'leased'; readonly index: number; readonly raw: string; readonly lease: Lease}
	| {
			readonly kind: 'shared';
			readonly index: number;
			readonly raw: string;
			readonly shares: readonly Lease[];
			/** Memory that all shares may have together, read at the first grant. */
			readonly capacityMiB?: number;
			readonly unknownFields?: Readonly<Record<string, unknown>>;
	  }
	| {
			readonly kind: 'garbage';
			readonly index: number;
			readonly raw: string | undefined;
			readonly problem: string;
	  };

/** `used`: without a reservation. `unknown`: usage unknown. `mode`: MIG mode or layout unknown. */
export const outageKinds = ['broken', 'used', 'unknown', 'mode'] as const;

/** A GPU or instance that a waiting request saw out of service. Any account can write `detail`. */
export type NotedOutage = {
	readonly gpu: number;
	/** The MIG instance. Absent if the whole GPU is out of service. */
	readonly mig?: Pick<HeldInstance, 'uuid' | 'number'>;
	readonly kind: (typeof outageKinds)[number];
	/** The tool's words, or the accounts that use the GPU. */
	readonly detail?: string;
	readonly since: number;
};

export type QueueEntry = Held & {
	readonly id: string;
	readonly requestedCount: number;
	/** Empty if any suitable GPUs will do. */
	readonly requestedIds: readonly number[];
	readonly need?: Need;
	/** The GPUs that can serve the entry, by its last scan: any of one group. Absent: any GPU. Empty: no known GPU. */
	readonly eligible?: readonly GpuGroup[];
	readonly eligibleInstances?: readonly EligibleInstance[];
	/** A copy. `partialQueueId` of the leases is authoritative. */
	readonly allocatedGpus: readonly number[];
	readonly reservationType: LeaseType;
	readonly expirySeconds?: number;
	readonly timeLimitSeconds?: number;
	readonly enqueueTime: number;
	readonly lastHeartbeat: number;
	readonly waitTimeout?: number;
	/** Whether use without a reservation and health problems are ignored. */
	readonly force?: boolean;
	/** Unavailable GPUs that the request needs, by its last scan. Absent if it can be served. */
	readonly unavailable?: readonly NotedOutage[];
	readonly verdict?: EngineVerdict;
};

export type EngineVerdict = {
	/** Why the request waits, in the engine's word, such as `Resources`. */
	readonly reason: string;
	readonly startsAt?: number;
};

export type QueueRecord =
	| {readonly kind: 'entry'; readonly id: string; readonly raw: string; readonly entry: QueueEntry}
	/** The id is in the queue, but its entry is missing. */
	| {readonly kind: 'orphan'; readonly id: string}
	| {readonly kind: 'garbage'; readonly id: string; readonly raw: string | undefined; readonly problem: string};

export type EntryRecord = Extract<QueueRecord, {kind: 'entry'}>;

export type Pool = {
	readonly gpuCount: number;
	readonly provider: ProviderName;
	/** The pool's machine. Absent if the Go program created the pool. */
	readonly machine?: {
		readonly id: string;
		readonly bootId?: string;
		/** New location of this machine's pool, if it moved to another store. */
		readonly movedTo?: string;
	};
};

/** A GPU that an administrator took out of service. Its holder keeps it, and nobody else gets it. */
export type Drain = {
	readonly reason?: string;
	readonly by?: string;
	/** Absent only for Slurm nodes that are drained in Slurm's configuration. */
	readonly since?: number;
};

export type PolicySetting = {
	/** The value as typed. `core/rules/policy/keys.ts` parses it. */
	readonly value: string;
	readonly by?: string;
	readonly since: number;
};

/** Progress of a store, from which a reader detects lost commits. See `restoring.ts`. */
export type Revision = {
	/** Commits of this program. Those of the Go program and of earlier versions are not counted. */
	readonly count: number;
	/** The count at the start of the current run. Later commits of an earlier run are lost. */
	readonly base: number;
	/** Id of the current run. Changes with each restart of a server and with each new file. */
	readonly run: string;
	/** Time of the run's first commit or last restore. Undefined if there was none. */
	readonly since: number | undefined;
	/** The stored value, for comparison in a commit. */
	readonly raw: string | undefined;
};

export type Snapshot = {
	readonly now: number;
	/** Uptime of the store; `Infinity` for a store without a process. */
	readonly storeUptimeSeconds: number;
	readonly pool: Pool | undefined;
	readonly gpus: readonly GpuRecord[];
	readonly queue: readonly QueueRecord[];
	/** The drained GPUs. Contains every GPU of the pool if the record is unreadable: unknown is not free. */
	readonly drains: ReadonlyMap<number, Drain>;
	readonly drainProblem?: string;
	/** Policy set by an administrator, by key. It may contain keys of later versions. Empty if the record is unreadable. */
	readonly policy: ReadonlyMap<string, PolicySetting>;
	readonly policyProblem?: string;
	readonly alerts: readonly Alert[];
	/** Baselines by GPU, while the policy requires clean GPUs. */
	readonly baselines: ReadonlyMap<number, MemoryBaseline>;
	readonly overuse: readonly Overuse[];
	/** Why the alerts can be neither read nor replaced. No alerts are then raised. */
	readonly alertsProblem?: string;
	/** The stored values, for comparison in a commit. */
	readonly stored: {
		readonly drains: string | undefined;
		readonly alerts: string | undefined;
		readonly policy: string | undefined;
	};
	readonly dataLoss?: DataLoss;
	readonly revision: Revision;
	/** When the asking user last released each GPU, from the newest 100 usage records. */
	readonly lastUsed: ReadonlyMap<number, number>;
	/** The attempt of the requested change that was executed, if any. */
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
	/** Held while waiting, and taken by an earlier request. */
	'taken-by-earlier',
	/** Held while waiting, and taken because the waiter was stopped. */
	'holder-stopped',
	/** Held while waiting for GPUs that are out of service, and taken. */
	'drained',
] as const;

export type EndReason = (typeof endReasons)[number];

export type UsageRecord = Pick<
	Lease,
	'user' | 'actualUser' | 'startTime' | 'leaseId' | 'note' | 'model' | 'memoryMiB' | 'mig'
> & {
	/** Undefined if an engine did not report which GPU it was. */
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

/** A hint that something changed. The store is always read again. */
export type PoolEvent = {
	readonly kind: (typeof eventKinds)[number];
	readonly gpus: readonly number[];
	readonly user?: string;
	/** Entries that left the queue. Later entries move up without a read. */
	readonly left?: readonly string[];
	/** Set for a share, because other requests may fit beside it. */
	readonly shared?: true;
};

export type Liveness = 'alive' | 'stopped' | 'dead' | 'unknown';

export type Requester = {
	/** The owner of the granted GPUs, see `requesterOf`. */
	readonly account: string;
	readonly uid: number;
	/** Set if nothing vouches for the account, see `Account`. */
	readonly userNamespace?: string;
	/** The proved account outside of a user namespace. Then equal to `account`. */
	readonly outsideName?: string | undefined;
	readonly label: string;
};

/** The location of the pool, saved by `admin` for the whole machine or by a user's commands for that user. */
export type PoolRecord =
	| {
			readonly store: 'redis';
			readonly host: string;
			readonly port: number;
			readonly db: number;
			readonly socket?: string;
	  }
	| {readonly store: 'embedded'; readonly directory: string};

/** The last second that a JavaScript Date can hold. Milliseconds mistaken for seconds are smaller. */
export const latestTime = 8_640_000_000_000;
