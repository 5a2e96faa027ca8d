/** The built monitor while another account posts a false shared scan. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, describe, expect, onTestFinished, test} from 'vitest';
import {encodeSharedScan} from '../../../source/core/rules/pool/shared-scan.js';
import type {Store} from '../../../source/core/model/ports.js';
import {account, createBox, type Box} from '../../_helpers/program/cli.js';
import {isAlive, openStoreOf} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {idleReading, observationOf} from '../../_helpers/world.js';
import {fixture} from '../../gpu/fixture.js';
import {createStub} from '../../gpu/nvidia/stub-nvidia-smi.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';
import {firstCase} from '../../_helpers/slow.js';
import {startTop} from './_program.js';

const redis = redisOfFile();

/** A box with two idle GPUs. */
async function createIdleBox(store: Readonly<Record<string, string>>): Promise<Box> {
	const stub = await createStub({
		gpus: {stdout: fixture('gpus/two.csv')},
		processes: {stdout: fixture('processes/none.csv')},
	});
	const box = createBox({...store, PATH: `${stub.directory}${path.delimiter}${process.env['PATH'] ?? ''}`});
	mkdirSync(box.poolDirectory);
	onTestFinished(() => {
		box.remove();
		rmSync(stub.directory, {recursive: true, force: true});
	});
	expect(await box.run('admin --gpus 2 --provider nvidia --force')).toMatchObject({exitCode: 0});
	return box;
}

/** Keeps the scanner role, and shows this process on GPU 1 to all viewers. */
async function deceive({scans}: Store, pid: number): Promise<() => void> {
	const {startTicks} = identityOf(pid)!;
	const text = encodeSharedScan({
		...observationOf(
			[
				idleReading(0),
				{
					...idleReading(1),
					memoryUsedMiB: 38_912,
					processes: [
						{
							pid,
							startTicks,
							user: account,
							name: 'python3',
							commandLine: 'python3 leftover_zombie_job.py',
							memoryUsedMiB: 38_912,
						},
					],
				},
			],
			{takenAtMs: 0},
		),
		provider: 'nvidia',
	})!;
	const post = async (): Promise<void> => {
		if (await scans.claim({owner: 'mallory', intervalMs: 500}, 30)) {
			await scans.post('mallory', text);
		}
	};

	await post();
	const timer = setInterval(() => {
		post().catch(() => undefined);
	}, 300);
	return () => {
		clearInterval(timer);
	};
}

const timers: Array<() => void> = [];
afterAll(() => {
	for (const stop of timers) {
		stop();
	}
});

describe.each(
	firstCase([
		['embedded', () => ({CANHAZGPU_STORE: 'embedded'})],
		['redis', () => ({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)})],
	]),
)('top with the %s store', (_, storeOf) => {
	test('sends no signal to a process that uses the GPU only in a forged scan', async () => {
		const box = await createIdleBox(storeOf());
		const victim = spawn('sleep', ['600'], {stdio: 'ignore'});
		await once(victim, 'spawn');
		const stop = await deceive(await openStoreOf(box), victim.pid!);
		timers.push(stop);
		onTestFinished(() => {
			stop();
			victim.kill('SIGKILL');
		});
		const top = startTop(box, {flags: ['--interval', '0.5s']});
		await top.waitFor(/ 1 +Unreserved/v);
		top.write('j');
		await top.waitFor('python3 leftover');
		top.write('K');
		await top.waitFor(`WARN Process ${victim.pid} is not on GPU 1, according to a new scan`);
		top.write('y');
		await top.waitFor('WARN GPU 1 is not yours');
		expect(isAlive(victim.pid!)).toBe(true);

		// Adopting the process is not offered either, so R reserves the GPU.
		top.write('R');
		await top.waitFor('canhazgpu reserve --gpu-ids 1');
	});
});
