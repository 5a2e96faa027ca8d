/** The keys in Redis. Keys with a comment "Ours" are only used by this program. All other keys are shared with the Go program. */
export const keys = {
	gpuCount: 'canhazgpu:gpu_count',
	provider: 'canhazgpu:provider',
	/** Not used by the Go program: the machine that the pool belongs to. */
	machine: 'canhazgpu:machine',
	queue: 'canhazgpu:queue',
	history: 'canhazgpu:usage_history_sorted',
	/** Not used by the Go program: drained GPUs. */
	drains: 'canhazgpu:drain',
	/** Ours: active alerts. */
	alerts: 'canhazgpu:notices',
	/** Ours: the policy. */
	policy: 'canhazgpu:policy',
	/** Ours: the number of commits, from which readers detect that commits were lost. */
	revision: 'canhazgpu:revision',
	/**
	Ours: when each user last used each GPU, as a hash that is made from the history. The field `user LABEL` contains `GPU END_SECONDS` for each GPU.
	The field `count` has the number of records in the history when the hash was written. The hash is complete for leases that ended after `since`.
	*/
	lastUse: 'canhazgpu:last_use',
	/** Ours: the audit log, a stream. */
	auditLog: 'canhazgpu:trail',
	/** Ours: which numbers of detached jobs have records, and the next number. */
	jobs: 'canhazgpu:jobs',
	/** The Go program's lock while it grants GPUs. */
	allocationLock: 'canhazgpu:allocation_lock',
	/** Ours: set when the Go program's old history is copied completely. */
	oldHistoryMoved: 'canhazgpu:old_history_moved',
	/** Ours: the viewer that scans for all viewers, as `INTERVAL_MS OWNER`. Expires after a few seconds. */
	scanner: 'canhazgpu:scanner',
	/** Ours: the last shared scan, as `SECONDS JSON`. */
	scan: 'canhazgpu:scan',
	/** Never written. Commands that must change nothing use this key. */
	nothing: 'canhazgpu:nothing',
} as const;

/** Ours: the channel on which changes of the pool are published. */
export const eventChannel = 'canhazgpu:events';

/** Ours: the channel on which scans are published. It is separate, so that no process reads the pool after a scan. */
export const scanChannel = 'canhazgpu:scans';

export const gpuKeyPrefix = 'canhazgpu:gpu:';
export const entryKeyPrefix = 'canhazgpu:queue:entry:';

/** Ours: the executed attempt of a change. Expires after an hour. */
export const changeKeyPrefix = 'canhazgpu:change:';

/** Ours: the records of detached jobs. */
export const jobKeyPrefix = 'canhazgpu:job:';

/** Ours: the load of the GPUs, one text for each hour since the epoch. The keys expire. */
export const loadKeyPrefix = 'canhazgpu:load:';
