/** The keys in Redis. Keys with a comment "Ours" are only used by this program. The Go program uses all other keys, too. */
export const keys = {
	gpuCount: 'canhazgpu:gpu_count',
	provider: 'canhazgpu:provider',
	/** Ours: the machine of the pool. */
	machine: 'canhazgpu:machine',
	queue: 'canhazgpu:queue',
	history: 'canhazgpu:usage_history_sorted',
	/** Ours: the drained GPUs. */
	drains: 'canhazgpu:drain',
	/** Ours: active alerts. */
	alerts: 'canhazgpu:notices',
	/** Ours: the policy. */
	policy: 'canhazgpu:policy',
	/** Ours: the number of commits, which shows readers that commits were lost. */
	revision: 'canhazgpu:revision',
	/**
	Ours: when each user last used each GPU, as a hash computed from the history. The field `user LABEL` contains `GPU END_SECONDS` for each GPU. The field
	`count` is the number of usage records when the hash was written. The hash is complete for leases that ended after `since`.
	*/
	lastUse: 'canhazgpu:last_use',
	/** Ours: the audit log, a stream. */
	auditLog: 'canhazgpu:trail',
	/** Ours: the numbers of detached jobs that have records, and the next number. */
	jobs: 'canhazgpu:jobs',
	/** The Go program's lock for grants. */
	allocationLock: 'canhazgpu:allocation_lock',
	/** Ours: set when the Go program's old history is copied completely. */
	oldHistoryMoved: 'canhazgpu:old_history_moved',
	/** Ours: the viewer that scans for all viewers, as `INTERVAL_MS OWNER`. Expires after a few seconds. */
	scanner: 'canhazgpu:scanner',
	/** Ours: the last shared scan, as `SECONDS JSON`. */
	scan: 'canhazgpu:scan',
	/** A key that is never written. For commands that must change nothing. */
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
