/** Interfaces between the core and the outside world. Adapters implement them, and only `app.ts` chooses the adapters. */
import type {JobList} from './jobs.js';
import type {Plan} from './plan.js';
import type {
	AuditEntry,
	AuditQuery,
	EntryRecord,
	GpuLinks,
	Liveness,
	Observation,
	PoolEvent,
	ProcessIdentity,
	ProviderName,
	Snapshot,
	UsageRecord,
} from './types.js';

/**
`conflict`: an expectation failed or another attempt was executed, so the caller must read and plan again. `locked`: the Go program holds its lock,
so the caller must retry after 20 ms. In both cases, nothing was written.
*/
export type CommitOutcome = 'done' | 'conflict' | 'locked';

export type ReadOptions = {
	readonly user?: string;
	readonly change?: string;
	/** Omits the queue, which is the largest part of a read. Decisions that depend on the queue must not use such a snapshot. */
	readonly withoutQueue?: boolean;
};

export type StoreListener = {
	/** Called after a change, as a hint to read again. The event is undefined if the store cannot tell what changed. */
	readonly changed: (event: PoolEvent | undefined) => void;
	/** Called when the connection is lost, with a reason for the user. No calls follow until `restored`. */
	readonly lost?: (reason: string) => void;
	/** Called when the store is back. Changes were missed, so everything must be read again. */
	readonly restored?: () => void;
	/** Called before each poll by a store that polls. Returns by how many milliseconds the store may delay calls of `changed`. Defaults to no delay. */
	readonly tolerableDelayMs?: () => number;
};

export type ScannerRole = {
	readonly owner: string;
	/** Milliseconds between scans. A viewer that scans more often may take over the role. */
	readonly intervalMs: number;
};

/** The newest posted scan. Any process can write it, so it is displayed but never used for grants. */
export type PostedScan = {
	readonly text: string;
	/** Store time at which the scan was posted. Different scans have different times. */
	readonly time: number;
	readonly ageSeconds: number;
};

/** Lets one viewer scan the GPUs for all viewers of the pool. Methods reject like those of {@link Store}. */
export type ScanBoard = {
	/** Takes or renews the role of the viewer that scans. Returns false while another viewer has the role. */
	readonly claim: (role: ScannerRole, seconds: number) => Promise<boolean>;
	readonly resign: (owner: string) => Promise<void>;
	readonly post: (owner: string, text: string) => Promise<boolean>;
	readonly latest: () => Promise<PostedScan | undefined>;
	/** Resolves once `posted` is registered, with a function that removes it. A call of `posted` is a hint to read the newest scan. */
	readonly subscribe: (posted: () => void) => Promise<() => Promise<void>>;
};

export const longestScan = 2 ** 20;

/** The greatest length of one hour of load history, in characters. */
export const longestLoadHour = 2 ** 20;

/** How many hours of load history are kept: a week, and one more hour because the current hour is incomplete. */
export const loadHours = 7 * 24 + 1;

/** The load of the GPUs, as one text for each hour. Hours count from the epoch. Any process can write the texts, so they are only displayed. */
export type LoadHistory = {
	/** Appends a line to the text of an hour, unless the text is full. Texts are deleted {@link loadHours} after their hour. */
	readonly append: (hour: number, line: string) => Promise<void>;
	/** Returns the texts of these hours, at most {@link loadHours}. Omits texts that are too long or invalid. */
	readonly read: (fromHour: number, toHour: number) => Promise<ReadonlyMap<number, string>>;
};

export type StoreCondition = {
	readonly version?: string;
	readonly isDurable?: boolean;
	readonly evicts?: boolean;
	/** Whether a password is configured, but the store has none. */
	readonly isPasswordUnneeded?: boolean;
	readonly damage?: string;
	/** Whether the accounts for which the pool is lack permissions. Always true for a private pool in a file. */
	readonly lacksPermissions?: boolean;
};

/** A stream of usage records, one by one or in pages. Pages are faster for large histories. */
export type UsageHistory = AsyncIterable<UsageRecord> & {
	readonly pages: () => AsyncIterable<readonly UsageRecord[]>;
};

/**
The storage of the pool. Methods reject with a CanhazgpuError: `store-unreachable` (a commit may have happened, or may still happen: read the pool
to find out), `store-refused` (such as out of memory or read-only), or `pool-garbage` (the pool's keys are invalid; the
details are the pool's `machine`, if that is known).
*/
export type Store = {
	readonly kind: 'redis' | 'embedded' | 'memory' | 'slurm';
	/** Location for people, such as `redis localhost:6379/0` or a path. Never contains a password. */
	readonly location: string;
	/** Command for manual access, such as `redis-cli -p 7000` or `sqlite3 FILE`. */
	readonly shell: string;
	/** Reads the whole pool atomically. The snapshot has `lastUsed` if `user` (a label) is given, and `attemptDone` if `change` (an id) is given. */
	readonly read: (options?: ReadOptions) => Promise<Snapshot>;
	/** Reads one queue entry, for a heartbeat. Undefined if the entry is missing or cannot be read alone. */
	readonly readEntry: (id: string) => Promise<EntryRecord | undefined>;
	readonly commit: (plan: Plan) => Promise<CommitOutcome>;
	/** Reads the records of detached jobs atomically. Reads all records if no numbers are given. */
	readonly readJobs: (numbers?: readonly number[]) => Promise<JobList>;
	/** Resolves once the listener is registered, with a function that removes it. A caller that reads the pool after that misses no later change. */
	readonly subscribe: (listener: StoreListener) => Promise<() => Promise<void>>;
	/** Streams the usage records with an end time in [fromTime, toTime], oldest first. Skips invalid records. */
	readonly history: (fromTime: number, toTime: number) => UsageHistory;
	/** Returns valid records, oldest first. The store keeps about 10,000. Rejects with `store-refused` if it keeps no log (Redis 4, no permission). */
	readonly audit: (query?: AuditQuery) => Promise<readonly AuditEntry[]>;
	/** Imports the history of an older version, and returns the number of records. Imports each record once, even if interrupted and repeated. */
	readonly takeOverHistory?: () => Promise<number>;
	readonly inspect?: () => Promise<StoreCondition>;
	readonly scans: ScanBoard;
	readonly loads: LoadHistory;
	readonly close: () => Promise<void>;
};

export type GpuProvider = {
	readonly name: ProviderName;
	readonly simulated: boolean;
	/** Returns the number of GPUs. Rejects with `provider` if the number is unknown. */
	readonly count: () => Promise<number>;
	/** Scans the GPUs. Never rejects: a failed scan has a `failure`. Two scans never run at the same time. */
	readonly observe: () => Promise<Observation>;
	/** Returns the links between the GPUs, or undefined if they are unknown. Called only on demand. Never rejects. */
	readonly readLinks?: () => Promise<GpuLinks | undefined>;
	readonly close?: () => Promise<void>;
};

export type Account = {
	/** Looked up by uid in the user database, never from `$USER`. */
	readonly name: string;
	readonly uid: number;
	/**
	The outer uid and the number of the user namespace, such as `61002/4026532590`. Set only in a user namespace, where
	names and uids prove nothing.
	*/
	readonly userNamespace?: string;
	/** The account outside of the user namespace, if a lease proves it. See `provenAccount`. */
	readonly outsideName?: string | undefined;
};

/** CLOCK_MONOTONIC: unaffected by date changes, paused during suspend. Readings with the same `id` are comparable. */
type MonotonicClock = {
	/** Identifies the boot and the time namespace. */
	readonly id: string;
	readonly seconds: () => number | undefined;
};

export type Host = {
	readonly hostname: string;
	readonly machineId: string;
	readonly bootId: string | undefined;
	readonly monotonic: MonotonicClock;
	/** Seconds since boot, including time asleep. */
	readonly uptimeSeconds: () => number;
	readonly self: ProcessIdentity;
	readonly account: Account;
	/** Returns the groups in `names` to which this process belongs. May query a group database in the network. */
	readonly groupsAmong: (names: readonly string[]) => readonly string[];
	readonly liveness: (processes: readonly ProcessIdentity[]) => readonly Liveness[];
	/** Whether a process is alive and has the same uid as this account. Compares the uids outside of any user namespace. False if unknown. */
	readonly runsAsCaller: (process: ProcessIdentity) => boolean;
	/** Whether processes started by a dead process are still alive. */
	readonly orphansOf: (dead: ProcessIdentity) => 'alive' | 'dead' | 'unknown';
};

export type Clock = {
	readonly monotonicMs: () => number;
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	readonly random: () => number;
	readonly uuid: () => string;
};

export type World = {
	readonly store: Store;
	readonly gpus: GpuProvider;
	readonly host: Host;
	readonly clock: Clock;
	/** Memory use in MiB above which a GPU without a lease counts as used without a reservation. */
	readonly memoryThresholdMiB: number;
};
