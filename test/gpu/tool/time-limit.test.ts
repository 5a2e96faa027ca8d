import fc from 'fast-check';
import {expect, test} from 'vitest';
import {timeLimitMs, withAnswer, withExceeded, type ToolMemory} from '../../../source/gpu/tool/time-limit.js';

/** Looks at a tool that needs so long each time, under the limit of what is known. */
function after(calls: readonly number[], memory: ToolMemory = {}): ToolMemory {
	let known = memory;
	for (const neededMs of calls) {
		const limitMs = timeLimitMs(known);
		known = neededMs <= limitMs ? withAnswer(known, neededMs) : withExceeded(known, limitMs);
	}

	return known;
}

test('a tool that needs 27 s is answered the first time, and every time after that', () => {
	expect(timeLimitMs({})).toBe(40_000);
	expect(timeLimitMs(after([27_000]))).toBe(60_000);
	expect(timeLimitMs(after([7000, 27_000, 7000, 7000, 7000]))).toBeGreaterThanOrEqual(27_000);
});

test('where the tool is quick, a driver that hangs is told after 10 s', () => {
	expect(timeLimitMs(after([130]))).toBe(10_000);
	expect(timeLimitMs(after([130, 2400, 130]))).toBe(10_000);
});

test('a tool that became slow, such as by an upgrade, is given twice the time with each failure, and answers again', () => {
	const quick = after([100]);
	const failed = after([12_000], quick);
	expect(timeLimitMs(failed)).toBe(20_000);
	expect(timeLimitMs(after([25_000], failed))).toBe(40_000);
	expect(timeLimitMs(after([12_000], failed))).toBe(48_000);
	expect(timeLimitMs(after([70_000, 70_000, 70_000, 70_000, 70_000], quick))).toBe(60_000);
});

test('whatever happened, the limit is from 10 to 60 s, and a tool that becomes quick is known to be quick again', () => {
	fc.assert(
		fc.property(fc.array(fc.nat(100_000), {maxLength: 50}), (calls) => {
			const memory = after(calls);
			expect(timeLimitMs(memory)).toBeGreaterThanOrEqual(10_000);
			expect(timeLimitMs(memory)).toBeLessThanOrEqual(60_000);
			expect(
				timeLimitMs(
					after(
						Array.from({length: 30}, () => 100),
						memory,
					),
				),
			).toBe(10_000);
		}),
	);
});
