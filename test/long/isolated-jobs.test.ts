/** Runs the tests of jobs (signals, terminals, exit codes, time limits) with isolated jobs. */
import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {fences, type Fence} from '../../source/core/model/isolation.js';
import {controlGroupsOf} from '../../source/host/isolation/control-groups.js';
import {canMakeDevices, makeNvidiaDevices} from '../_helpers/machine/stand-in-devices.js';
import {hasSystemd, startSystemd} from '../_helpers/machine/systemd.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Excludes one test: a missing interpreter is reported by nsenter instead of this program, with the same exit code. */
const others = '^(?!.*no-interpreter is refused)';

const fencesHere: readonly Fence[] = canMakeDevices()
	? fences.filter(
			(fence) =>
				fence === 'bwrap' ||
				(fence === 'systemd'
					? hasSystemd()
					: controlGroupsOf('self').some(({controllers}) => controllers.includes('devices'))),
		)
	: [];

test.each(fencesHere)('the tests in test/host/job pass when their jobs are isolated by %s', async (fence) => {
	const box = makeNvidiaDevices([1, 0], {}, {hasOwnNumbers: true});
	onTestFinished(() => {
		rmSync(box.root, {recursive: true, force: true});
	});
	const systemd = fence === 'systemd' ? await startSystemd([box.root]) : undefined;
	onTestFinished(async () => systemd?.stop());
	const [program, ...words] = [
		...(systemd?.entrance ?? []),
		'env',
		'-C',
		root,
		// The isolated job has another /tmp.
		'TMPDIR=/tmp',
		'npx',
		'vitest',
		'run',
		'--config',
		'.config/vitest.config.ts',
		'--testNamePattern',
		others,
		'test/host/job/',
	];
	const {status, stdout, stderr} = spawnSync(program, words, {
		env: {...process.env, STAND_IN: box.root, FENCE: fence, NO_COLOR: '1'},
		encoding: 'utf8',
		maxBuffer: 64 * 1024 * 1024,
	});
	expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
	expect(stdout).toMatch(/Tests {2}\d{2,} passed/v);
});
