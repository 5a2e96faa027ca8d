import type {AuditEntry, AuditQuery, AuditRecord} from '../core/model/types.js';
import {decodeAudit} from './records/index.js';

/** Approximate number of records in the audit log. Older ones are removed. */
export const auditCap = 10_000;

/** Decodes the rows of an audit log and skips invalid ones. */
const entriesOf = <Row extends {readonly raw: string}>(
	rows: readonly Row[],
	idOf: (row: Row, record: AuditRecord) => string,
): readonly AuditEntry[] =>
	rows.flatMap((row) => {
		const record = decodeAudit(row.raw);
		return record === undefined ? [] : [{...record, id: idOf(row, record)}];
	});

function select(
	entries: readonly AuditEntry[],
	{fromTime = 0, newest = Infinity}: Omit<AuditQuery, 'afterId'>,
): readonly AuditEntry[] {
	const selected = entries.filter(({time}) => time >= fromTime);
	return selected.slice(Math.max(0, selected.length - newest));
}

/** Decodes audit records, oldest first, and skips invalid ones. Ignores `afterId` of the query. */
export const decodeAuditRows = (
	rows: ReadonlyArray<{readonly id: string; readonly raw: string}>,
	query: AuditQuery,
): readonly AuditEntry[] =>
	select(
		entriesOf(rows, ({id}) => id),
		query,
	);

export type NumberedRow = {readonly id: number; readonly raw: string};

/** The id of an entry in a store with numbered rows: the number of the row, and the time of the record. */
const idPattern = /^(?<row>\d{1,15})-(?<time>.+)$/v;

/**
Reads the audit log of a store with numbered rows. `rowsFrom` returns the rows with this number or a larger one.

After an older copy of the store was restored, its new rows get the numbers of the rows that were lost. The time in the id shows whether the row is
still the same. If it is not, all entries since this time are returned.
*/
export function readNumberedRows(
	rowsFrom: (number: number) => readonly NumberedRow[],
	query: AuditQuery,
): readonly AuditEntry[] {
	const entriesFrom = (number: number): readonly AuditEntry[] =>
		entriesOf(rowsFrom(number), ({id}, {time}) => `${id}-${time}`);
	const last = idPattern.exec(query.afterId ?? '')?.groups;
	if (last === undefined) {
		return select(entriesFrom(0), query);
	}

	const [first, ...later] = entriesFrom(Number(last['row']));
	if (first?.id === query.afterId) {
		return select(later, query);
	}

	const lastTime = Number(last['time']);
	return select(
		entriesFrom(0).filter(({time}) => time > lastTime),
		query,
	);
}
