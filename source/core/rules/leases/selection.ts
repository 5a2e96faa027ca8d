import {checkIds} from '../request/request.js';
import type {InstanceName, Lease, Requester, Snapshot} from '../../model/types.js';
import {holdingsIn, type HeldPart, type Holding} from './holdings.js';
import {isRoot, isSameLease, labelOf, mayChange, owns} from './ownership.js';

/** The leases that a command affects. Interfaces that show rows select by lease, so that a newer lease in the same row is never affected. */
export type Selection =
	/** Manual leases with this label. If the label is the requester's account, manual leases without a label. */
	| {readonly by: 'label'; readonly label: string}
	| {
			readonly by: 'gpus';
			readonly ids: readonly number[];
			/** MIG instances, by their names at the time of the grant. */
			readonly instances?: readonly InstanceName[];
			readonly label?: string;
	  }
	| {readonly by: 'lease'; readonly leaseId: string; readonly ids?: readonly number[]}
	/** Specific leases, each on the GPU where it was shown. */
	| {readonly by: 'leases'; readonly leases: readonly HeldPart[]};

type Selected = {
	readonly records: readonly Holding[];
	readonly notYours: readonly HeldPart[];
};

function bearsLabel(lease: Lease, requester: Requester, label: string): boolean {
	// The requester's own account selects leases without a label. For root, these would be leases of all accounts, so `root` is an ordinary label.
	return label === requester.account && !isRoot(requester) ? labelOf(lease) === undefined : lease.user === label;
}

const isNamedInstance = (names: readonly InstanceName[] | undefined, index: number, {mig}: Lease): boolean =>
	mig !== undefined && names?.some(({gpu, number}) => gpu === index && number === mig.number) === true;

function isNamed({index, lease}: Holding, selection: Exclude<Selection, {by: 'label'}>): boolean {
	switch (selection.by) {
		case 'gpus': {
			return selection.ids.includes(index) || isNamedInstance(selection.instances, index, lease);
		}

		case 'lease': {
			return lease.leaseId === selection.leaseId && (selection.ids?.includes(index) ?? true);
		}

		case 'leases': {
			return selection.leases.some((held) => held.index === index && isSameLease(held.lease, lease));
		}
	}
}

/** Selects leases from a snapshot. `isOver` returns whether a lease counts as ended. Throws `impossible` for an unknown GPU id. */
export function select(
	snapshot: Snapshot,
	requester: Requester,
	selection: Selection,
	isOver: (lease: Lease) => boolean = () => false,
): Selected {
	// GPUs held by a waiting request belong to its queue entry, so they are not selected.
	const leased = holdingsIn(snapshot.gpus).filter(({lease}) => lease.partialQueueId === undefined && !isOver(lease));
	if (selection.by === 'label') {
		const holdings = leased.filter(
			({lease}) =>
				lease.type === 'manual' &&
				bearsLabel(lease, requester, selection.label) &&
				(owns(requester, lease) || (isRoot(requester) && selection.label !== requester.account)),
		);
		return {records: holdings, notYours: []};
	}

	if (selection.by !== 'leases') {
		checkIds(selection.ids ?? [], snapshot.gpus.length);
	}

	if (selection.by === 'gpus') {
		const {instances = []} = selection;
		checkIds([...new Set(instances.map(({gpu}) => gpu))], snapshot.gpus.length);
	}

	const label = selection.by === 'gpus' ? selection.label : undefined;
	const isMeant = ({lease}: Holding): boolean =>
		mayChange(requester, lease) && (label === undefined || bearsLabel(lease, requester, label));
	const isOwn = ({index, lease, sharedBy}: Holding, gpu: number): boolean =>
		sharedBy !== undefined && index === gpu && owns(requester, lease);
	// If the caller has shares on a shared GPU, only these shares are selected.
	const named = leased
		.filter((holding) => isNamed(holding, selection))
		.filter(
			(holding, _, all) =>
				selection.by !== 'gpus' ||
				isNamedInstance(selection.instances, holding.index, holding.lease) ||
				isOwn(holding, holding.index) ||
				all.every((other) => !(isOwn(other, holding.index) && isMeant(other))),
		);
	return {
		records: named.filter((holding) => isMeant(holding)),
		notYours: named.filter((holding) => !isMeant(holding)),
	};
}
