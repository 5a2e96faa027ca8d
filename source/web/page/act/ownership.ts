import type {Gpu} from '../fields.js';
import {isolated, noteWords, personOf, sharePart} from '../text.js';

export type OwnLease = {
	readonly gpu: number;
	readonly leaseId: string;
	/** All GPUs of the reservation, including the GPU that is shown. */
	readonly gpus: readonly number[];
	/** The size of the share or the MIG instances on the shown GPU, and the note, such as `8G, train`. Empty for a whole GPU. */
	readonly part: string;
	/** The same text for all GPUs of the reservation. */
	readonly parts: string;
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

/** Returns the size of the shares, or the names of the MIG instances, that a reservation has on the GPUs, and its note. */
function partsOn(gpus: readonly Gpu[], leaseId: string): string {
	const own = gpus.flatMap(({gpu_id: gpu, shares = []}) =>
		shares.filter((share) => share.lease_id === leaseId).map((share) => ({gpu, share})),
	);
	const note = own[0] && noteWords(own[0].share);
	const words = [...own.map(({gpu, share}) => sharePart(share, gpu)), note === undefined ? '' : isolated(note)];
	return [...new Set(words)].filter((word) => word !== '').join(', ');
}

function ownLease(held: Held, gpu: Gpu, gpus: readonly Gpu[], account: string): OwnLease | undefined {
	const leaseId = leaseOf(held, account);
	if (leaseId === undefined) {
		return undefined;
	}

	const all = gpus.filter((other) => heldOn(other).some((each) => each.lease_id === leaseId));
	return {
		gpu: gpu.gpu_id,
		leaseId,
		gpus: all.map((other) => other.gpu_id),
		part: partsOn([gpu], leaseId),
		parts: partsOn(all, leaseId),
		isJob: held.expiry_time === undefined,
		expiryTime: held.expiry_time,
		goesBack: gpu.reclaim_at !== undefined && gpu.beyond_limit !== true,
		isAmongOwn: all
			.flatMap((other) => heldOn(other).map((each) => leaseOf(each, account)))
			.some((other) => other !== undefined && other !== leaseId),
	};
}

/** Returns the account's own reservations on a GPU: several only with shares and MIG instances. Omits reservations of the Go program, because they have no id. */
export function ownLeasesOn(gpu: Gpu, gpus: readonly Gpu[], account: string): readonly OwnLease[] {
	const leases = heldOn(gpu).flatMap((held) => ownLease(held, gpu, gpus, account) ?? []);
	// A reservation with several instances of the GPU is listed once.
	return new Map(leases.map((lease) => [lease.leaseId, lease])).values().toArray();
}
