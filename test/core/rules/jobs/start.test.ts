import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Job} from '../../../../source/core/model/jobs.js';
import {isOver, missingIds, parseAfter, startOf} from '../../../../source/core/rules/jobs/start.js';
import {job, now} from './_jobs.js';

describe('parseAfter', () => {
	test.each([
		['7', [{id: '7', isAny: false}]],
		[
			'7,8_2,7',
			[
				{id: '7', isAny: false},
				{id: '8_2', isAny: false},
			],
		],
		['any:7', [{id: '7', isAny: true}]],
		[
			'afterany:7:8',
			[
				{id: '7', isAny: true},
				{id: '8', isAny: true},
			],
		],
	])('reads %s', (typed, expected) => {
		expect(parseAfter(typed)).toEqual(expected);
	});

	test.each(['', 'any:', 'seven', '7,', '07', 'aftercorr:7', '7 8'])('rejects %j', (typed) => {
		expect(() => parseAfter(typed)).toThrow('--after: ');
	});
});

describe('startOf', () => {
	const after = (id: string, isAny = false) => ({after: [{id, isAny}]});

	test.each([
		['completed', 'now', 'now'],
		['failed', 'never', 'now'],
		['timeout', 'never', 'now'],
		['cancelled', 'never', 'now'],
		['lost', 'never', 'now'],
		['running', 'after-jobs', 'after-jobs'],
		['queued', 'after-jobs', 'after-jobs'],
		['pending', 'after-jobs', 'after-jobs'],
	] as const)(
		'for a dependency in the state %s, returns "%s", or "%s" if the dependency is any:ID',
		(state, success, any) => {
			const first = job(7, {state});
			expect(startOf(job(8, after('7')), [first], now).kind).toBe(success);
			expect(startOf(job(8, after('7', true)), [first], now).kind).toBe(any);
		},
	);

	test('names the dependency that failed', () => {
		expect(startOf(job(8, after('7')), [job(7, {state: 'failed'})], now)).toEqual({
			kind: 'never',
			reason: 'job 7 failed',
		});
	});

	test.each([false, true])(
		'waits for a job whose record is missing, and never starts if the record stays missing (any: %j)',
		(isAny) => {
			const waiting = job(8, after('7', isAny));
			expect(startOf(waiting, [], now)).toEqual({kind: 'after-jobs', ids: ['7']});
			expect(startOf(waiting, [], now, 299)).toEqual({kind: 'after-jobs', ids: ['7']});
			expect(startOf(waiting, [], now, 300)).toEqual({
				kind: 'never',
				reason: 'job 7 is unknown, because its record was lost',
			});
			// A record that is back counts again, whatever was missed before.
			expect(startOf(waiting, [job(7, {state: 'running'})], now, 300).kind).toBe('after-jobs');
			expect(startOf(waiting, [job(7, {state: 'completed'})], now, 300).kind).toBe('now');
		},
	);

	test('names the failed job and not the missing job', () => {
		const waiting = job(9, {after: [...after('7').after, ...after('8').after]});
		expect(startOf(waiting, [job(8, {state: 'failed'})], now, 300)).toMatchObject({reason: 'job 8 failed'});
		expect(missingIds(waiting, [job(8)])).toEqual(['7']);
	});

	test('waits for every job of an array', () => {
		const member = (index: number, state: Job['state']) => job(7 + index, {state, array: {id: 7, index}});
		const last = job(20, after('7'));
		expect(startOf(last, [member(0, 'completed'), member(1, 'running')], now).kind).toBe('after-jobs');
		expect(startOf(last, [member(0, 'completed'), member(1, 'failed')], now)).toMatchObject({reason: 'job 7_1 failed'});
		expect(startOf(last, [member(0, 'completed'), member(1, 'completed')], now).kind).toBe('now');
		expect(startOf(job(20, after('7_1')), [member(0, 'running'), member(1, 'completed')], now).kind).toBe('now');
	});

	test('waits until the start time of the job', () => {
		expect(startOf(job(8, {begin: now + 5}), [], now)).toEqual({kind: 'at', time: now + 5});
		expect(startOf(job(8, {begin: now}), [], now).kind).toBe('now');
	});

	test('never starts a job that depends on itself through other jobs', () => {
		const jobs = [job(1, after('2')), job(2, after('3')), job(3, after('1'))];
		for (const each of jobs) {
			expect(startOf(each, jobs, now)).toEqual({kind: 'never', reason: 'the jobs wait for each other'});
		}
	});

	test("jobs of an array all run eventually, and never more than the array's limit at a time", () => {
		fc.assert(
			fc.property(
				fc.integer({min: 1, max: 8}),
				fc.integer({min: 1, max: 4}),
				fc.array(fc.nat()),
				(size, limit, choices) => {
					const jobs = Array.from({length: size}, (_, index) => job(7 + index, {array: {id: 7, index, limit}}));
					for (const choice of [...choices, ...Array.from({length: 20 * size}, (_, step) => step)]) {
						const at = choice % size;
						const chosen = jobs[at]!;
						if (chosen.state === 'running') {
							jobs[at] = {...chosen, state: 'completed'};
						} else if (!isOver(chosen) && startOf(chosen, jobs, now).kind === 'now') {
							jobs[at] = {...chosen, state: 'running'};
						}

						expect(jobs.filter(({state}) => state === 'running').length).toBeLessThanOrEqual(limit);
					}

					expect(jobs.every((each) => isOver(each))).toBe(true);
				},
			),
		);
	});
});
