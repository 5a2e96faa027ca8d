import {CanhazgpuError} from '../../errors.js';
import type {HeldLeases} from '../held-leases.js';

/** Returns the leases that a call is about: the named lease, or all leases that the connection holds. Throws `not-found` if there are none. */
export function meantIds(held: HeldLeases, leaseId: string | undefined): readonly string[] {
	const ids = leaseId === undefined ? held.ids() : [leaseId];
	if (ids.length === 0) {
		throw new CanhazgpuError('not-found', 'This connection holds no reservation', {
			hint: 'To change another reservation of your account, give its lease_id from gpu_status.',
		});
	}

	return ids;
}
