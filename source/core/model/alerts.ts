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

/** A store came back without the newest commits, and somebody who had read it put back what they knew. Times are on the store's clock. */
export type DataLoss = {
	/** When it was put back. */
	readonly restoredAt: number;
	/** When that was read: of what was changed later nobody knows. */
	readonly readAt: number;
};
