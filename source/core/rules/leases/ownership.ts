import type {Account, Host} from '../../model/ports.js';
import type {Lease, QueueEntry, Requester, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';

/** Returns an account's name for records. In a user namespace, a colon and the namespace follow, unless the outer account is proven. */
export const accountName = ({name, userNamespace, outsideName}: Account): string =>
	outsideName ?? (userNamespace === undefined ? name : `${name}@userns:${userNamespace}`);

export const requesterOf = (account: Account, label?: string): Requester => {
	const {uid, userNamespace, outsideName} = account;
	const name = accountName(account);
	return {account: name, uid, userNamespace, outsideName, label: label ?? name};
};

/** Returns whether the requester is root. Uid 0 of a user namespace is the account that created the namespace. */
export const isRoot = ({uid, userNamespace}: Pick<Requester, 'uid' | 'userNamespace'>): boolean =>
	uid === 0 && userNamespace === undefined;

/** The text for a user namespace without a readable /proc. Neither the outer uid nor the number of such a namespace is known. */
const unreadableNamespace = '?/?';

/** Returns why the requester's account is uncertain, and what to do. Undefined for a known account. */
export const doubtAbout = ({
	userNamespace,
	outsideName,
}: Pick<Requester, 'userNamespace' | 'outsideName'>): string | undefined =>
	userNamespace === undefined || outsideName !== undefined
		? undefined
		: userNamespace === unreadableNamespace
			? 'Without /proc, the account of this command is unknown. Mount it: mount -t proc proc /proc'
			: 'In a user namespace (a rootless container, unshare) the account cannot be verified: run the command outside.';

/** Returns the account that owns a lease or entry. Old records have no account, and their label is the account. */
export const ownerOf = (held: Lease | QueueEntry): string => held.actualUser ?? held.user;

export const labelOf = (held: Lease | QueueEntry): string | undefined =>
	held.user === ownerOf(held) ? undefined : held.user;

/** Returns whether two records describe the same lease. Owner and start are compared, because records of the Go program have no id. */
export const isSameLease = (a: Lease, b: Lease): boolean =>
	a.mig?.uuid === b.mig?.uuid &&
	(a.leaseId === undefined || b.leaseId === undefined
		? a.user === b.user && a.type === b.type && Math.floor(a.startTime) === Math.floor(b.startTime)
		: a.leaseId === b.leaseId);

export const owns = (requester: Requester, held: Lease | QueueEntry): boolean => ownerOf(held) === requester.account;

export const mayChange = (requester: Requester, held: Lease | QueueEntry): boolean =>
	owns(requester, held) || isRoot(requester);

/** Returns whether the kernel shows that a process of this lease belongs to the caller's account. */
function isOfCaller({machine, bootId, holder, job, actualUser}: Lease, host: Host): boolean {
	const isHere = machine === host.machineId && bootId !== undefined && bootId === host.bootId;
	// A name with a colon belongs to an account in a user namespace. It proves nothing about the account outside.
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
Returns the outer account of a caller in a user namespace, such as an isolated job. The kernel shows that the caller has the same account as a
process of a lease, and the lease names the account. Undefined outside of a user namespace, or if the leases name no account or several.
*/
export function provenAccount({gpus}: Pick<Snapshot, 'gpus'>, host: Host): string | undefined {
	if (host.account.userNamespace === undefined) {
		return undefined;
	}

	const owners = new Set(holdingsIn(gpus).flatMap(({lease}) => (isOfCaller(lease, host) ? [lease.actualUser!] : [])));
	return owners.size === 1 ? [...owners][0] : undefined;
}
