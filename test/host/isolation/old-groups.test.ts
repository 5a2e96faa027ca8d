/** Isolation by systemd with control groups of version 1, as on older machines. */
import {mkdtempSync, rmSync, existsSync, readdirSync} from 'node:fs';
import {spawn} from 'node:child_process';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {makeNvidiaDevices} from '../../_helpers/machine/stand-in-devices.js';
import {hasOldGroups, hasSystemd, startSystemd} from '../../_helpers/machine/systemd.js';
import {answersOf, buildDriver, driverIn, openedIn, openScript, tryAll} from './_driving.js';

test.runIf(hasSystemd() && hasOldGroups())('isolation with cgroups v1 lets a job open only its own GPUs', async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'old-groups-'));
	await buildDriver(directory);
	const box = makeNvidiaDevices([2, 0, 1], {}, {hasOwnNumbers: true});
	const systemd = await startSystemd([directory, box.root], {version: 1});
	onTestFinished(async () => {
		await systemd.stop();
		for (const made of [directory, box.root]) {
			rmSync(made, {recursive: true});
		}
	});
	const [program, ...words] = [...systemd.entrance, 'env', '-C', '/', ...driverIn(directory)];
	const driver = spawn(program, words, {
		env: {PATH: '/usr/bin:/bin:/usr/sbin:/sbin'},
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	const granted = (...indices: readonly number[]) =>
		indices.map((index) => ({index, pciBusId: box.gpus[index]!.pciBusId}));
	const plain = ['null', 'zero', 'urandom', 'tty', 'ptmx'].map((name) => `/dev/${name}`);
	const request = {root: box.root, fence: 'systemd'} as const;
	const answers = await answersOf(driver, [
		{...request, granted: granted(0), command: tryAll(box)},
		{...request, granted: granted(1, 2), command: tryAll(box)},
		{...request, granted: granted(0), command: ['sh', '-c', openScript, 'sh', ...plain]},
		{...request, granted: granted(0, 1, 2), command: ['sh', '-c', openScript, 'sh', ...plain]},
		{...request, granted: granted(0), command: ['cat', '/proc/self/cgroup']},
		{...request, granted: granted(0), command: ['sh', '-c', 'kill -INT $$']},
	]);
	expect(answers.map(({problem, fence}) => problem ?? fence)).toEqual([
		'systemd',
		'systemd',
		'systemd',
		undefined,
		'systemd',
		'systemd',
	]);
	expect(openedIn(box, answers[0]!)).toEqual([...box.gpus[0]!.nodes, ...box.common].toSorted());
	expect(openedIn(box, answers[1]!)).toEqual([...box.gpus[1]!.nodes, ...box.gpus[2]!.nodes, ...box.common].toSorted());
	expect(answers[2]!.output).toBe(answers[3]!.output);
	expect(answers[4]!.output).toMatch(/:devices:\/system\.slice\/canhazgpu-\d+-[\w\-]+\.scope$/mv);
	expect(answers[4]!.output).toMatch(/:name=systemd:\/system\.slice\/canhazgpu-\d+-[\w\-]+\.scope$/mv);
	expect(answers[5]!.end).toBe('SIGINT');
	const slice = path.join(systemd.directory, 'system.slice');
	await eventually(() => !existsSync(slice) || readdirSync(slice).every((name) => !name.startsWith('canhazgpu-')));
});
