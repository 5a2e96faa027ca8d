/** Which reservations and entries are those of the account that this page acts as. */
import type {Gpu} from '../fields.js';
import {personOf} from '../text.js';

/** A reservation on one GPU. */
export type OwnLease = {
	readonly gpu: number;
	readonly leaseId: string;
	/** All GPUs of the reservation, this one too. */
	readonly gpus: readonly number[];
	/** Whether it ends with its job, so that there is no end to move. */
	readonly isJob: boolean;
	readonly expiryTime: string | undefined;
	/** Whether another reservation of the account is on one of these GPUs, as shares and instances of MIG can be: their numbers name both. */
	readonly isAmongOwn: boolean;
};

const accountOf = (user: string | undefined): string | undefined => {
	const person = user === undefined ? undefined : personOf(user);
	return person?.account ?? person?.name;
};

type Held = Pick<Gpu, 'user' | 'lease_id' | 'reservation_type' | 'expiry_time' | 'held_for_queue'>;

/** The reservations on a GPU: one, or those of its shares. */
const heldOn = (gpu: Gpu): readonly Held[] => [gpu, ...(gpu.shares ?? [])];

const leaseOf = (held: Held, account: string): string | undefined =>
	held.held_for_queue === undefined && accountOf(held.user) === account ? held.lease_id : undefined;

/** The account's own reservation on this GPU. Undefined also for one that the Go program made, which has no id to act on. */
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
		isAmongOwn: all
			.flatMap((other) => heldOn(other).map((each) => leaseOf(each, account)))
			.some((other) => other !== undefined && other !== leaseId),
	};
}
