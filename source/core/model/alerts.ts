/** What a scan or a loss of data leaves behind for everybody to see. */
import type {HealthProblem} from './observation.js';

/** Something that a scan showed and that still stands. */
export type Alert = {
	readonly kind: 'unreserved' | 'squatter' | 'health';
	readonly gpu: number;
	/** The account that uses the GPU. Absent when it is unknown. */
	readonly account?: string;
	/** The account that holds the GPU. */
	readonly owner?: string;
	readonly problem?: HealthProblem['kind'];
	/** When it was told, on the store's clock. */
	readonly since: number;
};

/** The least memory that was seen in use on a GPU while nothing ran there: what the driver keeps for itself. */
export type MemoryBaseline = {
	readonly memoryMiB: number;
	/** Of the GPU. Another GPU has another baseline. */
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
	/** How many scans in a row said that it is so; once it is told, how many in a row that it is over. */
	readonly scans: number;
	/** How much it used at the last scan that said that it is so. */
	readonly usedMiB: number;
	/** The audit log tells of it. */
	readonly isRecorded: boolean;
	/** Its owner was told. */
	readonly isReminded: boolean;
};

/** A store came back without the newest commits, and somebody who had read it put back what they knew. Times are on the store's clock. */
export type DataLoss = {
	/** When it was put back. */
	readonly restoredAt: number;
	/** When that was read: of what was changed later nobody knows. */
	readonly readAt: number;
};
