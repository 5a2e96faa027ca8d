import type {Host} from '../../model/ports.js';
import type {Lease, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';

/** Whether a process behind this lease runs as the caller's own account, by what the kernel of this machine says. */
function isOfCaller({machine, bootId, holder, job, actualUser}: Lease, host: Host): boolean {
	const isHere = machine === host.machineId && bootId !== undefined && bootId === host.bootId;
	// The name of an account in a user namespace has a colon, and proves nothing of the one outside.
	const isOutside = actualUser !== undefined && !actualUser.includes(':');
	return (
		isHere &&
		isOutside &&
		[holder, job].some(
			(process) => process?.startTicks !== undefined && process.namespace !== undefined && host.runsAsCaller(process),
		)
	);
}

/**
The account of a caller in a user namespace, such as an isolated job: names and uids mean nothing there, but the kernel tells that the
caller is the same account as a process that holds a lease, and the lease tells whose that is.

@returns Undefined outside of a user namespace, and where no lease, or leases of several names, tell it.
*/
export function provenAccount({gpus}: Pick<Snapshot, 'gpus'>, host: Host): string | undefined {
	if (host.account.userNamespace === undefined) {
		return undefined;
	}

	const owners = new Set(holdingsIn(gpus).flatMap(({lease}) => (isOfCaller(lease, host) ? [lease.actualUser!] : [])));
	return owners.size === 1 ? [...owners][0] : undefined;
}
