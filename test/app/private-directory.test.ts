import {chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {openPrivateDirectory} from '../../source/app/private-directory.js';

const host = {machineId: 'machine'};

function places(): {readonly runtime: string; readonly state: string} {
	const home = mkdtempSync(path.join(tmpdir(), 'chg-private-'));
	const [runtime, state] = [path.join(home, 'runtime'), path.join(home, 'state')];
	mkdirSync(runtime, {mode: 0o700});
	vi.stubEnv('XDG_RUNTIME_DIR', runtime);
	vi.stubEnv('XDG_STATE_HOME', state);
	onTestFinished(() => {
		vi.unstubAllEnvs();
		rmSync(home, {recursive: true, force: true});
	});
	return {runtime, state};
}

// eslint-disable-next-line no-bitwise -- permissions are bits
const modeOf = (directory: string): number => lstatSync(directory).mode & 0o777;

test('openPrivateDirectory returns a directory in XDG_RUNTIME_DIR and changes its mode from 777 to 700', () => {
	const {runtime} = places();
	const directory = path.join(runtime, 'canhazgpu');
	mkdirSync(directory);
	chmodSync(directory, 0o777);
	expect(openPrivateDirectory(host)).toBe(directory);
	expect(modeOf(directory)).toBe(0o700);
});

test.each(['', 'relative', '/nowhere/at/all'])(
	'openPrivateDirectory falls back to XDG_STATE_HOME if XDG_RUNTIME_DIR is %j',
	(given) => {
		const {state} = places();
		vi.stubEnv('XDG_RUNTIME_DIR', given);
		const directory = path.join(state, 'canhazgpu', 'machine');
		expect(openPrivateDirectory(host)).toBe(directory);
		expect(modeOf(directory)).toBe(0o700);
	},
);

test('openPrivateDirectory throws if other accounts could replace the directory or if it is a symbolic link', () => {
	const {runtime} = places();
	chmodSync(runtime, 0o777);
	expect(() => openPrivateDirectory(host)).toThrow(/any account can replace directories/v);
	chmodSync(runtime, 0o700);
	symlinkSync('/tmp', path.join(runtime, 'canhazgpu'));
	expect(() => openPrivateDirectory(host)).toThrow(/is not a directory|any account/v);
});
