/** When those who wait for a file give up: not while others come and go. */
import {expect, test} from 'vitest';
import {createStandstill} from '../../../source/store/sqlite/lock-holder.js';

type World = {
	/** Of the last commit. */
	readonly change?: number;
	readonly database?: number;
	readonly gate?: number;
};

/** Asks ten times a second for five minutes. Returns after how many seconds the waiting ends, and how often the kernel was asked who is in the way. */
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

test('while somebody commits now and then, one waits on and does not ask the kernel', () => {
	expect(waitIn((second) => ({change: Math.floor(second / 20), gate: 4711}))).toEqual({endsAt: undefined, queries: 0});
});

test('while one after the other reads, one waits on, too', () => {
	const {endsAt, queries} = waitIn((second) => ({gate: 1000 + Math.floor(second / 2)}));
	expect(endsAt).toBeUndefined();
	expect(queries).toBeLessThan(25);
});

test('one process that stays in the way ends the waiting', () => {
	expect(waitIn(() => ({gate: 4711}))).toEqual({endsAt: 33, queries: 2});
});

test('another program that keeps the database locked ends it, although one after the other waits in the gate', () => {
	expect(waitIn((second) => ({database: 4711, gate: 1000 + Math.floor(second / 2)}))).toEqual({endsAt: 33, queries: 2});
});

test('so does a process that the kernel does not tell', () => {
	expect(waitIn(() => ({}))).toEqual({endsAt: 33, queries: 2});
});
