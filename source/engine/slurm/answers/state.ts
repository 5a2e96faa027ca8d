import type {QueueAnswer} from './jobs.js';
import type {SlurmNode} from './nodes.js';

/** The whole cluster, as it was at one moment. */
export type ClusterState = {
	readonly nodes: readonly SlurmNode[];
	readonly queue: QueueAnswer;
	/** Seconds since the epoch, on the clock of this machine. */
	readonly now: number;
	/** On the monotonic clock of this process. */
	readonly readAtMs: number;
};
