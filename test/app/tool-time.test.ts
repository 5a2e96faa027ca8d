import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {
	createToolTime,
	timeLimitMs,
	withAnswer,
	withExceeded,
	type ToolMemory,
} from '../../source/app/gpus/tool-time.js';
import type {Config} from '../../source/config/config.js';
import type {GpuProvider} from '../../source/core/model/ports.js';
import {testHost} from '../_helpers/machine/host.js';
import {observationOf} from '../_helpers/world.js';

let home: string;

beforeEach(() => {
	home = mkdtempSync(path.join(tmpdir(), 'chg-tool-'));
	mkdirSync(home, {recursive: true});
	vi.stubEnv('XDG_STATE_HOME', home);
});

afterEach(() => {
	vi.unstubAllEnvs();
	rmSync(home, {recursive: true, force: true});
});

/** Starts a long-running process. `scan` runs a tool that takes the given time unless the limit ends it first. */
function startProcess(timeout?: number) {
	let nowMs = 0;
	const config = {get: () => timeout} as unknown as Config;
	const time = createToolTime(config, testHost(), () => nowMs);
	const tool = {neededMs: 100};
	const provider: GpuProvider = {
		name: 'nvidia',
		simulated: false,
		count: async () => 1,
		async observe() {
			const limitMs = time.limitMs();
			nowMs += Math.min(tool.neededMs, limitMs);
			return observationOf([], tool.neededMs > limitMs ? {failure: {message: 'did not answer'}} : {});
		},
	};
	const watched = time.watch(provider);
	return {
		time,
		async scan(neededMs: number) {
			tool.neededMs = neededMs;
			return (await watched.observe()).failure === undefined ? 'answered' : 'ended';
		},
	};
}

test('the time limit of a running process rises from 10 s to 60 s when the GPU tool becomes slow', async () => {
	const {time, scan} = startProcess();
	expect(await scan(100)).toBe('answered');
	expect(time.limitMs()).toBe(10_000);
	expect([await scan(25_000), await scan(25_000), await scan(25_000)]).toEqual(['ended', 'ended', 'answered']);
	expect(time.limitMs()).toBe(60_000);
});

test('a new process starts with the GPU tool time limit that an earlier process has learned', async () => {
	const first = startProcess();
	await first.scan(100);
	await first.scan(12_000);
	const second = startProcess();
	expect(second.time.limitMs()).toBe(20_000);
	expect(await second.scan(100)).toBe('answered');
	expect(first.time.limitMs()).toBe(10_000);
});

test('a configured time limit for the GPU tool stays fixed and does not change the learned limit', async () => {
	const {time, scan} = startProcess(5);
	expect([await scan(6000), await scan(6000)]).toEqual(['ended', 'ended']);
	expect(time.limitMs()).toBe(5000);
	expect(startProcess().time.limitMs()).toBe(40_000);
});

/** Returns the memory after calls of these durations, each with the limit learned before. */
function after(calls: readonly number[], memory: ToolMemory = {}): ToolMemory {
	let known = memory;
	for (const neededMs of calls) {
		const limitMs = timeLimitMs(known);
		known = neededMs <= limitMs ? withAnswer(known, neededMs) : withExceeded(known, limitMs);
	}

	return known;
}

test('timeLimitMs exceeds 27 s for a tool that needs 27 s, on the first call and later', () => {
	expect(timeLimitMs({})).toBe(40_000);
	expect(timeLimitMs(after([27_000]))).toBe(60_000);
	expect(timeLimitMs(after([7000, 27_000, 7000, 7000, 7000]))).toBeGreaterThanOrEqual(27_000);
});

test('timeLimitMs is 10 s for a tool that has answered within 2.4 s', () => {
	expect(timeLimitMs(after([130]))).toBe(10_000);
	expect(timeLimitMs(after([130, 2400, 130]))).toBe(10_000);
});

test('timeLimitMs doubles after each timeout, up to 60 s, and is four times the duration of a slow answer', () => {
	const quick = after([100]);
	const failed = after([12_000], quick);
	expect(timeLimitMs(failed)).toBe(20_000);
	expect(timeLimitMs(after([25_000], failed))).toBe(40_000);
	expect(timeLimitMs(after([12_000], failed))).toBe(48_000);
	expect(timeLimitMs(after([70_000, 70_000, 70_000, 70_000, 70_000], quick))).toBe(60_000);
});

test('timeLimitMs stays between 10 and 60 s and returns to 10 s after 30 fast answers', () => {
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
