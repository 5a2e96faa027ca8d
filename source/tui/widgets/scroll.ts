/** Which of a panel's lines are in view. */

export type Extent = {readonly total: number; readonly shown: number};

/** Which lines are shown: no further than there are any. */
export function windowOf(first: number, {total, shown}: Extent): {readonly from: number; readonly to: number} {
	const from = Math.max(0, Math.min(first, total - shown));
	return {from, to: Math.min(total, from + Math.max(0, shown))};
}

/** `1-24 of 64`, when not all are in view. */
export const rangeText = (from: number, to: number, total: number): string =>
	to - from < total && to > from ? `${from + 1}-${to} of ${total}` : '';
