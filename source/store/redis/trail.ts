import type {AuditEntry, AuditQuery} from '../../core/types.js';
import {rawOf} from '../codec.js';
import {decodeAuditRows} from '../decode-audit.js';
import type {Connection} from './connection.js';
import {keys} from './keys.js';

const idPattern = /^(?<milliseconds>\d{1,15})-(?<sequence>\d{1,15})$/v;

/** The first id that may be wanted. An id of the stream is its time in ms on the server's clock, and a number within that. */
function firstId({fromTime = 0, afterId = ''}: AuditQuery): string {
	const {milliseconds, sequence} = idPattern.exec(afterId)?.groups ?? {};
	const fromMs = Math.max(0, Math.floor(fromTime * 1000));
	return milliseconds === undefined || Number(milliseconds) < fromMs
		? `${fromMs}-0`
		: `${milliseconds}-${Number(sequence) + 1}`;
}

/** Reads the records of the trail that are asked for. */
export async function readTrail(connection: Connection, query: AuditQuery): Promise<readonly AuditEntry[]> {
	const {newest} = query;
	if (newest === 0) {
		return [];
	}

	const reply = await connection.run(
		async (client) =>
			newest === undefined
				? client.xrangeBuffer(keys.trail, firstId(query), '+')
				: client.xrevrangeBuffer(keys.trail, '+', firstId(query), 'COUNT', newest),
		{isRepeatable: true},
	);
	const rows = reply.flatMap(([id, [, record]]) => (record === undefined ? [] : [{id: rawOf(id), raw: rawOf(record)}]));
	return decodeAuditRows(newest === undefined ? rows : rows.toReversed(), query);
}
