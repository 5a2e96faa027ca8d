import {expect, test} from 'vitest';
import {isWanted, timeToSend, usualPreferences} from '../../../../source/core/rules/notices/events.js';
import {judgeTargets} from '../../../../source/core/rules/notices/diagnosis.js';

/** Returns a quiet time that covers the whole day except one minute, which starts at `until`. */
function almostAlwaysQuiet(now: number) {
	const date = new Date(now * 1000);
	const minute = date.getHours() * 60 + date.getMinutes();
	return {from: minute, until: (minute + 1439) % 1440};
}

const now = 1_700_000_000;
const moment = {due: now, now};

test('notifications are sent by default for expiry, granted, overuse and idle', () => {
	const kinds = ['ending', 'served', 'overuse', 'idle', 'reclaimed', 'job-ended', 'squatter', 'test'] as const;
	expect(kinds.filter((kind) => isWanted(kind, usualPreferences))).toEqual([
		'ending',
		'served',
		'overuse',
		'idle',
		'reclaimed',
		'test',
	]);
	expect(kinds.filter((kind) => isWanted(kind, {events: []}))).toEqual(['test']);
});

test('notifications that stay due wait for the end of the quiet time, and the others are sent at once', () => {
	const preferences = {
		events: ['expiry', 'overuse', 'squatter', 'idle', 'granted', 'job-ended'],
		quiet: almostAlwaysQuiet(now),
	} as const;
	for (const kind of ['ending', 'overuse', 'squatter', 'parked', 'reclaimed'] as const) {
		expect(timeToSend(kind, moment, preferences)).toBeGreaterThan(now + 23 * 3600);
	}

	for (const kind of ['idle', 'beyond-limit', 'served', 'job-ended'] as const) {
		expect(timeToSend(kind, moment, preferences)).toBe(now);
	}
});

test('an overdue notification also waits for the end of the quiet time', () => {
	const preferences = {...usualPreferences, quiet: almostAlwaysQuiet(now)};
	expect(timeToSend('overuse', {due: now - 7200, now}, preferences)).toBeGreaterThan(now);
	expect(timeToSend('squatter', moment, preferences)).toBeUndefined();
});

test('doctor lists the notification targets and warns about targets that fail', () => {
	expect(judgeTargets([{name: 'terminal'}])).toEqual([]);
	expect(judgeTargets([{name: 'terminal'}, {name: 'slack'}])).toEqual([
		{check: 'notify', level: 'ok', words: 'notices go to terminal, slack'},
	]);
	const failure = {ageText: '3m', reason: 'it answered 404'};
	const fix = 'Try it: canhazgpu notify --test';
	expect(
		judgeTargets([
			{name: 'slack', failure},
			{name: 'mail', problem: 'sendmail or mail is not installed'},
		]),
	).toEqual([
		{check: 'notify', level: 'warning', words: 'slack: the last notice, 3m ago, did not arrive: it answered 404', fix},
		{check: 'notify', level: 'warning', words: 'mail: sendmail or mail is not installed', fix},
	]);
});
