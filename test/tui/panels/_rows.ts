/** Rows about GPUs, for tests of components. */
import type {Lease} from '../../../source/core/model/types.js';
import {labelOf, ownerOf} from '../../../source/core/rules/leases/ownership.js';
import type {ShareRow, StatusRow} from '../../../source/core/rules/pool/status.js';
import {sceneTime} from '../_world.js';

/** A free GPU. */
export const statusRow = (more: Partial<StatusRow> = {}): StatusRow => ({
	index: 0,
	state: 'available',
	use: {kind: 'idle'},
	processes: [],
	unreservedUsers: [],
	squatters: [],
	health: [],
	...more,
});

const factsOf = (lease: Lease) => ({
	lease,
	owner: ownerOf(lease),
	label: labelOf(lease),
	heldSeconds: sceneTime - lease.startTime,
	remainingSeconds: lease.expiryTime === undefined ? undefined : lease.expiryTime - sceneTime,
});

/** A GPU that a lease has. */
export const heldRow = (lease: Lease, more: Partial<StatusRow> = {}): StatusRow =>
	statusRow({state: 'in-use', ...factsOf(lease), ...more});

/** A part of a GPU that a lease has. */
export const shareRow = (lease: Lease, more: Partial<ShareRow> = {}): ShareRow => ({
	...factsOf(lease),
	memoryUsedMiB: 0,
	processes: [],
	...more,
});
