/** The keys in Redis. The Go program knows only gpuCount, provider, queue, history, the GPU and entry keys, and allocationLock, its lock. */
export const keys = {
	gpuCount: 'canhazgpu:gpu_count',
	provider: 'canhazgpu:provider',
	machine: 'canhazgpu:machine',
	queue: 'canhazgpu:queue',
	history: 'canhazgpu:usage_history_sorted',
	drains: 'canhazgpu:drain',
	alerts: 'canhazgpu:notices',
	policy: 'canhazgpu:policy',
	/** The number of commits, from which readers notice that commits were lost. */
	revision: 'canhazgpu:revision',
	/**
	When each user last used each GPU, as a hash computed from the history. The field `user LABEL` contains `GPU END_SECONDS` for each GPU. The field
	`count` is the number of usage records when the hash was written. The hash is complete for leases that ended after `since`.
	*/
	lastUse: 'canhazgpu:last_use',
	auditLog: 'canhazgpu:trail',
	/** The numbers of detached jobs that have records, and the next number. */
	jobs: 'canhazgpu:jobs',
	allocationLock: 'canhazgpu:allocation_lock',
	/** Set when the Go program's old history is copied completely. */
	oldHistoryMoved: 'canhazgpu:old_history_moved',
	/** The viewer that scans for all viewers, as `INTERVAL_MS OWNER`. Expires after a few seconds. */
	scanner: 'canhazgpu:scanner',
	/** The last shared scan, as `SECONDS JSON`. */
	scan: 'canhazgpu:scan',
	/** Never written. For commands that must change nothing. */
	nothing: 'canhazgpu:nothing',
} as const;

export const eventChannel = 'canhazgpu:events';

/** The channel for scans. On {@link eventChannel}, each message would make all listeners read the pool. */
export const scanChannel = 'canhazgpu:scans';

export const gpuKeyPrefix = 'canhazgpu:gpu:';
export const entryKeyPrefix = 'canhazgpu:queue:entry:';

/** The executed attempt of a change. Expires after an hour. */
export const changeKeyPrefix = 'canhazgpu:change:';

export const jobKeyPrefix = 'canhazgpu:job:';

/** The load of the GPUs, one text for each hour since the epoch. The keys expire. */
export const loadKeyPrefix = 'canhazgpu:load:';
