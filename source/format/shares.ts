import {sizeText} from '../core/rules/request/memory-size.js';
import {instancesOf} from '../core/rules/mig/instances.js';
import {isOverused} from '../core/rules/usage/share-usage.js';
import type {ShareRow, StatusRow} from '../core/rules/pool/status.js';
import {shortDuration} from './text/durations.js';
import {instanceLabel} from './instances.js';
import {ownerText} from './owner.js';
import {counted} from './text/numbers.js';

function ofTotal(part: number, total: number): string {
	const [first, second] = [sizeText(part), sizeText(total)];
	return first.at(-1) === second.at(-1) ? `${first.slice(0, -1)}/${second}` : `${first}/${second}`;
}

export const shareOwner = ({owner, label}: ShareRow): string => ownerText(owner, label);

export const isOver = ({lease: {memoryMiB}, memoryUsedMiB}: ShareRow): boolean =>
	isOverused({memoryMiB, memoryUsedMiB});

/** Returns `8G`, `0:1 1g.10gb` for a MIG instance, or `16/8G!` for a share of 8G that uses 16G. Empty if unknown. */
export function sharePart(share: ShareRow, index: number): string {
	const {memoryMiB, mig} = share.lease;
	if (mig !== undefined) {
		// A removed instance stays held until its reservation ends.
		return `${instanceLabel({gpu: index, ...mig})}${share.isGone === true ? ' (gone)' : ''}`;
	}

	if (memoryMiB === undefined) {
		return '';
	}

	return isOver(share) ? `${ofTotal(share.memoryUsedMiB!, memoryMiB)}!` : sizeText(memoryMiB);
}

export const overText = (share: ShareRow): string =>
	isOver(share) && share.overSeconds !== undefined ? ` for ${shortDuration(share.overSeconds)}` : '';

/** Returns how much of a GPU is reserved as shares: `24/86G`, `24G` of an unknown total, or `2 shares` of unknown sizes. */
export function sharedAmount({shares = [], capacityMiB, reading}: StatusRow): string {
	if (shares.some(({lease: {mig}}) => mig !== undefined)) {
		const there = shares.filter(({isGone}) => isGone !== true).length;
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

/** Returns the reserved memory and each share: `16/86G alice 8G, bob 16/8G! for 12m` (bob uses 16G of 8G). `isOverFirst` puts bob's share first. */
export function sharesText(row: StatusRow, options: {readonly isOverFirst?: boolean} = {}): string | undefined {
	const shares =
		options.isOverFirst === true ? row.shares?.toSorted((a, b) => Number(isOver(b)) - Number(isOver(a))) : row.shares;
	return shares && `${sharedAmount(row)} ${shares.map((share) => shareText(share, row.index)).join(', ')}`;
}
