import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {createToolTime} from '../../source/app/gpus/tool-time.js';
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

/** A process that goes on, and a tool in it that needs so long and is ended by the limit. */
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

test('a process that goes on while the tool becomes slow gives it more time by itself', async () => {
	const {time, scan} = startProcess();
	expect(await scan(100)).toBe('answered');
	expect(time.limitMs()).toBe(10_000);
	expect([await scan(25_000), await scan(25_000), await scan(25_000)]).toEqual(['ended', 'ended', 'answered']);
	expect(time.limitMs()).toBe(60_000);
});

test('what one process learned the next one knows; a limit that was enough again is no longer doubled', async () => {
	const first = startProcess();
	await first.scan(100);
	await first.scan(12_000);
	const second = startProcess();
	expect(second.time.limitMs()).toBe(20_000);
	expect(await second.scan(100)).toBe('answered');
	expect(first.time.limitMs()).toBe(10_000);
});

test('a limit that is configured stands, and nothing is learned', async () => {
	const {time, scan} = startProcess(5);
	expect([await scan(6000), await scan(6000)]).toEqual(['ended', 'ended']);
	expect(time.limitMs()).toBe(5000);
	expect(startProcess().time.limitMs()).toBe(40_000);
});
