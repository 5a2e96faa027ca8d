/** Chooses the columns of the queue that fit, and their widths. */
import {grown, type Column, type GrowthRound} from '../../../format/text/columns.js';

/** The columns of the queue. If there is no room for `blockedBy` (the reservations that an entry waits for), they are listed below the rows. */
export type QueueColumnName = 'position' | 'user' | 'want' | 'got' | 'waited' | 'estimate' | 'note' | 'blockedBy';

/** The columns whose width depends on their longest value. */
export const measuredColumns = [
	'position',
	'user',
	'want',
	'got',
	'note',
] as const satisfies readonly QueueColumnName[];

/** The width of the longest value of each measured column, in terminal columns. */
export type QueueNeeds = Readonly<Record<(typeof measuredColumns)[number], number>>;

/** Minimum width of the queue for the column `blockedBy`. */
const leastForBlockers = 70;

/** Widths of the column `note`. It appears only if an entry has a note and `blockedBy` keeps enough room. */
const noteWidths = {least: 8, most: 30};
const leastBesideNote = 30;

export const queueGap = (width: number): number => (width < 46 ? 1 : 2);

/** Adds the column `note` before `blockedBy`, which gives up part of its width. */
function withNote(
	columns: ReadonlyArray<Column<QueueColumnName>>,
	longest: number,
	gap: number,
): ReadonlyArray<Column<QueueColumnName>> {
	const blockedBy = columns.at(-1)!;
	const wanted = Math.min(longest, noteWidths.most);
	const width = Math.min(wanted, blockedBy.width - leastBesideNote - gap);
	return wanted === 0 || width < Math.min(wanted, noteWidths.least)
		? columns
		: [...columns.slice(0, -1), {name: 'note', width}, {...blockedBy, width: blockedBy.width - width - gap}];
}

/** Returns the columns for a width. Numbers are never cut off. Names, requests and `blockedBy` get the space that remains. */
export function fittingColumns(
	width: number,
	{position, user: longestUser, want: longestWant, got, note}: QueueNeeds,
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
		const columns = fit([
			{user: Math.min(user, 12), want: Math.min(want, 12)},
			{user, want},
		]);
		return withNote(columns, note, queueGap(width));
	}

	const halves: ReadonlyArray<GrowthRound<QueueColumnName>> = [{user: 16, want: 16}, {want: 16}];
	const columns = fit(halves);
	// If the name or the request is cut off, it gets the space that the other one does not need.
	const isCut = columns.some(
		({name, width: room}) => (name === 'user' && room < user) || (name === 'want' && room < want),
	);
	return isCut ? fit([{user, want}, ...halves]) : columns;
}
