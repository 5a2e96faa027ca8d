/** Which rows are shown. */
import {owns} from '../../../core/rules/leases/ownership.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {Requester} from '../../../core/model/types.js';
import {sanitize} from '../../../format/text/text.js';
import {stateName} from './row-state.js';
import {wordsOfFilter, type Filter} from './state.js';

/** Accounts that hold the GPU or have processes on it. */
const usersOf = ({owner, shares = [], processes}: StatusRow): readonly string[] => [
	...(owner === undefined ? [] : [owner]),
	...shares.map((share) => share.owner),
	...processes.map(({user}) => user).filter((user) => user !== undefined),
];

/** Whom the row is about: who holds it, or else who uses it. */
export const userOfRow = (row: StatusRow): string | undefined => row.owner ?? row.unreservedUsers[0] ?? usersOf(row)[0];

/** All that a person could look for in a row. */
const wordsOf = (row: StatusRow, requester: Requester, isScanned: boolean): string =>
	[
		`gpu${row.index}`,
		stateName(row, requester, isScanned),
		row.label,
		row.lease?.type,
		row.lease?.note,
		...(row.shares ?? []).flatMap(({label, lease}) => [label, lease.type, lease.note]),
		row.reading?.name,
		row.reading?.uuid,
		row.reading?.place && `${row.reading.place.node}:${row.reading.place.gpu}`,
		row.problem,
		...usersOf(row),
		...row.processes.flatMap(({pid, name, commandLine}) => [String(pid), name, commandLine]),
	]
		.map((word) => sanitize(word ?? ''))
		.join(' ')
		.toLowerCase();

/** Whether a row holds all of these words, in any case. */
export function rowHolds(row: StatusRow, words: readonly string[], requester: Requester, isScanned: boolean): boolean {
	const held = words.length === 0 ? '' : wordsOf(row, requester, isScanned);
	return words.every((word) => held.includes(word));
}

export function isShown(row: StatusRow, filter: Filter, requester: Requester, isScanned: boolean): boolean {
	const {user, isMine} = filter;
	if (
		(isMine && !usersOf(row).includes(requester.account) && !(row.lease && owns(requester, row.lease))) ||
		(user !== undefined && !usersOf(row).includes(user))
	) {
		return false;
	}

	return rowHolds(row, wordsOfFilter(filter), requester, isScanned);
}
