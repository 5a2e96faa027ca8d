/** What is worth telling once, and not at every scan. */
import type {HealthProblem} from './observation.js';

/** Something that a scan showed and that still stands. */
export type Notice = {
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
