/** Findings of a scan, or of a loss of data, that are stored for all faces. */
import type {HealthProblem} from './observation.js';

export const alertKinds = ['unreserved', 'squatter', 'health'] as const;

/** Something that a scan showed and that still stands. */
export type Alert = {
	readonly kind: (typeof alertKinds)[number];
	readonly gpu: number;
	/** The account that uses the GPU. Absent when it is unknown. */
	readonly account?: string;
	/** The account that holds the GPU. */
	readonly owner?: string;
	readonly problem?: HealthProblem['kind'];
	/** When the alert was raised, on the store's clock. */
	readonly since: number;
};

/** The least memory that was seen in use on a GPU while nothing ran there: what the driver keeps for itself. */
export type MemoryBaseline = {
	readonly memoryMiB: number;
	/** UUID of the GPU. A replaced GPU gets a new baseline. */
	readonly uuid?: string;
	/** The boot of the machine in which it was seen: another driver may keep more. */
	readonly bootId?: string;
};

/** A share that uses more of a GPU's memory than it asked for, or did so a moment ago. */
export type Overuse = {
	readonly gpu: number;
	readonly leaseId: string;
	/** When the first scan saw it, on the store's clock. */
	readonly since: number;
	/** The last scan that counted, on the store's clock. */
	readonly countedAt: number;
	/** Consecutive scans that saw it. Once it is in the audit log: consecutive scans that no longer saw it. */
	readonly scans: number;
	/** Memory in use at the last scan that saw it. */
	readonly usedMiB: number;
	/** Whether it is in the audit log. */
	readonly isRecorded: boolean;
	/** Whether its owner was reminded. */
	readonly isReminded: boolean;
};

/** A store came back without the newest commits, and somebody who had read it put back what they knew. Times are on the store's clock. */
export type DataLoss = {
	/** When it was put back. */
	readonly restoredAt: number;
	/** When that was read: of what was changed later no one knows. */
	readonly readAt: number;
};
