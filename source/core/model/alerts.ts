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
	/** Whether the account was notified. */
	readonly isTold?: boolean;
};

/** The smallest memory use seen on a GPU while no reservation and no process used it. The driver itself needs this memory. */
export type MemoryBaseline = {
	readonly memoryMiB: number;
	/** The GPU on which the memory was read. A replaced GPU has another baseline. */
	readonly uuid?: string;
	/** Id of the boot during which the memory was read. A reboot can load another driver, which may need more memory. */
	readonly bootId?: string;
};

/** A share that uses, or recently used, more of a GPU's memory than it reserved. */
export type Overuse = {
	readonly gpu: number;
	readonly leaseId: string;
	readonly since: number;
	/** Store time of the last scan that changed `scans`. Scans in quick succession are skipped. */
	readonly countedAt: number;
	/** Number of consecutive scans that saw the overuse. Once the overuse is recorded, number of consecutive scans that did not see it. */
	readonly scans: number;
	readonly usedMiB: number;
	readonly isRecorded: boolean;
	readonly isReminded: boolean;
};

/** A note about a reservation that went back to the pool after a warning. Kept until the owner is notified. */
export type ReturnNote = {
	readonly account: string;
	readonly label?: string;
	readonly gpus: readonly number[];
	readonly leaseId: string;
	readonly reason: 'reclaimed' | 'beyond-limit';
	readonly endedAt: number;
	readonly note?: string;
};

/** A loss of the store's newest commits, after which a process restored the data from its last read. */
export type DataLoss = {
	readonly restoredAt: number;
	/** Store time of the read from which the data was restored. Later changes are lost. */
	readonly readAt: number;
};
