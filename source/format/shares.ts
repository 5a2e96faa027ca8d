/** The shares of a GPU in words: what every face says in the same way. */
import {sizeWords} from '../core/rules/allocation/memory-size.js';
import {isOverused} from '../core/rules/leases/share-usage.js';
import type {ShareRow, StatusRow} from '../core/rules/pool/status.js';
import {sanitize} from './text/text.js';

/** `24/86G`; `512M/8G` where the units differ. */
export function ofTotal(part: number, total: number): string {
	const [first, second] = [sizeWords(part), sizeWords(total)];
	return first.at(-1) === second.at(-1) ? `${first.slice(0, -1)}/${second}` : `${first}/${second}`;
}

/** Who has a share: `account`, or `account (label)`. */
export const shareOwner = ({owner, label}: ShareRow): string =>
	label === undefined ? sanitize(owner) : `${sanitize(owner)} (${sanitize(label)})`;

/** Whether a share uses more than it asked for. */
export const isOver = ({lease: {memoryMiB = 0}, memoryUsedMiB}: ShareRow): boolean =>
	isOverused({memoryMiB, memoryUsedMiB});

/** `8G`, or `16/8G!` of a share that uses more than it asked for. */
export function sharePart(share: ShareRow): string {
	const {memoryMiB = 0} = share.lease;
	return isOver(share) ? `${ofTotal(share.memoryUsedMiB!, memoryMiB)}!` : sizeWords(memoryMiB);
}

/** How much of the GPU is shared out: `24/86G`; `24G` where it is unknown how much there is. */
export function sharedAmount({shares = [], capacityMiB}: StatusRow): string {
	const askedMiB = shares.reduce((sum, {lease: {memoryMiB = 0}}) => sum + memoryMiB, 0);
	return capacityMiB === undefined ? sizeWords(askedMiB) : ofTotal(askedMiB, capacityMiB);
}

/** `24/86G alice 8G, bob 16/8G!`. Undefined for a GPU that is not shared. */
export function sharesWords(row: StatusRow): string | undefined {
	const {shares} = row;
	return (
		shares && `${sharedAmount(row)} ${shares.map((share) => `${shareOwner(share)} ${sharePart(share)}`).join(', ')}`
	);
}
