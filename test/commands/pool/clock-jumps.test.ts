/** Jobs, leases and the queue survive jumps of the clock of Redis or of the program. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {hasCompiler} from '../../_helpers/machine/compiled/nvml-stub.js';
import {freshRedisBox, holders, isAlive, peek, recordsOf, start} from '../../_helpers/program/processes.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {createShiftedClock} from '../../_helpers/machine/compiled/shift-clock.js';
import {startSleeper} from '../run/_sleeper.js';
import {slowTest} from '../../_helpers/slow.js';

const hour = 3600;

describe.skipIf(!hasCompiler)('clock jumps', () => {
	const atShiftedRedis = async (gpuCount: number) => {
		const clock = createShiftedClock();
		const server = await startRedis({environment: clock.environment});
		onTestFinished(async () => server.stop());
		return {clock, box: await freshRedisBox(server.port, gpuCount)};
	};

	slowTest('a forward jump of the Redis clock expires reservations but ends no job', async () => {
		const {clock, box} = await atShiftedRedis(3);
		await box.run('reserve --gpu-ids 1 --duration 1h');
		await box.run('reserve --gpu-ids 2 --duration 3h');
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const [, reserved] = (await peek(box)).gpus;
		clock.jump(2 * hour);
		expect(await holders(box)).toBe('0:RUN 1:- 2:MANUAL');
		const [record] = await recordsOf(box);
		expect(record).toMatchObject({
			gpuId: 1,
			endReason: 'expired',
			endTime: reserved?.kind === 'leased' ? reserved.lease.expiryTime : 0,
		});
		expect(isAlive(pid)).toBe(true);
		expect(wrapper.stderr()).toBe('');
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect(await holders(box)).toBe('0:- 1:- 2:MANUAL');
		expect(await recordsOf(box)).toContainEqual(expect.objectContaining({gpuId: 0, endReason: 'signalled'}));
	});

	test('a backward jump of the Redis clock keeps the queue order and shows no negative age', async () => {
		const {clock, box} = await atShiftedRedis(2);
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		await box.run('reserve --gpu-ids 1 --duration 1h');
		const first = start(box, 'reserve --short --gpu-ids 1');
		await first.says(/position 1 of 1/v);
		clock.jump(-3 * hour);
		const second = start(box, 'reserve --short --gpu-ids 1');
		await second.says(/position 2 of 2/v);
		const {stdout} = await box.run('status --json');
		const rows = JSON.parse(stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>;
		expect(rows.map(({type}) => type)).toEqual(['RUN', 'MANUAL']);
		expect(stdout).not.toMatch(/: "?-\d/v);
		expect((await box.run('queue')).stdout).not.toMatch(/-\d+[hms]/v);
		await box.run('release --gpu-ids 1');
		expect(await first.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		await box.run('release --gpu-ids 1');
		expect(await second.ended).toMatchObject({exitCode: 0, stdout: '1\n'});
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		const records = await recordsOf(box);
		expect(records.filter(({startTime, endTime}) => endTime < startTime)).toEqual([]);
	});

	slowTest('a forward jump of the local clock ends neither reservations nor jobs', async () => {
		const server = await startRedis();
		onTestFinished(async () => server.stop());
		const box = await freshRedisBox(server.port, 2);
		const clock = createShiftedClock();
		await box.run('reserve --gpu-ids 1 --duration 1h');
		const job = start(
			box,
			['run', '--timeout', '30m', '--', 'sh', '-c', 'until test -e go; do sleep 0.05; done'],
			clock.environment,
		);
		await eventually(async () => (await peek(box)).gpus[0]?.kind === 'leased');
		clock.jump(5 * hour);
		const {stdout} = await box.run('status --json', clock.environment);
		expect(stdout).toContain('"type": "MANUAL"');
		expect((await box.run('doctor', clock.environment)).stdout).toMatch(
			/⚠ clock +The clocks .* differ by 1(?:7999|800\d) s/v,
		);
		await box.run('release --gpu-ids 1', clock.environment);
		expect((await recordsOf(box)).map(({endReason}) => endReason)).toEqual(['released']);
		writeFileSync(path.join(box.home, 'go'), '');
		expect(await job.ended).toMatchObject({exitCode: 0, stderr: ''});
	});
});
