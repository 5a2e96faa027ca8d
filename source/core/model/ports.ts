/** Interfaces between the core and the outside world. Adapters implement them, and only `app.ts` chooses the adapters. */
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
`conflict`: an expectation no longer holds, or another attempt of the change was carried out; nothing happened; read and plan again.
`locked`: the peer holds its allocation lock, nothing happened; try the same again in about 20 ms.
*/
export type CommitOutcome = 'done' | 'conflict' | 'locked';

export type ReadOptions = {
	readonly user?: string;
	readonly change?: string;
	/** The queue, which is most of a read where many wait, is left out: nothing may be judged by it. */
	readonly withoutQueue?: boolean;
};

export type StoreListener = {
	/** Something changed: a hint to read again. Undefined when the store can only say that, not what. */
	readonly changed: (event: PoolEvent | undefined) => void;
	/** The connection was lost; `reason` is for the user. Nothing is heard until `restored`. */
	readonly lost?: (reason: string) => void;
	/** Called when the store is back. Changes were missed, so everything must be read again. */
	readonly restored?: () => void;
	/** Tolerable delay of news in milliseconds, for a store that is polled. Called before each poll. Absent for no delay. */
	readonly tolerableDelayMs?: () => number;
};

/** The viewer that scans for all others. */
export type ScannerRole = {
	/** A new id for each viewer. */
	readonly owner: string;
	/** Milliseconds between scans. A viewer that scans more often may take over. */
	readonly intervalMs: number;
};

/** The newest scan that was posted. Anything may be in it: it is shown, and nothing is handed out on its word. */
export type PostedScan = {
	readonly text: string;
	/** When it was posted, on the store's clock: tells it from the one before. */
	readonly time: number;
	readonly ageSeconds: number;
};

/** Shares one viewer's readings with the others. Methods reject like those of {@link Store}. */
export type ScanBoard = {
	/** Takes the role for so many seconds, or keeps it. False while somebody else has it. */
	readonly claim: (role: ScannerRole, seconds: number) => Promise<boolean>;
	/** Gives the role up, if it is held. */
	readonly resign: (owner: string) => Promise<void>;
	/** Replaces the scan, at most {@link longestScan} characters of it. False when the role is somebody else's by now. */
	readonly post: (owner: string, text: string) => Promise<boolean>;
	readonly latest: () => Promise<PostedScan | undefined>;
	/** Resolves once listening; `posted` is a hint to read the board. Returns the way to stop. */
	readonly subscribe: (posted: () => void) => Promise<() => Promise<void>>;
};

/** Characters of a posted scan; no canhazgpu posts a longer one. */
export const longestScan = 2 ** 20;

/** Characters of the load history of one hour; no canhazgpu writes more. */
export const longestLoadHour = 2 ** 20;

/** Hours of load history, including the current one: a week and the rest of its first hour. */
export const loadHours = 7 * 24 + 1;

/**
Load history of the GPUs, as a text for each hour since the epoch. Any process can write it, so it is only displayed. Methods reject like
those of {@link Store}.
*/
export type LoadHistory = {
	/**
	Adds a line, which has no line break, to an hour, and forgets the hours that are older than {@link loadHours}. Nothing is added to an hour that is
	full.
	*/
	readonly append: (hour: number, line: string) => Promise<void>;
	/** The texts from one hour to another, by hour; at most {@link loadHours} of them. What is too long, or no text, is left out. */
	readonly read: (fromHour: number, toHour: number) => Promise<ReadonlyMap<number, string>>;
};

/** Diagnostics of a store. Undefined fields are unknown. */
export type StoreCondition = {
	/** Name and version, such as `Redis 7.2.4`. */
	readonly version?: string;
	/** Whether what was committed outlives a crash of the store. */
	readonly isDurable?: boolean;
	/** Whether it throws records away when it is full. */
	readonly evicts?: boolean;
	/** Description of damaged files. */
	readonly damage?: string;
};

/** Usage records one by one; or in pages, for a reader of a million of them. */
export type UsageHistory = AsyncIterable<UsageRecord> & {
	readonly pages: () => AsyncIterable<readonly UsageRecord[]>;
};

/**
Keeps the pool. Every method rejects with a CanhazgpuError: `store-unreachable` when the store cannot be reached (a
commit that rejects so may or may not have happened, and may happen yet: read and ask about its change), `store-refused` when it answers with
a refusal such as out of memory or read-only, `pool-garbage` when the pool's own keys make no sense.
*/
export type Store = {
	readonly kind: 'redis' | 'embedded' | 'memory' | 'slurm';
	/** Location for people, such as `redis localhost:6379/0` or a path. Never contains a password. */
	readonly location: string;
	/** Command for manual access, such as `redis-cli -p 7000` or `sqlite3 FILE`. */
	readonly shell: string;
	/** Reads everything atomically. With `user` (a label), `lastUsed` is filled in; with `change` (an id), `attemptDone`. */
	readonly read: (options?: ReadOptions) => Promise<Snapshot>;
	/** Reads one queue entry, for a heartbeat. Undefined if it is missing or cannot be read alone. */
	readonly readEntry: (id: string) => Promise<EntryRecord | undefined>;
	readonly commit: (plan: Plan) => Promise<CommitOutcome>;
	/** Resolves once listening, so that nothing after a following read is missed. Returns the way to stop. */
	readonly subscribe: (listener: StoreListener) => Promise<() => Promise<void>>;
	/** Usage records whose end lies in [fromTime, toTime], oldest first, streamed. Records that do not parse are skipped. */
	readonly history: (fromTime: number, toTime: number) => UsageHistory;
	/**
	The audit log, oldest first. It holds about the newest 10,000 records; those that do not parse are skipped. Rejects with
	`store-refused` where the store keeps none: a Redis before 5, or an account that may not.
	*/
	readonly audit: (query?: AuditQuery) => Promise<readonly AuditEntry[]>;
	/**
	Takes what an older version kept elsewhere into the history, once, and tells how many records that were. It may be stopped at any
	point and begun again. Absent where there is no older version.
	*/
	readonly takeOverHistory?: () => Promise<number>;
	/** Returns diagnostics for `doctor`, if there are any. */
	readonly inspect?: () => Promise<StoreCondition>;
	readonly scans: ScanBoard;
	readonly loads: LoadHistory;
	readonly close: () => Promise<void>;
};

export type GpuProvider = {
	readonly name: ProviderName;
	readonly simulated: boolean;
	/** Returns the number of GPUs. Rejects with `provider` if it is unknown. */
	readonly count: () => Promise<number>;
	/** Never rejects and never runs twice at once: a failed scan is an Observation with `failure`. */
	readonly observe: () => Promise<Observation>;
	/** Returns the links between the GPUs. Called only if a request depends on them. Never rejects; resolves to undefined if the links are unknown. */
	readonly readLinks?: () => Promise<GpuLinks | undefined>;
	/** Stops whatever it keeps running. */
	readonly close?: () => Promise<void>;
};

/** The OS account that runs us. */
export type Account = {
	/** From the user database by uid, never from `$USER`. */
	readonly name: string;
	readonly uid: number;
	/**
	Set in a user namespace, where anybody may have any name and any uid: the uid outside and the number of the namespace, such as
	`61002/4026532590`. Undefined: the machine itself vouches for the account.
	*/
	readonly userNamespace?: string;
	/** Set in a user namespace where it is proved which account this is outside: see `provenAccount`. */
	readonly outsideName?: string | undefined;
};

/**
CLOCK_MONOTONIC: no step of the date moves it, and it stands still while the machine is suspended. Readings of different processes can be
compared where `id` is the same.
*/
type MonotonicClock = {
	/** Names the boot and the time namespace. */
	readonly id: string;
	/** Undefined where the system does not tell it. */
	readonly seconds: () => number | undefined;
};

/** This machine and its processes. */
export type Host = {
	readonly hostname: string;
	readonly machineId: string;
	/** Undefined where the system does not tell it. */
	readonly bootId: string | undefined;
	readonly monotonic: MonotonicClock;
	/** Seconds since the machine was started, its sleep included. */
	readonly uptimeSeconds: () => number;
	/** This very process, for the leases it takes. */
	readonly self: ProcessIdentity;
	readonly account: Account;
	/** Returns one answer for each process, in order. */
	readonly liveness: (processes: readonly ProcessIdentity[]) => readonly Liveness[];
	/** Whether a process lives and runs as the account that runs us, whatever uids are called here. False where that is unknown. */
	readonly runsAsCaller: (process: ProcessIdentity) => boolean;
	/** Whether something lives that a process has started, which itself is dead. */
	readonly orphansOf: (dead: ProcessIdentity) => 'alive' | 'dead' | 'unknown';
};

export type Clock = {
	/** Milliseconds that only ever grow; for measuring, not for dates. */
	readonly monotonicMs: () => number;
	readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
	/** Returns a number in [0, 1). */
	readonly random: () => number;
	/** A new unique id for a lease or a queue entry. */
	readonly uuid: () => string;
};

/** Everything that operations of the core need. */
export type World = {
	readonly store: Store;
	readonly gpus: GpuProvider;
	readonly host: Host;
	readonly clock: Clock;
	/** GPUs with more memory in use than this, in MiB, and no lease, are in unreserved use. */
	readonly memoryThresholdMiB: number;
};
