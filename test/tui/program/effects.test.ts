/** The built monitor with other programs: in the queue, on processes, and on its command line. */
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {createEmbeddedBox, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {createUsedBox} from '../../_helpers/program/used-box.js';
import {fixture} from '../../gpu/fixture.js';
import {isShown, keys, startTop, statusOf} from './_program.js';

const redis = redisOfFile();

const queueOf = async (box: Box): Promise<readonly unknown[]> => {
	const {stdout} = await box.run('queue --json');
	return (JSON.parse(stdout) as {readonly entries: readonly unknown[]}).entries;
};

test('top waits in the queue, reserves a GPU and undoes a release', async () => {
	const box = await createRedisBox(redis.port, 2);
	onTestFinished(() => {
		box.remove();
	});
	expect(await box.run('reserve --gpu-ids 0,1 --duration 2h --note first')).toMatchObject({exitCode: 0});
	const top = startTop(box, {environment: {XDG_STATE_HOME: path.join(box.home, 'state')}});
	await top.waitFor(isShown(2));

	top.write('w');
	await top.waitFor('Wait for GPUs');
	top.write(`${keys.tab}3h${keys.enter}`);
	await top.waitFor(' WAIT Waiting for 1 GPU: position 1 of 1, got 0/1');
	expect(await queueOf(box)).toMatchObject([{requested_count: 1, reservation_type: 'manual'}]);
	expect(await box.run('release --gpu-ids 1')).toMatchObject({exitCode: 0});
	await top.waitFor(' OK reserved GPU 1 for 3h 0m 0s');
	expect(await queueOf(box)).toEqual([]);
	expect((await statusOf(box))[1]).toMatchObject({status: 'IN_USE', type: 'MANUAL'});

	// The cursor is on GPU 0.
	const before = (await statusOf(box))[0]!;
	top.write('x');
	await top.waitFor('Release GPU 0 now? y/N');
	top.write('y');
	await top.waitFor(/OK released GPU 0 .* z Undo release \(\d+s\)/v);
	expect((await statusOf(box))[0]).toMatchObject({status: 'AVAILABLE'});
	top.write('z');
	await top.waitFor(' OK reserved GPU 0 again');
	const after = (await statusOf(box))[0]!;
	expect(after).toMatchObject({status: 'IN_USE', note: 'first', expiry_time: before['expiry_time']});

	// Z also undoes a release by a command, and two releases at once.
	top.write(':release\r');
	await top.waitFor(/OK Released 2 GPU\(s\): \[0 1\] .* z Undo release \(\d+s\)/v);
	top.write('z');
	await top.waitFor(' OK reserved GPUs 0,1 again');
	expect((await statusOf(box)).map(({expiry_time: end}) => end)).toEqual([before['expiry_time'], expect.any(String)]);
	top.write('  x');
	await top.waitFor('Release GPUs 0,1 now? y/N');
	top.write('n');
	await top.waitFor((screen) => !screen.includes('y/N'));

	// On the command line, a wrong line stays, and a waiting command returns the keyboard.
	top.write(':reserve --gpu 1\r');
	await top.waitFor('ERR reserve has no flag --gpu  Did you mean --gpus?');
	top.write(keys.escape);
	await top.waitFor(/q Quit$/v);
	top.write(':rese\t-g 2\r');
	await top.waitFor(' WAIT Waiting for 2 GPUs: position 1 of 1');
	expect(readFileSync(path.join(box.home, 'state/canhazgpu/history'), 'utf8')).toBe(
		'release\nreserve --gpu 1\nreserve -g 2\n',
	);
	top.write('q');
	await top.waitFor('1 request waits in the queue from this monitor');
	top.write('n');
	await top.waitFor((screen) => !screen.includes('y/N'));
	expect(await queueOf(box)).toHaveLength(1);
	process.kill(top.pid, 'SIGTERM');
	expect(await top.exit).toMatchObject({exitCode: 143});
	expect(top.isAlternate()).toBe(false);
	expect(await queueOf(box)).toEqual([]);
});

test('top loses its queue position soon after it was killed by SIGKILL', async () => {
	const box = await createEmbeddedBox(1);
	onTestFinished(() => {
		box.remove();
	});
	expect(await box.run('reserve')).toMatchObject({exitCode: 0});
	const top = startTop(box);
	await top.waitFor(isShown(1));
	top.write('w');
	await top.waitFor('Wait for GPUs');
	top.write(keys.enter);
	await top.waitFor(' WAIT ');
	expect(await queueOf(box)).toHaveLength(1);
	process.kill(top.pid, 'SIGKILL');
	await top.exit;
	await eventually(async () => (await queueOf(box)).length === 0);
});

slowTest('the key R reserves the GPU of a process, and the key K ends the process and the reservation', async () => {
	const {box, stub, job} = await createUsedBox();
	const top = startTop(box);
	await top.waitFor(/ 1 +Unreserved/v);
	top.write('j');
	await top.waitFor('Detail GPU 1');
	top.write('R');
	await top.waitFor(`$ canhazgpu reserve --pid ${job.pid}`);
	top.write('y');
	await top.waitFor(`OK adopted process ${job.pid} (sleep) on GPU 1`);
	await top.waitFor(/ 1 +Mine .* RUN /v);
	expect((await statusOf(box))[1]).toMatchObject({status: 'IN_USE', type: 'RUN'});

	const ended = once(job, 'exit');
	top.write('K');
	await top.waitFor(`Send SIGTERM to process ${job.pid}? y/N`);
	top.write(keys.tab);
	await top.waitFor(`$ kill -INT ${job.pid}`);
	top.write('y');
	expect((await ended)[1]).toBe('SIGINT');
	await stub.answer({gpus: {stdout: fixture('gpus/two.csv')}, processes: {stdout: fixture('processes/none.csv')}});
	await top.waitFor(`OK sent SIGINT to process ${job.pid}`);
	// The lease ended with the process.
	await top.waitFor(/ 1 +Unreserved/v);

	// SIGKILL ends the GPU tool.
	await stub.answer({gpus: {before: 'kill -9 $$'}, processes: {before: 'kill -9 $$'}});
	const failed = await top.waitFor('SCAN FAILED');
	expect(failed.at(-1)).toMatch(/ q Quit$/v);
	await stub.answer({gpus: {stdout: fixture('gpus/two.csv')}, processes: {stdout: fixture('processes/none.csv')}});
	await top.waitFor((screen) => !screen.includes('FAILED'));
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
});
