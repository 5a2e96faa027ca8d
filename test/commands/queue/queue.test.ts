/** Processes that wait in the queue: progress and order. */
import {describe, expect, onTestFinished, test} from 'vitest';
import {
	freshEmbeddedBox,
	freshRedisBox,
	holders,
	peek,
	recordsOf,
	start,
	startAsJob,
} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {openShell} from '../../_helpers/machine/shell.js';
import {account} from '../../_helpers/program/cli.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

describe.each(
	firstCase([
		['embedded', async () => freshEmbeddedBox(2)],
		['redis', async () => freshRedisBox(redis.port, 2)],
	]),
)('with the %s store', (_, create) => {
	test('reserve --short prints one progress line per change on stderr and only the ids on stdout', async () => {
		const box = await create();
		await box.run('reserve --gpus 2 --duration 1h');
		const waiter = start(box, 'reserve --gpus 2 --short');
		await waiter.says(/^Waiting for 2 GPUs: position 1 of 1, got 0\/2, in about (?:59m \d+s|0h 59m \d+s|1h 0m 0s)\n$/v);
		await box.run('release --gpu-ids 1');
		await waiter.says(/position 1 of 1, got 1\/2 \[1\], in about/v);
		expect(waiter.stdout()).toBe('');
		await box.run('release --gpu-ids 0');
		const ran = await waiter.ended;
		expect(ran).toMatchObject({exitCode: 0, stdout: '0,1\n'});
		expect(ran.stderr).toMatch(/^Waiting for 2 GPUs: .*, got 0\/2, .*\n.*, got 1\/2 \[1\], .*\n$/v);
		expect((await peek(box)).queue).toEqual([]);
		expect(await recordsOf(box)).toMatchObject([{endReason: 'released'}, {endReason: 'released'}]);
	});

	slowTest('run waits for its GPU and then runs its command', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const waiter = start(box, ['run', '--gpu-ids', '1', '--', 'sh', '-c', 'echo "on $CUDA_VISIBLE_DEVICES"; exit 7']);
		await waiter.says(/^Waiting for GPU 1: position 1 of 1, got 0\/1, in about /v);
		await box.run('release');
		expect(await waiter.ended).toMatchObject({exitCode: 7, stdout: 'on 1\n'});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	test('reserve on a terminal shows a progress line while waiting and removes the line afterwards', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const shell = await openShell(box);
		shell.write('x=$(canhazgpu reserve -g 2 --short); echo "got <$x>"\r');
		await shell.waitFor(/[⠇⠋⠏⠙⠦⠧⠴⠸⠹⠼] Waiting for 2 GPUs: position 1 of 1, got 0\/2, in about .* · 0h 0m \ds/v);
		await box.run('release');
		await shell.waitFor('got <0,1>');
		expect(shell.screen().join('\n')).not.toContain('Waiting');
	});

	test('queue lists the waiting requests and what blocks them', async () => {
		const box = await create();
		expect(await box.run('queue')).toEqual({exitCode: 0, stdout: 'Nobody waits\n', stderr: ''});
		await box.run('reserve --gpu-ids 0 --duration 1h');
		const first = start(box, ['reserve', '--gpus', '2', '--duration', '2h', '--note', 'both', '--wait', '1d']);
		await first.says(/got 1\/2/v);
		const second = start(box, ['run', '--gpu-ids', '0', '--user', 'team', '--', 'true']);
		await second.says(/position 2 of 2/v);
		const {stdout: table} = await box.run('queue');
		const [header, , ...rows] = table.trimEnd().split('\n');
		const until = (who: string, rest = '') =>
			new RegExp(String.raw`^${who} until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d${rest}$`, 'v');
		const cells = (line: string) => line.split('│').map((cell) => cell.trim());
		expect(cells(header!)).toEqual([
			'#',
			'ID',
			'USER',
			'WANTS',
			'GOT',
			'TYPE',
			'WAITED',
			'ESTIMATE',
			'BLOCKED BY',
			'NOTE',
		]);
		expect(cells(rows[0]!)).toMatchObject(
			[
				'1',
				/./v,
				account,
				'2 GPUs',
				'1/2',
				'MANUAL',
				/^0h 0m \ds$/v,
				/^in about/v,
				until(`${account} on GPU 0`),
				'both',
			].map((cell) => (typeof cell === 'string' ? cell : (expect.stringMatching(cell) as unknown))),
		);
		expect(cells(rows[1]!)).toMatchObject([
			'2',
			expect.any(String),
			`${account} (team)`,
			'GPU 0',
			'0/1',
			'RUN',
			expect.any(String),
			expect.stringMatching(/^in about 2h 59m|^in about 3h/v),
			expect.stringMatching(until(`${account} on GPU 0`, `, #1 ${account}`)),
			'-',
		]);

		// The text depends on the time of day.
		const why = (await box.run('queue --why')).stdout.trimEnd().replaceAll(/(?:\d{4}-\d\d-\d\d )?\d\d:\d\d/gv, 'T');
		expect(why.replaceAll(/\b\d{1,3}h \d{1,2}m \d{1,2}s/gv, 'D').split('\n')).toEqual([
			`#1 ${account} waits for 2 GPUs and has GPU 1 already, D so far; expected: in about D`,
			`   ${account} has GPU 0 until T`,
			`#2 ${account} (team) waits for GPU 0, D so far; expected: in about D`,
			`   ${account} has GPU 0 until T`,
			`   #1 ${account} is ahead in the queue for GPU 0 until T`,
		]);
		expect(await box.run('queue --why --leave x')).toMatchObject({exitCode: 2, stdout: ''});
		const json = JSON.parse((await box.run('queue --json')).stdout) as {entries: Array<Record<string, unknown>>};
		const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/v) as unknown;
		const holder = {
			kind: 'lease',
			user: account,
			actual_user: account,
			gpu_ids: [0],
			ends_by: time,
			type: 'MANUAL',
			lease_id: expect.any(String) as unknown,
		};
		expect(json).toEqual({
			total_waiting: 2,
			total_gpus_requested: 3,
			total_gpus_allocated: 1,
			entries: [
				{
					id: expect.any(String) as unknown,
					user: account,
					actual_user: account,
					requested_count: 2,
					requested_ids: [],
					allocated_gpus: [1],
					reservation_type: 'manual',
					expiry_duration: 7_200_000_000_000,
					duration_seconds: 7200,
					note: 'both',
					enqueue_time: time,
					since: time,
					last_heartbeat: time,
					wait_timeout: time,
					position: 1,
					wait_seconds: expect.any(Number) as unknown,
					estimate: expect.any(Number) as unknown,
					estimate_seconds: expect.any(Number) as unknown,
					blocked_by: [holder],
				},
				{
					id: expect.any(String) as unknown,
					user: 'team',
					actual_user: account,
					requested_count: 1,
					requested_ids: [0],
					allocated_gpus: [],
					reservation_type: 'run',
					enqueue_time: time,
					since: time,
					last_heartbeat: time,
					position: 2,
					wait_seconds: expect.any(Number) as unknown,
					estimate: expect.any(Number) as unknown,
					estimate_seconds: expect.any(Number) as unknown,
					blocked_by: [
						holder,
						{
							kind: 'waiter',
							user: account,
							actual_user: account,
							gpu_ids: [0],
							ends_by: time,
							position: 1,
							id: expect.any(String) as unknown,
						},
					],
				},
			],
		});

		const id = json.entries[0]!['id'] as string;
		expect(await box.run('queue --leave nobody')).toMatchObject({exitCode: 1, stdout: ''});
		expect(await box.run(['queue', '--leave', `${id.slice(0, 12)}…`])).toEqual({
			exitCode: 0,
			stdout: 'Left the queue, releasing GPU(s): [1]\n',
			stderr: '',
		});
		const ran = await first.ended;
		expect(ran).toMatchObject({exitCode: 3, stdout: ''});
		expect(ran.stderr).toContain('Error: Somebody removed this request from the queue\n');
		await second.says(/position 1 of 1/v);
	});

	test('a later request for one GPU does not overtake an earlier request for two GPUs', async () => {
		const box = await create();
		await box.run('reserve --gpus 2');
		const first = start(box, 'reserve --gpus 2 --short');
		await first.says(/got 0\/2/v);
		await box.run('release --gpu-ids 0');
		expect(await box.run('reserve --nonblock')).toMatchObject({exitCode: 3, stdout: ''});
		const newcomer = start(box, 'run -- true');
		await newcomer.says(/position 2 of 2, got 0\/1/v);
		await first.says(/got 1\/2 \[0\]/v);
		await box.run('release --gpu-ids 1');
		expect(await first.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
		await newcomer.says(/position 1 of 1, got 0\/1/v);
		await box.run('release');
		expect(await newcomer.ended).toMatchObject({exitCode: 0});
	});

	slowTest('the first request, which is for GPU 1, does not block a later request that can use GPU 0', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 1');
		const picky = start(box, 'reserve --gpu-ids 1');
		await picky.says(/Waiting for GPU 1: position 1 of 1/v);
		expect(await box.run('reserve --short')).toEqual({exitCode: 0, stdout: '0\n', stderr: ''});
		expect(await box.run('reserve --nonblock --gpu-ids 1')).toMatchObject({exitCode: 3});
		picky.kill('SIGTERM');
		await picky.ended;
	});

	slowTest('a stopped reserve keeps its queue position without blocking later requests', async () => {
		const box = await create();
		await box.run('reserve --gpu-ids 0');
		const sleeper = await startAsJob(box, 'reserve --gpus 2 --short --duration 1h');
		await sleeper.says(/got 1\/2 \[1\]/v);
		// Ctrl-Z can arrive at any moment.
		sleeper.kill('SIGTSTP');
		onTestFinished(() => {
			sleeper.kill('SIGCONT');
		});
		// The later request is served, even with the GPUs that the sleeper held.
		const passing = start(box, ['run', '--gpu-ids', '1', '--', 'echo', 'passed']);
		expect(await passing.ended).toMatchObject({exitCode: 0, stdout: 'passed\n'});
		expect((await peek(box)).queue).toHaveLength(1);
		expect(await recordsOf(box)).toMatchObject([
			{gpuId: 1, endReason: 'holder-stopped'},
			{gpuId: 1, endReason: 'exited'},
		]);
		sleeper.kill('SIGCONT');
		await box.run('release --gpu-ids 0');
		expect(await sleeper.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
	});
});
