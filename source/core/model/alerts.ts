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

/** A store came back without the newest commits, and somebody who had read it put back what they knew. Times are on the store's clock. */
export type DataLoss = {
	/** When it was put back. */
	readonly restoredAt: number;
	/** When that was read: of what was changed later nobody knows. */
	readonly readAt: number;
};
