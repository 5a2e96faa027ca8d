import type {AuditEntry, AuditQuery} from '../core/model/types.js';
import {decodeAudit} from './records/index.js';

/** The audit log holds about so many records; older ones go. */
export const auditCap = 10_000;

/** The position behind which to read, in a store that numbers its records; 0 for an id that is none of its own. */
export const rowAfter = (afterId: string | undefined): number =>
	/^\d{1,15}$/v.test(afterId ?? '') ? Number(afterId) : 0;

/**
Decodes stored records of the audit log. Those that do not parse are skipped.

@param rows - Oldest first.
@param query - Of which only the time counts here: a store has the ids, and the records the times.
*/
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
