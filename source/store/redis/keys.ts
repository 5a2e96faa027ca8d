/**
The keys in Redis. Those without a comment are shared with the Go peer.
*/
export const keys = {
	gpuCount: 'canhazgpu:gpu_count',
	provider: 'canhazgpu:provider',
	/** Ours: which machine the pool belongs to. */
	machine: 'canhazgpu:machine',
	queue: 'canhazgpu:queue',
	history: 'canhazgpu:usage_history_sorted',
	/** Ours: GPUs out of service. */
	drains: 'canhazgpu:drain',
	/** Ours: the alerts that stand. */
	alerts: 'canhazgpu:notices',
	/** Ours: what an administrator has set for everybody. */
	policy: 'canhazgpu:policy',
	/** Ours: how many commits there were, by which a reader sees that some were lost. */
	revision: 'canhazgpu:revision',
	/**
	Ours: when each user last used each GPU, a hash that is made from the history. `user LABEL` holds `GPU END_SECONDS` for each GPU, `count`
	how many records the history had then. What ended after `since`, in seconds, is in it; what ended before may not be.
	*/
	lastUse: 'canhazgpu:last_use',
	/** Ours: the audit log, a stream. */
	auditLog: 'canhazgpu:trail',
	/** The peer's: held while it hands out GPUs. */
	allocationLock: 'canhazgpu:allocation_lock',
	/** Ours: set when nothing is left of the history that the peer kept at first. */
	oldHistoryMoved: 'canhazgpu:old_history_moved',
	/** Ours: who scans for everybody, `INTERVAL_MS OWNER`, for a few seconds. */
	scanner: 'canhazgpu:scanner',
	/** Ours: the last scan, `SECONDS JSON`. */
	scan: 'canhazgpu:scan',
	/** Never written: commands that change nothing are aimed at it. */
	nothing: 'canhazgpu:nothing',
} as const;

/** Ours: where changes are announced. */
export const eventChannel = 'canhazgpu:events';

/** Ours: where a new scan is announced, apart from the changes of the pool, so that no one reads that for it. */
export const scanChannel = 'canhazgpu:scans';

export const gpuKeyPrefix = 'canhazgpu:gpu:';
export const entryKeyPrefix = 'canhazgpu:queue:entry:';

/** Ours: which attempt of a change was carried out, for an hour. */
export const changeKeyPrefix = 'canhazgpu:change:';

/** Ours: how busy the GPUs were, a text for each hour since the epoch. They end by themselves. */
export const loadKeyPrefix = 'canhazgpu:load:';
