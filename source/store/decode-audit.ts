import type {AuditEntry, AuditQuery} from '../core/model/types.js';
import {decodeAudit} from './records/index.js';

/** Approximate number of records in the audit log. Older ones are removed. */
export const auditCap = 10_000;

/** Returns the row number after which to read, for a store with numbered rows. Returns 0 for an id of another store, so that all rows are read. */
export const rowAfter = (afterId: string | undefined): number =>
	/^\d{1,15}$/v.test(afterId ?? '') ? Number(afterId) : 0;

/** Decodes audit records, oldest first, and skips invalid ones. Applies only `fromTime` and `newest` of the query. */
export const decodeAuditRows = (
	rows: ReadonlyArray<{readonly id: string; readonly raw: string}>,
	{fromTime = 0, newest = Infinity}: AuditQuery,
): readonly AuditEntry[] => {
	const entries = rows.flatMap(({id, raw}) => {
		const record = decodeAudit(raw);
		return record === undefined || record.time < fromTime ? [] : [{...record, id}];
	});
	return entries.slice(Math.max(0, entries.length - newest));
};
