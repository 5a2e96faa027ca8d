import type {AuditEntry, AuditQuery} from '../../../core/model/types.js';
import {rawOf} from '../../records/index.js';
import {decodeAuditRows} from '../../decode-audit.js';
import type {Connection} from '../connection.js';
import {keys} from '../keys.js';
import {ask, bytesOf, listOf} from '../replies.js';

const idPattern = /^(?<milliseconds>\d{1,15})-(?<sequence>\d{1,15})$/v;

/** Returns the first stream id to read. An id consists of the server's time in milliseconds and a number that distinguishes records of the same time. */
function firstId({fromTime = 0, afterId = ''}: AuditQuery): string {
	const {milliseconds, sequence} = idPattern.exec(afterId)?.groups ?? {};
	const fromMs = Math.max(0, Math.floor(fromTime * 1000));
	return milliseconds === undefined || Number(milliseconds) < fromMs
		? `${fromMs}-0`
		: `${milliseconds}-${Number(sequence) + 1}`;
}

/** Parses the rows of the stream. A row consists of an id and a list of names and values. Rows of this program have one value. */
const rowsOf = (reply: unknown) =>
	listOf(reply, (row) => {
		const [id, fields] = listOf(row, (part) => part);
		const [, record] = listOf(fields, bytesOf);
		return record === undefined ? [] : [{id: rawOf(bytesOf(id)), raw: rawOf(record)}];
	}).flat();

export async function readAuditLog(connection: Connection, query: AuditQuery): Promise<readonly AuditEntry[]> {
	const {newest} = query;
	if (newest === 0) {
		return [];
	}

	const rows = await ask(
		connection,
		async (client) =>
			newest === undefined
				? client.xrangeBuffer(keys.auditLog, firstId(query), '+')
				: client.xrevrangeBuffer(keys.auditLog, '+', firstId(query), 'COUNT', newest),
		rowsOf,
	);
	return decodeAuditRows(newest === undefined ? rows : rows.toReversed(), query);
}
