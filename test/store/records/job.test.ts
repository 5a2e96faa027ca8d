import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decodeJob, decodeJobIndex, encodeJob, encodeJobIndex} from '../../../source/store/records/index.js';
import {anyJob} from './arbitraries.js';

describe('the record of a job', () => {
	test('is decoded as it was encoded, even with invalid Unicode', () => {
		fc.assert(
			fc.property(anyJob, (job) => {
				const raw = encodeJob(job);
				const decoded = decodeJob(job.number, raw);
				expect(decoded).toMatchObject({kind: 'job', number: job.number, raw});
				expect(decoded.kind === 'job' && encodeJob(decoded.job)).toBe(raw);
				expect(decoded).toEqual({
					kind: 'job',
					number: job.number,
					raw,
					job: JSON.parse(JSON.stringify(job), (_, value: unknown) =>
						typeof value === 'string' ? value.toWellFormed() : value,
					) as unknown,
				});
			}),
		);
	});

	test('is invalid, with a reason, if a field is missing or wrong', () => {
		for (const [raw, problem] of [
			['nonsense', 'it is not JSON'],
			['{"state":"pending"}', 'token is missing'],
			['{"token":"t","state":"asleep"}', /^state is "asleep", which is not pending or queued/v],
			['{"token":"t","state":"pending","account":"a","directory":"/","words":[1]}', /words/v],
		] as const) {
			expect(decodeJob(7, raw)).toMatchObject({
				kind: 'garbage',
				number: 7,
				raw,
				problem: expect.stringMatching(problem) as string,
			});
		}
	});
});

describe('the index of the jobs', () => {
	test('is decoded as it was encoded', () => {
		fc.assert(
			fc.property(fc.uniqueArray(fc.integer({min: 1, max: 300})), (list) => {
				const numbers = list.toSorted((a, b) => a - b);
				const next = (numbers.at(-1) ?? 0) + 1;
				const raw = encodeJobIndex({next, numbers});
				expect(decodeJobIndex(raw)).toEqual({next, numbers, raw});
			}),
		);
	});

	test.each([
		[undefined, 1, []],
		['nonsense', 1, []],
		['5', 5, []],
		['9 1-3,8', 9, [1, 2, 3, 8]],
		['2 7', 8, [7]],
	] as const)('%j leads to the next number %j', (raw, next, numbers) => {
		expect(decodeJobIndex(raw)).toEqual({next, numbers, raw});
	});

	test('with a huge range is read only up to a limit', () => {
		expect(decodeJobIndex('999999999 1-999999999').numbers).toHaveLength(20_000);
	});
});
