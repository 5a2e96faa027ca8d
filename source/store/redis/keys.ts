/** The keys in Redis. Those without a comment are shared with the Go program, and "ours" are not. */
export const keys = {
	gpuCount: 'canhazgpu:gpu_count',
	provider: 'canhazgpu:provider',
	/** Ours: the pool's machine. */
	machine: 'canhazgpu:machine',
	queue: 'canhazgpu:queue',
	history: 'canhazgpu:usage_history_sorted',
	/** Ours: drained GPUs. */
	drains: 'canhazgpu:drain',
	/** Ours: active alerts. */
	alerts: 'canhazgpu:notices',
	/** Ours: the policy. */
	policy: 'canhazgpu:policy',
	/** Ours: the number of commits, from which readers detect lost ones. */
	revision: 'canhazgpu:revision',
	/**
	Ours: when each user last used each GPU, a hash made from the history. `user LABEL` contains `GPU END_SECONDS` for each GPU, and `count` the
	number of records in the history at that time. Includes everything that ended after `since`, in seconds, but maybe not what ended before.
	*/
	lastUse: 'canhazgpu:last_use',
	/** Ours: the audit log, a stream. */
	auditLog: 'canhazgpu:trail',
	/** The Go program's lock while it grants GPUs. */
	allocationLock: 'canhazgpu:allocation_lock',
	/** Ours: set when the Go program's old history is copied completely. */
	oldHistoryMoved: 'canhazgpu:old_history_moved',
	/** Ours: the viewer that scans for all, `INTERVAL_MS OWNER`, for a few seconds. */
	scanner: 'canhazgpu:scanner',
	/** Ours: the last scan, `SECONDS JSON`. */
	scan: 'canhazgpu:scan',
	/** Never written: the target of commands that change nothing. */
	nothing: 'canhazgpu:nothing',
} as const;

/** Ours: the channel for changes. */
export const eventChannel = 'canhazgpu:events';

/** Ours: the channel for scans, separate so that nobody reads the pool after a scan. */
export const scanChannel = 'canhazgpu:scans';

export const gpuKeyPrefix = 'canhazgpu:gpu:';
export const entryKeyPrefix = 'canhazgpu:queue:entry:';

/** Ours: the executed attempt of a change, for an hour. */
export const changeKeyPrefix = 'canhazgpu:change:';

/** Ours: the load of the GPUs, one text for each hour since the epoch. The keys expire. */
export const loadKeyPrefix = 'canhazgpu:load:';
