/** Everything that the tests of jobs say of signals, terminals, exit codes and time limits holds for an isolated job, too. */
import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {canMakeDevices, makeNvidiaDevices} from '../_helpers/machine/stand-in-devices.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Of an interpreter that is missing nsenter tells, and not this program. The exit code is the same. */
const others = '^(?!.*no-interpreter is refused)';

test.runIf(canMakeDevices())('the tests of jobs pass when their jobs are isolated', {timeout: 300_000}, () => {
	const box = makeNvidiaDevices([1, 0]);
	onTestFinished(() => {
		rmSync(box.root, {recursive: true, force: true});
	});
	const words = [
		'vitest',
		'run',
		'--config',
		'.config/vitest.config.ts',
		'--testNamePattern',
		others,
		'test/host/job/',
	];
	const {status, stdout, stderr} = spawnSync('npx', words, {
		cwd: root,
		env: {...process.env, STAND_IN: box.root, NO_COLOR: '1'},
		encoding: 'utf8',
		maxBuffer: 64 * 1024 * 1024,
	});
	expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
	expect(stdout).toMatch(/Tests {2}\d{2,} passed/v);
});
