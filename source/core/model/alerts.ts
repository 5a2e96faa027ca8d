import type {HealthProblem} from './observation.js';

export const alertKinds = ['unreserved', 'squatter', 'health'] as const;

/** A condition that a scan found and that still holds. */
export type Alert = {
	readonly kind: (typeof alertKinds)[number];
	readonly gpu: number;
	readonly account?: string;
	readonly owner?: string;
	readonly problem?: HealthProblem['kind'];
	readonly since: number;
};

/** The least memory in use that was seen on an unused GPU: the driver's own memory. */
export type MemoryBaseline = {
	readonly memoryMiB: number;
	/** The UUID of the GPU. A replaced GPU has another baseline. */
	readonly uuid?: string;
	/** The boot of the machine. Another driver may use more memory. */
	readonly bootId?: string;
};

/** A share that uses, or recently used, more of a GPU's memory than it reserved. */
export type Overuse = {
	readonly gpu: number;
	readonly leaseId: string;
	readonly since: number;
	/** Store time of the last scan that counted. */
	readonly countedAt: number;
	/** How many consecutive scans saw the overuse. After it is recorded: how many saw that it ended. */
	readonly scans: number;
	readonly usedMiB: number;
	readonly isRecorded: boolean;
	readonly isReminded: boolean;
};

/** A loss of the store's newest commits, repaired by a process that had read them. Times are on the store's clock. */
export type DataLoss = {
	readonly restoredAt: number;
	/** When the restored data was read. Later changes are lost. */
	readonly readAt: number;
};
