/**
Processes that cannot be checked: in another pid or time namespace, with an unreadable boot id, or on a cloned machine.
Missing heartbeats end a lease only after another process has watched for new heartbeats.
*/
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {Redis} from 'ioredis';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {canEnter, cloneOf, ownPids, ownTime, processesOnly, runIn, startIn} from '../../_helpers/machine/namespaces.js';
import {hasCompiler} from '../../_helpers/machine/compiled/nvml-stub.js';
import {freshEmbeddedBox, freshRedisBox, holders, isAlive, peek, recordsOf} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {createShiftedClock} from '../../_helpers/machine/compiled/shift-clock.js';
import {startSleeper} from '../run/_sleeper.js';
import {slowTest} from '../../_helpers/slow.js';

const leaseIn = async (box: Box) => {
	const [record] = (await peek(box)).gpus;
	return record?.kind === 'leased' ? record.lease : undefined;
};

/** Ends the job with the test, because the job outlives its killed wrapper. */
const endJobWithTest = async (box: Box, index: number): Promise<void> => {
	await eventually(async () => {
		const record = (await peek(box)).gpus[index];
		const pid = record?.kind === 'leased' ? record.lease.job?.pid : undefined;
		if (pid !== undefined) {
			onTestFinished(() => {
				process.kill(pid, 'SIGKILL');
			});
		}

		return pid !== undefined;
	});
};

const becomesHeld = async (box: Box): Promise<void> => eventually(async () => (await leaseIn(box))?.job !== undefined);

describe.skipIf(!canEnter(processesOnly))('commands in a namespace with an unreadable boot id', () => {
	slowTest('do not end the lease of a job outside the namespace', async () => {
		const box = await freshEmbeddedBox(2);
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '1']);
		expect(await runIn(processesOnly, box, 'status')).toMatchObject({exitCode: 0});
		expect(await runIn(processesOnly, box, 'reserve --gpus 2 --nonblock --short')).toMatchObject({exitCode: 3});
		expect(await holders(box)).toBe('0:- 1:RUN');
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		// A process without a boot id never ends the leases of dead processes.
		expect(await recordsOf(box)).toMatchObject([{endReason: 'signalled'}]);
	});

	test('store leases without a boot id, and commands outside do not end these leases', async () => {
		const box = await freshEmbeddedBox(2);
		startIn(processesOnly, box, 'run --gpu-ids 1 -- sleep 600');
		await endJobWithTest(box, 1);
		expect((await peek(box)).gpus[1]).toMatchObject({lease: {bootId: undefined}});
		expect(await box.run('status')).toMatchObject({exitCode: 0});
		expect(await box.run('reserve --gpus 2 --nonblock --short')).toMatchObject({exitCode: 3});
		expect(await holders(box)).toBe('0:- 1:RUN');
		expect(await recordsOf(box)).toEqual([]);
	});
});

describe.skipIf(!canEnter(ownTime))('commands in another time namespace', () => {
	slowTest('do not end jobs outside, and commands outside do not end jobs in the namespace', async () => {
		const box = await freshEmbeddedBox(2);
		await startSleeper(box, ['--gpu-ids', '0']);
		expect(await runIn(ownTime, box, 'status')).toMatchObject({exitCode: 0});
		startIn(ownTime, box, 'run --gpu-ids 1 -- sleep 600');
		await endJobWithTest(box, 1);
		expect(await box.run('status')).toMatchObject({exitCode: 0});
		expect(await holders(box)).toBe('0:RUN 1:RUN');
		expect(await recordsOf(box)).toEqual([]);
	});
});

describe.skipIf(!hasCompiler || !canEnter(ownPids))('a process in another pid namespace, after clock jumps,', () => {
	const hour = 3600;

	const atShiftedRedis = async () => {
		const clock = createShiftedClock();
		const server = await startRedis({environment: clock.environment});
		onTestFinished(async () => server.stop());
		const client = new Redis(server.port);
		onTestFinished(() => {
			client.disconnect();
		});
		return {clock, client, box: await freshRedisBox(server.port, 1)};
	};

	slowTest('keeps its lease or its queue position as long as it sends heartbeats', async () => {
		const {clock, box} = await atShiftedRedis();
		const job = startIn(ownPids, box, 'run --gpu-ids 0 -- sleep 600');
		await becomesHeld(box);
		const waiter = startIn(ownPids, box, 'reserve --short --gpu-ids 0');
		await eventually(() => waiter.stderr().includes('position 1 of 1'));
		for (const step of [20 * 60, -5 * hour, 0]) {
			clock.jump(step);
			expect(await box.run('status')).toMatchObject({exitCode: 0});
			expect(await holders(box)).toBe('0:RUN');

			await eventually(async () => {
				const {now, queue} = await peek(box);
				const lease = await leaseIn(box);
				const [waiting] = queue;
				return (
					lease !== undefined &&
					lease.silence === undefined &&
					Math.abs(now - lease.lastHeartbeat!) < 60 &&
					waiting?.kind === 'entry' &&
					waiting.entry.silence === undefined &&
					Math.abs(now - waiting.entry.lastHeartbeat) < 60
				);
			});
		}

		expect(await recordsOf(box)).toEqual([]);
		expect(job.stderr()).toBe('');
		// Like a killed container, which leaves no process that sends heartbeats.
		job.kill();
		await job.ended;
		waiter.kill();
	});

	slowTest('loses its lease if it is killed and sends no heartbeats', async () => {
		const {clock, client, box} = await atShiftedRedis();
		const job = startIn(ownPids, box, 'run --gpu-ids 0 -- sleep 600');
		await becomesHeld(box);
		job.kill();
		await job.ended;
		clock.jump(20 * 60);
		expect(await holders(box)).toBe('0:RUN');
		const key = 'canhazgpu:gpu:0';
		const record = JSON.parse((await client.get(key))!) as {silence: {seconds: number}; last_heartbeat: number};
		// Advances the watch by a minute, which leaves ten seconds.
		record.silence.seconds -= 60;
		await client.set(key, JSON.stringify(record));
		expect(await box.run('reserve --short --gpu-ids 0')).toMatchObject({exitCode: 0, stdout: '0\n'});
		expect(await recordsOf(box)).toMatchObject([{endReason: 'heartbeat-lost', endTime: record.last_heartbeat}]);
	});
});

const bootIdFile = path.join(process.env['TMPDIR'] ?? '/tmp', 'canhazgpu-test-other-boot-id');
writeFileSync(bootIdFile, '11111111-2222-4333-8444-555555555555\n');

describe.skipIf(!canEnter(cloneOf(bootIdFile)))('on a clone of this machine', () => {
	slowTest('a job keeps its lease, and every command names the duplicate machine-id', async () => {
		const box = await freshEmbeddedBox(2);
		const {pid} = await startSleeper(box, ['--gpu-ids', '0']);
		for (const words of ['status', 'reserve --gpus 1 --nonblock --short', 'reserve --gpus 2 --short', 'run -- true']) {
			const {exitCode, stderr} = await runIn(cloneOf(bootIdFile), box, words);
			expect(exitCode).toBe(4);
			expect(stderr).toMatch(
				/Another machine with the same machine-id \([\da-f]{32}\) uses the pool in .*\n.*systemd-machine-id-setup/v,
			);
		}

		const {stdout} = await runIn(cloneOf(bootIdFile), box, 'doctor');
		expect(stdout).toMatch(/✗ pool +Another machine with the same machine-id/v);
		expect(await holders(box)).toBe('0:RUN 1:-');
		expect(isAlive(pid)).toBe(true);
		expect(await recordsOf(box)).toEqual([]);
	});
});
