/** Whose a lease is. The OS account decides; a label never does. */
import type {Account, Host} from '../../model/ports.js';
import type {Lease, QueueEntry, Requester, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';

/**
The name that counts for an account. In a user namespace it names that namespace too, by a colon that no account's own name can have: so it
is never the name of an account outside, nor of one in another namespace. Where it is proved who that is outside, the name outside counts.
*/
export const accountName = ({name, userNamespace, outsideName}: Account): string =>
	outsideName ?? (userNamespace === undefined ? name : `${name}@userns:${userNamespace}`);

/** Who asks, under the account's own name unless there is a label. */
export const requesterOf = (account: Account, label?: string): Requester => {
	const {uid, userNamespace, outsideName} = account;
	const name = accountName(account);
	return {account: name, uid, userNamespace, outsideName, label: label ?? name};
};

/** True for root, who may change what is anybody's. The uid 0 of a user namespace is the account that made the namespace. */
export const isRoot = ({uid, userNamespace}: Pick<Requester, 'uid' | 'userNamespace'>): boolean =>
	uid === 0 && userNamespace === undefined;

/** The user namespace of a process that sees no /proc: neither its uid outside nor the number of the namespace is known. */
const unreadableNamespace = '?/?';

/** Why it is unknown who asks, and what to do then. Undefined when it is known. */
export const doubtAbout = ({
	userNamespace,
	outsideName,
}: Pick<Requester, 'userNamespace' | 'outsideName'>): string | undefined =>
	userNamespace === undefined || outsideName !== undefined
		? undefined
		: userNamespace === unreadableNamespace
			? 'Without /proc it is unknown which account asks. Mount it: mount -t proc proc /proc'
			: 'In a user namespace (a rootless container, unshare) it cannot be told which account asks: run it outside.';

/** The account that owns it. Records without one were written before accounts were kept: their label was the account. */
export const ownerOf = (held: Lease | QueueEntry): string => held.actualUser ?? held.user;

/** The label it bears, when that is not simply the account. */
export const labelOf = (held: Lease | QueueEntry): string | undefined =>
	held.user === ownerOf(held) ? undefined : held.user;

/**
Whether two records tell of one lease. The peer's bear no id, and what the peer rewrites loses its own: then whose it is, and since when, must
do. Of several instances of one grant each is a lease of its own.
*/
export const isSameLease = (a: Lease, b: Lease): boolean =>
	a.mig?.uuid === b.mig?.uuid &&
	(a.leaseId === undefined || b.leaseId === undefined
		? a.user === b.user && a.type === b.type && Math.floor(a.startTime) === Math.floor(b.startTime)
		: a.leaseId === b.leaseId);

/** True when the account holds it itself. */
export const owns = (requester: Requester, held: Lease | QueueEntry): boolean => ownerOf(held) === requester.account;

/** True when the account may change it: its own, or anybody's for root. */
export const mayChange = (requester: Requester, held: Lease | QueueEntry): boolean =>
	owns(requester, held) || isRoot(requester);

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
