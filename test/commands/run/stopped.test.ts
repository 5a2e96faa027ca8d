/** A stopped `run` that sends no heartbeats, and a machine that was restarted. */
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {expect, onTestFinished, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, holders, isAlive, peek, recordsOf, stopBetween} from '../../_helpers/program/processes.js';
import {startSleeper} from './_sleeper.js';

type Fields = Record<string, unknown>;

/** Changes the record of GPU 0. */
function rewrite(box: Box, change: (fields: Fields) => Fields): void {
	const database = new DatabaseSync(path.join(box.poolDirectory, 'pool.sqlite'));
	const {raw} = database.prepare('SELECT raw FROM gpus WHERE gpu = 0').get() as {raw: string};
	const next = JSON.stringify(change(JSON.parse(raw) as Fields));
	database.prepare('UPDATE gpus SET raw = ? WHERE gpu = 0').run(next);
	database.close();
}

/** Makes the last heartbeat two hours old. */
const silent = (fields: Fields): Fields => {
	const lastHeartbeat = Number(fields['last_heartbeat']) - 7200;
	return {...fields, start_time: lastHeartbeat - 60, last_heartbeat: lastHeartbeat};
};

/** Makes the processes invisible, like those in a container. */
const unseen = (fields: Fields): Fields => ({...fields, pid_ns: '1', job_pid_ns: '1'});

/** Moves the start of the watch for heartbeats into the past. */
const watchedFor = (seconds: number, fields: Fields): Fields => {
	const silence = fields['silence'] as Fields;
	return {...fields, silence: {...silence, seconds: Number(silence['seconds']) - seconds}};
};

async function startStopped() {
	const box = await freshEmbeddedBox(2);
	const {wrapper, pid} = await startSleeper(box);
	await stopBetween(box, wrapper);
	onTestFinished(() => {
		wrapper.kill('SIGCONT');
	});
	return {box, wrapper, pid};
}

test('a run that was stopped for two hours keeps its lease if its process is visible', async () => {
	const {box, wrapper, pid} = await startStopped();
	rewrite(box, silent);
	expect(await holders(box)).toBe('0:RUN 1:-');
	expect(await box.run('reserve --gpu-ids 0 --nonblock')).toMatchObject({exitCode: 3});
	wrapper.kill('SIGCONT');
	// The wrapper sends a heartbeat at once.
	await eventually(async () => {
		const [record] = (await peek(box)).gpus;
		return record?.kind === 'leased' && Date.now() / 1000 - record.lease.lastHeartbeat! < 60;
	});
	process.kill(pid, 'SIGTERM');
	expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
	expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'signalled'}]);
});

test('a run that was stopped for two hours loses its lease if its process is hidden, and reports the loss', async () => {
	const {box, wrapper, pid} = await startStopped();
	rewrite(box, (fields) => unseen(silent(fields)));
	const [before] = (await peek(box)).gpus;
	// The first reader starts watching, and a reader more than one heartbeat later ends the lease.
	expect(await holders(box)).toBe('0:RUN 1:-');
	rewrite(box, (fields) => watchedFor(60, fields));
	expect(await holders(box)).toBe('0:RUN 1:-');
	rewrite(box, (fields) => watchedFor(10, fields));
	expect(await holders(box)).toBe('0:- 1:-');
	expect(await recordsOf(box)).toMatchObject([
		{endReason: 'heartbeat-lost', endTime: before?.kind === 'leased' ? before.lease.lastHeartbeat : 0},
	]);
	expect(await box.run('reserve --gpu-ids 0 --short --user later')).toMatchObject({exitCode: 0, stdout: '0\n'});
	wrapper.kill('SIGCONT');
	await wrapper.says(/WARNING: the command continues without its reservation: GPU 0 now belongs to /v);
	expect(isAlive(pid)).toBe(true);
	process.kill(pid, 'SIGTERM');
	expect(await wrapper.ended).toMatchObject({exitCode: 143});
	// A GPU that now belongs to somebody else is not touched.
	expect((await peek(box)).gpus[0]).toMatchObject({kind: 'leased', lease: {user: 'later', type: 'manual'}});
	expect(await recordsOf(box)).toHaveLength(1);
});

test('the first read after a reboot ends the lease of a job, even if its pids are in use again', async () => {
	const box = await freshEmbeddedBox(2);
	const {wrapper} = await startSleeper(box);
	await stopBetween(box, wrapper);
	onTestFinished(() => {
		wrapper.kill('SIGCONT');
	});
	const beforeBoot = Math.floor(Date.now() / 1000 - os.uptime()) - 60;
	rewrite(box, (fields) => ({
		...fields,
		start_time: beforeBoot - 60,
		last_heartbeat: beforeBoot,
		boot_id: 'the-boot-before',
	}));
	const [before] = (await peek(box)).gpus;
	expect(await holders(box)).toBe('0:- 1:-');
	expect(await recordsOf(box)).toMatchObject([
		{endReason: 'reboot', endTime: before?.kind === 'leased' ? before.lease.lastHeartbeat : 0},
	]);
});
