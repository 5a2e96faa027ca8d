import {longestLoadHour} from '../../core/model/ports.js';
import {mostGpus} from '../records/index.js';
import {boundedColumn} from './bounded.js';
import type {Statements} from './database.js';

const raw = boundedColumn('raw');
const id = boundedColumn('id');

/** Maximum length of a usage record to read, in bytes. Current records are shorter, but old versions wrote notes of any length. */
const longestUsage = 16 * 2 ** 10;

const usageAfter = 'FROM history WHERE (end_second, raw) > (?1, ?2) AND end_second <= ?3 ORDER BY end_second, raw';

/** Maximum number of rows to remove at once. In a damaged file, an unlimited DELETE might never end. */
const mostTrimmed = 1000;

export const poolStatements = {
	pool: `
		SELECT name, ${raw} FROM pool
		WHERE name IN ('gpuCount', 'provider', 'machine', 'drains', 'notices', 'policy', 'revision')
	`,
	poolValue: `SELECT ${raw} FROM pool WHERE name = ?`,
	setPoolValue: 'INSERT OR REPLACE INTO pool (name, raw) VALUES (?, ?)',
	deletePoolValue: 'DELETE FROM pool WHERE name = ?',

	/** Reads an hour of load history. Row names such as `load:491234` sort by hour. Texts that are too long are not read. */
	loadHour: `SELECT raw FROM pool WHERE name = ?1 AND octet_length(raw) <= ${longestLoadHour}`,
	appendLoad: `
		INSERT INTO pool (name, raw) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE SET raw = raw || ?2 WHERE octet_length(raw) + octet_length(?2) <= ${longestLoadHour}
	`,
	/** Removes the rows of the load history before an hour. Keeps newer rows, because the clock may be behind. */
	trimLoads: `
		DELETE FROM pool WHERE name IN (SELECT name FROM pool WHERE name >= 'load:' AND name < ?1 LIMIT ${mostTrimmed})
	`,

	gpus: `SELECT gpu, ${raw} FROM gpus WHERE gpu BETWEEN 0 AND ${mostGpus - 1}`,
	gpu: `SELECT ${raw} FROM gpus WHERE gpu = ?`,
	setGpu: 'INSERT OR REPLACE INTO gpus (gpu, raw) VALUES (?, ?)',
	deleteGpu: 'DELETE FROM gpus WHERE gpu = ?',

	queue: `SELECT ${id}, ${raw} FROM queue ORDER BY place`,
	queueIds: `SELECT ${id} FROM queue ORDER BY place LIMIT ?`,
	entry: `SELECT ${raw} FROM queue WHERE id = ?`,
	/** Adds an entry. Its position is the time of joining in microseconds, so that a lost entry can be restored there. Old versions counted from 1. */
	join: 'INSERT INTO queue (place, id, raw) VALUES (max(?3, (SELECT coalesce(max(place), 0) + 1 FROM queue)), ?1, ?2)',
	idAt: 'SELECT 1 FROM queue WHERE place = ?',
	joinAt: 'INSERT INTO queue (place, id, raw) VALUES (?3, ?1, ?2)',
	setEntry: 'UPDATE queue SET raw = ?2 WHERE id = ?1',
	leave: 'DELETE FROM queue WHERE id = ?',

	recentUsage: `
		SELECT ${raw} FROM (SELECT * FROM history ORDER BY end_second DESC, raw DESC LIMIT ?1)
		WHERE user = ?2 ORDER BY end_second DESC, raw DESC
	`,
	/** Reads a page of usage records as one text with a line per record, which takes half as long as a row per record. Long records are only counted. */
	usagePage: `
		SELECT coalesce(group_concat(record, char(10)), '') AS lines, count(*) AS records,
			count(*) - count(record) AS longRecords, coalesce(max(end_second), 0) AS lastSecond
		FROM (SELECT end_second, ${boundedColumn('raw', longestUsage, 'record')} ${usageAfter} LIMIT ?4)
	`,
	longUsagePage: `SELECT ${raw} ${usageAfter} LIMIT ?4`,
	/** Reads the last record of a full page, if the lines do not show which record is the last. */
	usagePageEnd: `SELECT end_second AS endSecond, ${raw} ${usageAfter} LIMIT 1 OFFSET ?4 - 1`,
	addUsage: 'INSERT OR IGNORE INTO history (end_second, raw, user) VALUES (?, ?, ?)',
	auditLog: `SELECT id, ${raw} FROM trail WHERE id >= ? ORDER BY id`,
	addAudit: 'INSERT INTO trail (raw) VALUES (?)',
	trimAudit: `
		DELETE FROM trail WHERE id IN
			(SELECT id FROM trail WHERE id <= (SELECT max(id) FROM trail) - ?1 ORDER BY id LIMIT ${mostTrimmed})
	`,

	change: 'SELECT attempt FROM changes WHERE id = ?',
	addChange: 'INSERT INTO changes (id, attempt) VALUES (?, ?)',
	trimChanges: `
		DELETE FROM changes WHERE place IN
			(SELECT place FROM changes WHERE place <= (SELECT max(place) FROM changes) - ?1 ORDER BY place LIMIT ${mostTrimmed})
	`,

	usageBetween: 'SELECT 1 FROM history WHERE end_second BETWEEN ? AND ? LIMIT 1',
	trimUsage: `
		DELETE FROM history WHERE (end_second, raw) IN
			(SELECT end_second, raw FROM history WHERE end_second < ?1 ORDER BY end_second, raw LIMIT ?2)
	`,
} as const;

export type PoolStatements = Statements<keyof typeof poolStatements>;
