/** How long a process waits for a locked database: as long as other processes make progress. */
import {expect, test} from 'vitest';
import {createStandstill} from '../../../source/store/sqlite/lock-holder.js';

type World = {
	/** The time of the last commit. */
	readonly change?: number;
	readonly database?: number;
	readonly gate?: number;
};

/** Checks ten times a second for five minutes. Returns the second at which the wait ends, and how often it looked up who holds the lock. */
function waitIn(worldAt: (second: number) => World): {readonly endsAt: number | undefined; readonly queries: number} {
	let second = 0;
	let queries = 0;
	const isStandstill = createStandstill('pool.db', {
		changeOf: () => String(worldAt(second).change),
		holderOf([file]) {
			const {database, gate} = worldAt(second);
			queries += file === 'pool.db' ? 1 : 0;
			const pid = file === 'pool.db' ? database : gate;
			return pid === undefined ? undefined : {pid, isStopped: false};
		},
	});
	for (; second <= 300; second += 0.1) {
		if (isStandstill(second * 1000)) {
			return {endsAt: Math.round(second), queries};
		}
	}

	return {endsAt: undefined, queries};
}

test('waiting for the SQLite lock continues while other processes commit now and then', () => {
	expect(waitIn((second) => ({change: Math.floor(second / 20), gate: 4711}))).toEqual({endsAt: undefined, queries: 0});
});

test('waiting for the SQLite lock continues while readers take turns to hold it', () => {
	const {endsAt, queries} = waitIn((second) => ({gate: 1000 + Math.floor(second / 2)}));
	expect(endsAt).toBeUndefined();
	expect(queries).toBeLessThan(25);
});

test('waiting for the SQLite lock ends after 33 s if one process keeps the lock', () => {
	expect(waitIn(() => ({gate: 4711}))).toEqual({endsAt: 33, queries: 2});
});

test('waiting for the SQLite lock ends after 33 s if another program locks the database', () => {
	expect(waitIn((second) => ({database: 4711, gate: 1000 + Math.floor(second / 2)}))).toEqual({endsAt: 33, queries: 2});
});

test('waiting for the SQLite lock ends after 33 s if the holder is unknown', () => {
	expect(waitIn(() => ({}))).toEqual({endsAt: 33, queries: 2});
});
