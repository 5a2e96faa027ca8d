import type {Gpu} from '../fields.js';
import {personOf} from '../text.js';

export type OwnLease = {
	readonly gpu: number;
	readonly leaseId: string;
	/** All GPUs of the reservation, including the GPU that is shown. */
	readonly gpus: readonly number[];
	/** Whether the reservation ends with its job. Such a reservation cannot be extended. */
	readonly isJob: boolean;
	readonly expiryTime: string | undefined;
	/** Whether the reservation is idle and goes back to the pool unless the user keeps it. False beyond the limit, where keeping has no effect. */
	readonly goesBack: boolean;
	/** Whether the account has another reservation on one of these GPUs, which is possible with shares and MIG instances. */
	readonly isAmongOwn: boolean;
};

const accountOf = (user: string | undefined): string | undefined => {
	const person = user === undefined ? undefined : personOf(user);
	return person?.account ?? person?.name;
};

type Held = Pick<Gpu, 'user' | 'lease_id' | 'reservation_type' | 'expiry_time' | 'held_for_queue'>;

const heldOn = (gpu: Gpu): readonly Held[] => [gpu, ...(gpu.shares ?? [])];

const leaseOf = (held: Held, account: string): string | undefined =>
	held.held_for_queue === undefined && accountOf(held.user) === account ? held.lease_id : undefined;

/** Returns the account's own reservation on a GPU. Returns undefined for a reservation of the Go program, because it has no id. */
export function ownLeaseOn(gpu: Gpu, gpus: readonly Gpu[], account: string): OwnLease | undefined {
	const held = heldOn(gpu).find((each) => leaseOf(each, account) !== undefined);
	const leaseId = held?.lease_id;
	if (held === undefined || leaseId === undefined) {
		return undefined;
	}

	const all = gpus.filter((other) => heldOn(other).some((each) => each.lease_id === leaseId));
	return {
		gpu: gpu.gpu_id,
		leaseId,
		gpus: all.map((other) => other.gpu_id),
		isJob: held.expiry_time === undefined,
		expiryTime: held.expiry_time,
		goesBack: gpu.reclaim_at !== undefined && gpu.beyond_limit !== true,
		isAmongOwn: all
			.flatMap((other) => heldOn(other).map((each) => leaseOf(each, account)))
			.some((other) => other !== undefined && other !== leaseId),
	};
}
