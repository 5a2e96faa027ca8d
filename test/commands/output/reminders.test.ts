/** Any running command sends a reminder, and only once. */
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {createHost} from '../../../source/host/host.js';
import {eventually} from '../../_helpers/eventually.js';
import {holdEnding} from '../../_helpers/program/ending.js';
import {freshRedisBox, peek, start} from '../../_helpers/program/processes.js';
import {account} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

/** Makes a box whose notifications go to a file, one per line. */
async function boxWithReminders(gpuCount: number) {
	const box = await freshRedisBox(redis.port, gpuCount);
	const file = path.join(box.home, 'notices');
	// The name has a space, which a shell would split.
	const script = path.join(box.home, 'tell me.mjs');
	writeFileSync(
		script,
		"import {appendFileSync} from 'node:fs'; for await (const text of process.stdin.setEncoding('utf8')) appendFileSync(process.argv[2], text);",
	);
	writeFileSync(
		path.join(box.home, '.canhazgpu.yaml'),
		JSON.stringify({notify: {command: [process.execPath, script, file]}}),
	);
	const reminders = (): ReadonlyArray<Readonly<Record<string, unknown>>> =>
		existsSync(file)
			? readFileSync(file, 'utf8')
					.trim()
					.split('\n')
					.map((line) => JSON.parse(line) as Record<string, unknown>)
			: [];
	return {box, reminders};
}

slowTest('three running jobs together send only one reminder about another reservation that ends soon', async () => {
	const {box, reminders} = await boxWithReminders(4);
	await holdEnding(box, 3, 'notebook \u{1B}[31m');
	const words = ['run', '--', 'sh', '-c', 'until [ -e done ]; do sleep 0.05; done'];
	const jobs = Array.from({length: 3}, () => start(box, words));
	await eventually(() => reminders().length > 0);
	// The other jobs check the reservation in the meantime.
	await sleep(3000);
	writeFileSync(path.join(box.home, 'done'), '');
	for (const ended of await Promise.all(jobs.map(async (job) => job.ended))) {
		expect(ended).toMatchObject({exitCode: 0, stderr: ''});
	}

	expect(reminders()).toEqual([
		{
			kind: 'ending',
			account,
			host: createHost().hostname,
			gpu_ids: [3],
			lease_id: 'lease-1',
			remaining_seconds: expect.any(Number) as unknown,
			note: 'notebook \u{1B}[31m',
			text: expect.stringMatching(
				/^canhazgpu on \S+: your reservation of GPU 3 \(notebook\) ends in 9m\. To keep it: canhazgpu extend --gpu-ids 3 --duration 1h$/v,
			) as unknown,
		},
	]);
	const held = (await peek(box)).gpus[3];
	expect(held).toMatchObject({lease: {leaseId: 'lease-1', note: 'notebook \u{1B}[31m'}});
});

test.each(
	firstCase([
		['reserve', 'reserve --duration 1m'],
		['run with a command that ends at once', 'run -- true'],
	]),
)('%s notifies its user of a grant after a wait, but not of a grant at once', async (_, words) => {
	const {box, reminders} = await boxWithReminders(1);
	await box.run('reserve --duration 2m');
	const waiter = start(box, words);
	await waiter.says(/waiting/iv);
	await box.run('release');
	expect(await waiter.ended).toMatchObject({exitCode: 0});
	await eventually(() => reminders().length > 0);
	expect(reminders()).toMatchObject([{kind: 'served', account, gpu_ids: [0]}]);
});

slowTest('notify.command in the config file of the current directory is not run', async () => {
	const {box, reminders} = await boxWithReminders(1);
	const foreign = path.join(box.home, 'foreign');
	mkdirSync(foreign);
	const trap = path.join(foreign, 'trapped');
	writeFileSync(path.join(foreign, '.canhazgpu.yaml'), JSON.stringify({notify: {command: ['/bin/touch', trap]}}));
	await box.run('reserve --duration 2m');
	const waiter = start({...box, home: foreign}, 'reserve --duration 1m');
	await eventually(async () => (await peek(box)).queue.length === 1);
	await box.run('release');
	const {stderr} = await waiter.ended;
	expect(stderr).toMatch(
		/notify\.command is ignored in this file, and allowed only in your own config file or in \/etc\/canhazgpu\.yaml|ignored: root does not read settings/v,
	);
	await eventually(() => reminders().length === 1);
	expect(existsSync(trap)).toBe(false);
});

slowTest('a webhook that never answers delays neither the release of the GPUs nor the exit of run', async () => {
	const box = await freshRedisBox(redis.port, 2);
	const asked = Promise.withResolvers<void>();
	const silent = createServer(() => {
		asked.resolve();
	}).listen(0, '127.0.0.1');
	await once(silent, 'listening');
	onTestFinished(() => {
		silent.closeAllConnections();
		silent.close();
	});
	const {port} = silent.address() as AddressInfo;
	writeFileSync(
		path.join(box.home, '.canhazgpu.yaml'),
		JSON.stringify({notify: {webhook: `http://user:hunter2@127.0.0.1:${port}/`}}),
	);
	await holdEnding(box, 1, 'notebook \u{1B}[31m');
	const done = path.join(box.home, 'done');
	const job = start(box, ['run', '--', 'sh', '-c', `until [ -e ${done} ]; do sleep 0.05; done`]);
	await asked.promise;
	writeFileSync(done, '');
	const beganMs = performance.now();
	const {exitCode, stderr} = await job.ended;
	// A call that waits for the answer would take five seconds.
	expect(performance.now() - beganMs).toBeLessThan(3500);
	expect(exitCode).toBe(0);
	expect(stderr).toMatch(/^canhazgpu: a reminder could not be sent: notify\.webhook: .*abort.*\n$/v);
	expect((await peek(box)).gpus[0]).toMatchObject({kind: 'free'});
});
