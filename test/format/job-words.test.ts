import {Buffer} from 'node:buffer';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {JobRow} from '../../source/core/rules/jobs/rows.js';
import {jobWords, outputWords} from '../../source/format/job-words.js';

const row: JobRow = {
	id: '7',
	state: 'failed',
	account: 'alice',
	command: 'python \u{1B}[31mtrain.py',
	count: 1,
	after: [],
	submitTime: 0,
	endTime: 60,
	exitCode: 1,
	reason: 'out of GPU memory',
	via: 'mcp codex\u{7}',
};

const output = (text: string, isCut = false, lines = 100): string =>
	outputWords({row, file: '/logs/7.log', bytes: Buffer.from(text), isCut}, lines);

describe('outputWords', () => {
	test('returns no control characters and at most the requested number of lines', () => {
		fc.assert(
			fc.property(
				fc.uint8Array({maxLength: 300}),
				fc.boolean(),
				fc.integer({min: 1, max: 20}),
				(bytes, isCut, lines) => {
					const words = outputWords({row, file: '/logs/7.log', bytes, isCut}, lines);
					expect(words).not.toMatch(/[[\p{Control}\p{Format}]--[\t\n\u{200D}]]/v);
					expect(words.split('\n').length).toBeLessThanOrEqual(lines + 1);
				},
			),
		);
	});

	test.each([
		['', 'Job 7 is FAILED. It has not written any output.'],
		['one\n\ntwo\n', 'Job 7 is FAILED. Its output:\none\n\ntwo'],
		['10%\r20%\r', 'Job 7 is FAILED. Its output:\n20%'],
		['line\r\n', 'Job 7 is FAILED. Its output:\nline'],
	])('shows %j as %j', (text, words) => {
		expect(output(text)).toBe(words);
	});

	test('drops an incomplete first line, unless it is the only line', () => {
		const about = 'Job 7 is FAILED. The last 1 line of its output, which is in /logs/7.log:';
		expect(output('alf\nwhole\n', true)).toBe(`${about}\nwhole`);
		expect(output('only half', true)).toBe(`${about}\nonly half`);
		expect(output('one\ntwo\n', false, 1)).toBe(`${about}\ntwo`);
	});
});

test('jobWords says how a job ended and where it was submitted', () => {
	expect(jobWords([row], 100)).toBe(
		'Job 7 is FAILED: exit code 1, out of GPU memory; python train.py (via mcp codex).',
	);
	expect(jobWords([], 100)).toBe('You have no waiting or running jobs, and none that ended in the last day.');
});
