/** The shared readonly data types. Times are fractional seconds since the epoch on the store's clock, unless a name says otherwise. Unknown is `undefined`, never 0. */

import type {ProviderName} from './observation.js';
import type {DataLoss, Alert, MemoryBaseline, Overuse, ReturnNote} from './alerts.js';
import type {EligibleInstance, HeldInstance} from './mig.js';
import type {GpuGroup, Need} from './need.js';

export type {AuditBefore, AuditEntry, AuditKind, AuditQuery, AuditRecord} from './audit.js';
export type {Alert, DataLoss, MemoryBaseline, Overuse, ReturnNote} from './alerts.js';
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

/** A process. The start time distinguishes it from a later process with the same pid. */
export type ProcessIdentity = {
	readonly pid: number;
	/** Start time in clock ticks since boot, field 22 of /proc/PID/stat. */
	readonly startTicks?: number;
	/** Pid namespace of the pid, such as `4026531836`. The same pid in another namespace is another process. */
	readonly namespace?: string;
	/** Time namespace in which `startTicks` was read. The kernel shifts the value for readers in other namespaces. */
	readonly timeNamespace?: string;
	/** Process group of a wrapper. Its job is in the same group, so the job is found even if the wrapper ended before it reported the job. */
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

/** Facts about processes, by pid. Processes that have ended or are hidden are absent. */
export type FactsOfProcesses = ReadonlyMap<number, ProcessFacts>;

/** A watch: a timed wait for the next heartbeat of a holder whose process is not visible. The heartbeat ends the watch. */
export type Silence = {
	/** The `id` of the monotonic clock that showed `seconds` when the watch began. See `MonotonicClock`. */
	readonly clock: string;
	readonly seconds: number;
	/** The last heartbeat before the watch. A later heartbeat in the record ends the watch: an older version, which ignores watches, wrote it. */
	readonly lastHeartbeat?: number;
	/**
	Store time at which the watch began. Used only to decide when a process with another monotonic clock takes over,
	because the store's clock can step.
	*/
	readonly since: number;
};

/** How long a whole reservation has been idle. Kept in its leases while the policy returns idle GPUs to the pool. */
export type LeaseIdle = {
	/** Store time of the first observation that saw every GPU idle. */
	readonly since: number;
	/** Store time of a recent observation that also saw every GPU idle. Not updated at every scan. */
	readonly seen: number;
	readonly warned?: number;
	/** Store time at which the GPUs go back unless they are used. Set with `warned`. */
	readonly deadline?: number;
	/** The deadline in the last reminder to the owner. */
	readonly remindedOf?: number;
	readonly timer?: GraceTimer;
};

/** A reading of the machine's monotonic clock, which ignores changes of the date. In a lease, the start of the warning. See `MonotonicClock`. */
export type GraceTimer = {readonly clock: string; readonly seconds: number};

/** How long a reservation has held memory without load on any of its GPUs. Kept in its leases, with `since` and `seen` as in {@link LeaseIdle}. */
export type LeaseParked = {
	readonly since: number;
	readonly seen: number;
	/** The value of `since` for which the owner was notified. */
	readonly toldOf?: number;
};

/** A reservation that was granted beyond the `max-gpus` of its account, with `limits.slack=on`. */
export type LeaseSlack = {
	/** The account's Unix groups that had limits at the time of the grant. They decide which limit applies. */
	readonly groups?: readonly string[] | undefined;
	readonly warned?: number;
	/** Store time at which the GPUs go back if somebody still waits. Set with `warned`, when the owner is warned. */
	readonly deadline?: number;
	readonly remindedOf?: number;
	readonly timer?: GraceTimer;
};

type Held = {
	/** The label: the account, or the name given with `--user`. */
	readonly user: string;
	/** The owner's OS account. Absent in very old records, where `user` is the owner. */
	readonly actualUser?: string;
	readonly note?: string;
	/** The interface through which the request was made, such as `mcp claude-code`. Absent for the command line, the monitor and the dashboard. */
	readonly via?: string;
	readonly machine?: string;
	readonly bootId?: string;
	/** The process behind a lease or entry: the wrapper of a job, or the command that waits. */
	readonly holder?: ProcessIdentity;
	readonly silence?: Silence;
	readonly unknownFields?: Readonly<Record<string, unknown>>;
};

export type Lease = Held & {
	readonly type: LeaseType;
	readonly startTime: number;
	readonly lastHeartbeat?: number;
	readonly expiryTime?: number;
	/** The end time in the last reminder to the owner. If the lease's end changes, a new reminder is sent. */
	readonly remindedOf?: number;
	readonly idle?: LeaseIdle;
	readonly parked?: LeaseParked;
	/** Store time until which the reservation is kept although it is idle. */
	readonly keepUntil?: number;
	readonly slack?: LeaseSlack;
	/** Store time at which a job with a time limit is stopped. The job can end earlier. */
	readonly endsBy?: number;
	/** Whether an engine such as Slurm has suspended the job. A suspended job keeps its GPUs. */
	readonly isSuspended?: boolean;
	/** The first AI model that the lease's processes were seen to serve or train. */
	readonly model?: string;
	/** Memory requested for a share. Without this and without `mig`, the lease has the whole GPU. */
	readonly memoryMiB?: number;
	/** The MIG instance. A grant of several instances consists of several leases with the same id. */
	readonly mig?: HeldInstance;
	/** The queue entry that holds this GPU while it waits for the rest. */
	readonly partialQueueId?: string;
	/** Id of the whole grant, checked by every later change. Absent in records of the Go program. */
	readonly leaseId?: string;
	readonly job?: ProcessIdentity;
	/** Further processes that keep the GPUs, in the namespaces of `job`. Set when `run --wait-children` waits for them. */
	readonly children?: readonly LeftProcess[];
};

export type LeftProcess = {readonly pid: number; readonly startTicks: number};

/** The last lease, as kept in the record of a free GPU. */
export type EndedLease = {
	/** An {@link EndReason}, or a reason that only a later version of the program knows. */
	readonly reason: string;
	readonly leaseId?: string;
	/** The owner's account. Present with `left`, and if the job died without releasing its GPUs. */
	readonly account?: string;
	readonly left?: readonly LeftProcess[];
};

/** The record of one GPU. `raw` is the value as it was read, or undefined if the key was absent. A commit compares `raw` with the stored value. */
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
			/** Memory for all shares together, as measured when the first share was granted. */
			readonly capacityMiB?: number;
			/** When a share last ended. Absent if none has ended since the GPU became shared. */
			readonly shareEnded?: number;
			readonly unknownFields?: Readonly<Record<string, unknown>>;
	  }
	| {
			readonly kind: 'garbage';
			readonly index: number;
			readonly raw: string | undefined;
			readonly problem: string;
	  };

/** Why a GPU is out of service. `used`: in use without a reservation. `unknown`: its use is unknown. `mode`: its MIG mode or layout is unknown. */
export const outageKinds = ['broken', 'used', 'unknown', 'mode'] as const;

/** A GPU or instance that a waiting request saw out of service. `detail` is untrusted, because any account can write it. */
export type NotedOutage = {
	readonly gpu: number;
	readonly mig?: Pick<HeldInstance, 'uuid' | 'number'>;
	readonly kind: (typeof outageKinds)[number];
	/** The GPU tool's message, or the accounts that use the GPU. */
	readonly detail?: string;
	readonly since: number;
};

export type QueueEntry = Held & {
	readonly id: string;
	readonly requestedCount: number;
	readonly requestedIds: readonly number[];
	readonly need?: Need;
	readonly groups?: readonly string[] | undefined;
	/** Groups of GPUs that can serve the entry, according to its last scan. Absent if every GPU can. Empty if no known GPU can. */
	readonly eligible?: readonly GpuGroup[];
	readonly eligibleInstances?: readonly EligibleInstance[];
	/** The GPUs that the entry already holds. This is a copy: `partialQueueId` of the leases is authoritative. */
	readonly allocatedGpus: readonly number[];
	readonly reservationType: LeaseType;
	readonly expirySeconds?: number;
	readonly timeLimitSeconds?: number;
	readonly enqueueTime: number;
	readonly lastHeartbeat: number;
	readonly waitTimeout?: number;
	/** Whether the request ignores use without a reservation and health problems. */
	readonly force?: boolean;
	/** The GPUs out of service that keep the request from being served, according to its last scan. Absent if it can be served. */
	readonly unavailable?: readonly NotedOutage[];
	readonly verdict?: EngineVerdict;
};

export type EngineVerdict = {
	/** The engine's code for the reason of waiting, such as Slurm's `Resources`. */
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
		/** The new location of this machine's pool, if the pool has moved to another store. */
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
	/** Number of commits by this program. Commits by the Go program and by earlier versions are not counted. */
	readonly count: number;
	/** The count at the start of the current run. If an earlier run had a higher count, its last commits are lost. */
	readonly base: number;
	/** Id of the current run of the store. Changes with each restart of a Redis server and with each new SQLite file. */
	readonly run: string;
	/** Time of the run's first commit, or of its last restore of lost data. Undefined if there was neither. */
	readonly since: number | undefined;
	readonly raw: string | undefined;
};

export type Snapshot = {
	readonly now: number;
	/** Uptime of the store. `Infinity` for a store without a server process. */
	readonly storeUptimeSeconds: number;
	readonly pool: Pool | undefined;
	readonly gpus: readonly GpuRecord[];
	readonly queue: readonly QueueRecord[];
	/** The drained GPUs. If the record is unreadable, these are all GPUs of the pool, because unknown does not mean free. */
	readonly drains: ReadonlyMap<number, Drain>;
	readonly drainProblem?: string;
	/** Policy set by an administrator, by key. It may contain keys of later versions. Empty if the record is unreadable. */
	readonly policy: ReadonlyMap<string, PolicySetting>;
	readonly policyProblem?: string;
	readonly alerts: readonly Alert[];
	/** Memory baselines by GPU. Empty if the policy does not require clean GPUs. */
	readonly baselines: ReadonlyMap<number, MemoryBaseline>;
	readonly overuse: readonly Overuse[];
	readonly returned?: readonly ReturnNote[];
	/** Why the alerts can be neither read nor replaced. While this is set, no alerts are raised. */
	readonly alertsProblem?: string;
	/** The stored values, for comparison in a commit. */
	readonly stored: {
		readonly machine: string | undefined;
		readonly drains: string | undefined;
		readonly alerts: string | undefined;
		readonly policy: string | undefined;
	};
	readonly dataLoss?: DataLoss;
	readonly revision: Revision;
	/** When the user given to `read` last released each GPU, from the newest 100 usage records. */
	readonly lastUsed: ReadonlyMap<number, number>;
	/** The executed attempt of the change given to `read`. Absent if no attempt was executed. */
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
	/** An earlier request in the queue took a GPU that a waiting request held. */
	'taken-by-earlier',
	/** Another request took a GPU that a waiting request held, because the process of the waiting request was stopped. */
	'holder-stopped',
	/** Another request took a GPU that a waiting request held, because the waiting request needed GPUs that were out of service. */
	'drained',
	/** The reservation was idle, and its GPUs went back to the pool after a warning. */
	'reclaimed',
	/** Another request took a GPU that a waiting request held, because the waiting request had to wait for a limit of its account or of agents. */
	'over-limit',
	/** The reservation was beyond its account's limit, and ended after a warning because somebody else waited. */
	'beyond-limit',
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
	'job',
] as const;

/** A hint that something changed. Decisions always read the store again. */
export type PoolEvent = {
	readonly kind: (typeof eventKinds)[number];
	readonly gpus: readonly number[];
	readonly user?: string;
	/** Ids of the entries that left the queue. Entries behind them compute their new position from these ids, without a read. */
	readonly left?: readonly string[];
	readonly jobs?: readonly number[];
	/** Set for shares and MIG instances. Other requests may still fit on these GPUs. */
	readonly shared?: true;
};

export type Liveness = 'alive' | 'stopped' | 'dead' | 'unknown';

export type Requester = {
	readonly account: string;
	readonly uid: number;
	readonly userNamespace?: string;
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

/** The last second that a JavaScript Date can hold. */
export const latestTime = 8_640_000_000_000;
