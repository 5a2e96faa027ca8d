import type {RemoteGpu} from './remote-gpu.js';

/** What another host says of itself. */
export type HostStatus = {
	readonly gpus: readonly RemoteGpu[];
	/** The account that it knows us by. Undefined: it does not tell. */
	readonly account?: string | undefined;
	/** How many wait there. Undefined: it does not tell. */
	readonly waitingCount?: number | undefined;
	/** What keeps its values from being as fresh as those of others, such as an older version. */
	readonly remark?: string | undefined;
};
