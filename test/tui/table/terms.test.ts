/** Terms of filters and searches: words, columns, numbers and negation. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {SortValue} from '../../../source/tui/state/table/order.js';
import {matcherOf, type Matchable} from '../../../source/tui/state/table/terms.js';

const columns = new Set(['gpu', 'state', 'owner', 'held', 'ends', 'utilization', 'memory', 'temperature', 'power']);

/** Whether a row matches a term. A wrong term matches nothing. */
function matchesTerm(term: string, row: Matchable): boolean {
	const matcher = matcherOf([term], columns);
	return typeof matcher !== 'string' && matcher(row);
}

const rowWith = (
	values: Readonly<Record<string, SortValue>>,
	text = 'gpu2 held ada python train.py http://x:80',
): Matchable => ({
	text,
	valueOf: (column) => values[column],
	wordsOf: (column) => ({state: 'held', owner: values['owner'] === undefined ? '' : 'ada bob'})[column],
});

const row = rowWith({
	gpu: 2,
	state: 5,
	owner: 'ada',
	held: 7200,
	ends: 1800,
	utilization: 97,
	memory: 20_480,
	temperature: 61,
});

test.each([
	['python', true],
	['trainer', false],
	['http://x:80', true],
	['gpu:2', true],
	['gpu:3', false],
	['user:ada', true],
	['owner=ad', true],
	['user:bob', true],
	['user:eve', false],
	['state:held', true],
	['state:idle', false],
	['temp>60', true],
	['temp>61', false],
	['temp>=61', true],
	['util<5', false],
	['util<=97%', true],
	['mem>19g', true],
	['mem>20g', false],
	['mem>=20gib', true],
	['memory=20480', true],
	['mem>20480', false],
	['held>1h30m', true],
	['ends<1h', true],
	['held>2h', false],
	['held>=120m', true],
	['temp>hot', false],
	['mem>50%', false],
	['user>3', false],
	['!python', false],
	['!trainer', true],
	['!user:eve', true],
	['!temp>60', false],
	['!', false],
])('the filter term %s matches the sample row: %s', (term, matches) => {
	expect(matchesTerm(term, row)).toBe(matches);
});

test('the filter term state: is compared only with the state', () => {
	expect(matchesTerm('state:free', rowWith({state: 5}, 'gpu2 held ada set free'))).toBe(false);
});

test('a free GPU matches the filter term !user:ada, but no term about the end of a reservation', () => {
	const free = rowWith({gpu: 1, state: 0});
	expect(matchesTerm('!user:ada', free)).toBe(true);
	expect(matchesTerm('user:ada', free)).toBe(false);
	expect(matchesTerm('ends<1h', free)).toBe(false);
	expect(matchesTerm('!ends<1h', free)).toBe(true);
});

test.each([
	['temp>60 python !mem<20gib ends<1h', undefined],
	['temp>hot', 'temp: "hot" is not a number'],
	['python mem>lots', 'mem: "lots" is not a memory size'],
	['mem>20', 'mem: "20" has no unit'],
	['mem=26g', 'mem: = needs an exact number. Use < or >, such as "mem>26g"'],
	['ends:1h', 'ends: = needs an exact number. Use < or >, such as "ends>1h"'],
	['!ends<soon', 'ends: "soon" is not a duration'],
	['power>1w', 'power: "1w" is not a number'],
	['user:ada state:free nope>3', undefined],
])('the problem of the filter "%s" is %j', (text, problem) => {
	const matcher = matcherOf(text.split(' '), columns);
	expect(typeof matcher === 'string' ? matcher : undefined).toBe(problem);
});

test('a row with an unknown reading matches neither a comparison nor its negation', () => {
	expect(matchesTerm('power>100', row)).toBe(false);
	expect(matchesTerm('!power>100', row)).toBe(false);
});

test('a row with a known reading matches exactly one of a comparison and its negation', () => {
	fc.assert(
		fc.property(fc.nat(200), fc.nat(200), fc.constantFrom('<', '<=', '>', '>=', '='), (value, operand, operator) => {
			const term = `temp${operator}${operand}`;
			const hot = rowWith({temperature: value});
			expect(matchesTerm(term, hot)).not.toBe(matchesTerm(`!${term}`, hot));
		}),
	);
});

test('matchesTerm never throws, whatever the term', () => {
	fc.assert(
		fc.property(fc.string({unit: 'binary'}), (term) => {
			expect(typeof matchesTerm(term.toLowerCase(), row)).toBe('boolean');
		}),
	);
});
