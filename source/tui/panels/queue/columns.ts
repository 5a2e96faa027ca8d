import {grown, type Column, type GrowthRound} from '../../../format/text/columns.js';

/** The columns of the queue. If there is no room for `blockedBy` (the reservations that an entry waits for), they are listed below the rows. */
export type QueueColumnName = 'position' | 'user' | 'want' | 'got' | 'waited' | 'estimate' | 'blockedBy';

/** The width of the longest value in each of these columns, in terminal columns. */
export type QueueNeeds = Readonly<Record<'position' | 'user' | 'want' | 'got', number>>;

/** Minimum width of the queue for the column `blockedBy`. */
const leastForBlockers = 70;

export const queueGap = (width: number): number => (width < 46 ? 1 : 2);

/** Returns the columns for a width. Numbers are never cut off. Names, requests and `blockedBy` get the space that remains. */
export function queueColumns(
	width: number,
	{position, user: longestUser, want: longestWant, got}: QueueNeeds,
): ReadonlyArray<Column<QueueColumnName>> {
	const isWide = width >= leastForBlockers;
	const least: ReadonlyArray<Column<QueueColumnName>> = [
		{name: 'position', width: Math.max(2, position), align: 'end'},
		{name: 'user', width: 4},
		{name: 'want', width: 4},
		{name: 'got', width: Math.max(4, got), align: 'end'},
		{name: 'waited', width: 6, align: 'end'},
		{name: 'estimate', width: 8},
		...(isWide ? [{name: 'blockedBy', width: 0} as const] : []),
	];
	const user = Math.min(Math.max(4, longestUser), 16);
	const want = Math.min(Math.max(4, longestWant), isWide ? 24 : 16);
	const fit = (rounds: ReadonlyArray<GrowthRound<QueueColumnName>>) =>
		grown(least, {width, gap: queueGap(width)}, rounds, isWide ? 'blockedBy' : undefined);
	if (isWide) {
		return fit([
			{user: Math.min(user, 12), want: Math.min(want, 12)},
			{user, want},
		]);
	}

	const halves: ReadonlyArray<GrowthRound<QueueColumnName>> = [{user: 16, want: 16}, {want: 16}];
	const columns = fit(halves);
	// If the name or the request is cut off, it gets the space that the other one does not need.
	const isCut = columns.some(
		({name, width: room}) => (name === 'user' && room < user) || (name === 'want' && room < want),
	);
	return isCut ? fit([{user, want}, ...halves]) : columns;
}
