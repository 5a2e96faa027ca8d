import type {DatabaseSync} from 'node:sqlite';

/** Prepares every statement of the store, once. */
export const prepareStatements = (database: DatabaseSync) => ({
	pool: database.prepare('SELECT name, raw FROM pool'),
	poolValue: database.prepare('SELECT raw FROM pool WHERE name = ?'),
	setPoolValue: database.prepare('INSERT OR REPLACE INTO pool (name, raw) VALUES (?, ?)'),
	deletePoolValue: database.prepare('DELETE FROM pool WHERE name = ?'),

	gpus: database.prepare('SELECT gpu, raw FROM gpus'),
	gpu: database.prepare('SELECT raw FROM gpus WHERE gpu = ?'),
	setGpu: database.prepare('INSERT OR REPLACE INTO gpus (gpu, raw) VALUES (?, ?)'),
	deleteGpu: database.prepare('DELETE FROM gpus WHERE gpu = ?'),

	queue: database.prepare('SELECT id, raw FROM queue ORDER BY place'),
	line: database.prepare('SELECT id FROM queue ORDER BY place LIMIT ?'),
	entry: database.prepare('SELECT raw FROM queue WHERE id = ?'),
	join: database.prepare(
		'INSERT INTO queue (place, id, raw) VALUES ((SELECT coalesce(max(place), 0) + 1 FROM queue), ?, ?)',
	),
	setEntry: database.prepare('UPDATE queue SET raw = ?2 WHERE id = ?1'),
	leave: database.prepare('DELETE FROM queue WHERE id = ?'),

	recentUsage: database.prepare(`
		SELECT raw FROM (SELECT * FROM history ORDER BY end_second DESC, raw DESC LIMIT ?1)
		WHERE user = ?2 ORDER BY end_second DESC, raw DESC
	`),
	usagePage: database.prepare(`
		SELECT end_second AS endSecond, raw FROM history
		WHERE (end_second, raw) > (?1, ?2) AND end_second <= ?3 ORDER BY end_second, raw LIMIT ?4
	`),
	addUsage: database.prepare('INSERT OR IGNORE INTO history (end_second, raw, user) VALUES (?, ?, ?)'),
	trail: database.prepare('SELECT id, raw FROM trail WHERE id > ? ORDER BY id'),
	addAudit: database.prepare('INSERT INTO trail (raw) VALUES (?)'),
	trimAudit: database.prepare('DELETE FROM trail WHERE id <= (SELECT max(id) FROM trail) - ?'),

	trimUsage: database.prepare(`
		DELETE FROM history WHERE (end_second, raw) IN
			(SELECT end_second, raw FROM history WHERE end_second < ?1 ORDER BY end_second, raw LIMIT ?2)
	`),
});

export type Statements = ReturnType<typeof prepareStatements>;
