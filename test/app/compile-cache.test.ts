import {chmodSync, existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createBox} from '../_helpers/program/cli.js';

const setUp = () => {
	const box = createBox({XDG_CACHE_HOME: ''});
	onTestFinished(() => {
		box.remove();
	});
	return {box, cache: path.join(box.home, '.cache', 'canhazgpu')};
};

test('the program caches compiled code in ~/.cache/canhazgpu with mode 700', async () => {
	const {box, cache} = setUp();
	expect(await box.run('status --help')).toMatchObject({exitCode: 0, stderr: ''});
	expect(statSync(cache).mode.toString(8)).toMatch(/700$/v);
	expect(readdirSync(cache)).not.toEqual([]);
	expect(await box.run('status --help')).toMatchObject({exitCode: 0, stderr: ''});
});

test.each([
	['is writable by every account', 0o777],
	['is read-only', 0o555],
])('status --help succeeds without a warning if the home directory %s', async (_what, mode) => {
	const {box, cache} = setUp();
	chmodSync(box.home, mode);
	expect(await box.run('status --help')).toMatchObject({exitCode: 0, stderr: ''});
	// Root can write everywhere.
	expect(existsSync(cache)).toBe(mode === 0o555 && process.geteuid?.() === 0);
});
