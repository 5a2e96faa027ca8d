/** The shares of a GPU in words: what every face says in the same way. */
import {sizeText} from '../core/rules/request/memory-size.js';
import {instancesOf} from '../core/rules/mig/instances.js';
import {isOverused} from '../core/rules/usage/share-usage.js';
import type {ShareRow, StatusRow} from '../core/rules/pool/status.js';
import {shortDuration} from './text/durations.js';
import {instanceLabel} from './instances.js';
import {ownerText} from './owner.js';
import {counted} from './text/numbers.js';

/** `24/86G`; `512M/8G` where the units differ. */
function ofTotal(part: number, total: number): string {
	const [first, second] = [sizeText(part), sizeText(total)];
	return first.at(-1) === second.at(-1) ? `${first.slice(0, -1)}/${second}` : `${first}/${second}`;
}

/** Who has a share: `account`, or `account (label)`. */
export const shareOwner = ({owner, label}: ShareRow): string => ownerText(owner, label);

/** Whether a share uses more than it asked for. */
export const isOver = ({lease: {memoryMiB}, memoryUsedMiB}: ShareRow): boolean =>
	isOverused({memoryMiB, memoryUsedMiB});

/** `8G`, `0:1 1g.10gb` of an instance of MIG, or `16/8G!` of a share that uses more than it asked for. Empty where its size is unknown. */
export function sharePart(share: ShareRow, index: number): string {
	const {memoryMiB, mig} = share.lease;
	if (mig !== undefined) {
		// What an administrator took away meanwhile is still held, until its reservation ends.
		return `${instanceLabel({gpu: index, ...mig})}${share.isGone === true ? ' (gone)' : ''}`;
	}

	if (memoryMiB === undefined) {
		return '';
	}

	return isOver(share) ? `${ofTotal(share.memoryUsedMiB!, memoryMiB)}!` : sizeText(memoryMiB);
}

/** ` for 12m`: how long it has used more than it asked for, where that was reported. Empty elsewhere. */
export const overText = (share: ShareRow): string =>
	isOver(share) && share.overSeconds !== undefined ? ` for ${shortDuration(share.overSeconds)}` : '';

/** How much of the GPU is shared out: `24/86G`; `24G` where it is unknown how much there is; `2 shares` where no size is known. */
export function sharedAmount({shares = [], capacityMiB, reading}: StatusRow): string {
	if (shares.some(({lease: {mig}}) => mig !== undefined)) {
		const there = shares.filter(({isGone}) => isGone !== true).length;
		// None are left where MIG was turned off.
		const all = reading?.migInstances?.length ?? instancesOf(reading)?.length;
		return all === undefined ? counted(there, 'MIG instance') : `${there}/${all} MIG`;
	}

	if (shares.every(({lease: {memoryMiB}}) => memoryMiB === undefined)) {
		return counted(shares.length, 'share');
	}

	const askedMiB = shares.reduce((sum, {lease: {memoryMiB = 0}}) => sum + memoryMiB, 0);
	return capacityMiB === undefined ? sizeText(askedMiB) : ofTotal(askedMiB, capacityMiB);
}

const shareText = (share: ShareRow, index: number): string =>
	[shareOwner(share), sharePart(share, index) + overText(share), share.lease.isSuspended === true ? 'suspended' : '']
		.filter((part) => part !== '')
		.join(' ');

/**
`24/86G alice 8G, bob 16/8G! for 12m`. Undefined for a GPU that is not shared.

@param options - `isOverFirst`: those that use too much come first, where there may be no room for all.
*/
export function sharesText(row: StatusRow, options: {readonly isOverFirst?: boolean} = {}): string | undefined {
	const shares =
		options.isOverFirst === true ? row.shares?.toSorted((a, b) => Number(isOver(b)) - Number(isOver(a))) : row.shares;
	return shares && `${sharedAmount(row)} ${shares.map((share) => shareText(share, row.index)).join(', ')}`;
}
