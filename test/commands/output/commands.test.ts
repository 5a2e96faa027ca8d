/** The commands as users type them, on each kind of store. */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {account, createBox, createEmbeddedBox, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {startRedis} from '../../_helpers/store/redis-server.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

const simulated = 'SIMULATED GPUs: no real hardware is behind this pool.\n';

/** Removes what changes: ages, the simulated load, and widths that depend on names. */
const still = (table: string): string =>
	table
		.replaceAll(/\b\d+h \d+m \d+s/gv, 'TIME')
		.replaceAll(/\b\d+MB/gv, 'xMB')
		.replaceAll(account, 'ACCOUNT')
		.replaceAll(/ +/gv, ' ')
		.replaceAll(/─+/gv, '─');

describe.each(
	firstCase([
		['redis', async () => createRedisBox(redis.port, 4)],
		['embedded', async () => createEmbeddedBox(4)],
	]),
)('with the %s store', (_, create) => {
	let box: Box;

	beforeAll(async () => {
		box = await create();
	});

	afterAll(() => {
		box.remove();
	});

	test('reserve, status, extend and release print the affected GPUs', async () => {
		expect(await box.run(['reserve', '--gpus', '2', '--duration', '1h30m', '--note', 'two of them'])).toEqual({
			exitCode: 0,
			stderr: '',
			stdout: 'Reserved 2 GPU(s): [0 1] for 1h 30m 0s\n\nTo use them here:\nexport CUDA_VISIBLE_DEVICES=0,1\n',
		});
		const status = await box.run('status');
		expect(status).toMatchObject({exitCode: 0, stderr: simulated});
		// The load of a simulated GPU grows from zero.
		expect(still(status.stdout).replaceAll(/xMB, 1 processes|no usage detected/gv, 'USE')).toBe(
			[
				' GPU │ STATUS │ USER │ DURATION │ TYPE │ DETAILS │ VALIDATION │ NOTE',
				'─┼─┼─┼─┼─┼─┼─┼─',
				' 0 │ ● IN_USE │ ACCOUNT │ TIME │ MANUAL │ expires in TIME │ USE │ two of them',
				' 1 │ ● IN_USE │ ACCOUNT │ TIME │ MANUAL │ expires in TIME │ USE │ two of them',
				' 2 │ ● AVAILABLE │ - │ - │ - │ never used │ xMB used │ -',
				' 3 │ ● AVAILABLE │ - │ - │ - │ never used │ xMB used │ -',
				'',
			].join('\n'),
		);
		const extended = await box.run('extend --gpu-ids 1 --duration 1h');
		expect(extended).toMatchObject({exitCode: 0, stderr: ''});
		expect(extended.stdout).toMatch(/^Extended 1 GPU\(s\): \[1\]\nGPU 1 expires in 2h (?:29|30)m \d+s\n$/v);
		expect(await box.run('extend --gpu-ids 1,3 --duration 1s')).toMatchObject({
			exitCode: 0,
			stdout: expect.stringMatching(/^Extended 1 GPU\(s\): \[1\]\n/v) as unknown,
			stderr: 'No reservations found for current user on GPU(s): [3]\n',
		});
		expect(await box.run('release --gpu-ids 1,3')).toEqual({
			exitCode: 0,
			stdout: 'Released 1 GPU(s): [1]\n',
			stderr: 'No reservations found for current user on GPU(s): [3]\n',
		});
		expect(await box.run('release')).toEqual({exitCode: 0, stdout: 'Released 1 GPU(s): [0]\n', stderr: ''});
		expect(await box.run('release')).toEqual({
			exitCode: 0,
			stdout: 'No manually reserved GPUs found for current user\n',
			stderr: '',
		});
		expect(await box.run('release -G 1')).toEqual({
			exitCode: 0,
			stdout: 'No reservations found for current user on GPU(s): [1]\n',
			stderr: '',
		});
	});

	slowTest('reserve --short prints only the GPU ids', async () => {
		expect(await box.run('reserve -G 3,1 --short')).toEqual({exitCode: 0, stdout: '1,3\n', stderr: ''});
		await box.run('release');
	});

	slowTest('status shows the label of reserve --user, and release --user releases by label', async () => {
		await box.run('reserve --user team');
		expect((await box.run('status')).stdout).toContain(`${account} (team)`);
		expect((await box.run('release')).stdout).toBe('No manually reserved GPUs found for current user\n');
		expect((await box.run('release --user team')).stdout).toMatch(/^Released 1 GPU/v);
	});

	test('status --json has the keys and types of the Go canhazgpu, and additional keys', async () => {
		await box.run('reserve -G 2 --note note');
		const {stdout, stderr} = await box.run('status --json');
		expect(stderr).toBe('');
		const rows = JSON.parse(stdout) as ReadonlyArray<Record<string, unknown>>;
		expect(rows).toHaveLength(4);
		expect(rows[2]).toMatchObject({
			gpu_id: 2,
			status: 'IN_USE',
			user: account,
			duration: expect.stringMatching(/^0h 0m \d+s$/v) as unknown,
			type: 'MANUAL',
			note: 'note',
			details: expect.stringMatching(/^expires in 7h 59m \d+s$|^expires in 8h 0m 0s$/v) as unknown,
			validation: expect.stringMatching(/^(?:\d+MB, 1 processes|no usage detected)$/v) as unknown,
			gpu_model: 'Simulated H100 80GB',
			expiry_time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/v) as unknown,
			lease_id: expect.any(String) as unknown,
			memory_total_mb: 81_559,
			simulated: true,
		});
		expect(Object.keys(rows[3]!)).not.toContain('user');
		await box.run('release');
	});

	slowTest('status --summary counts total, available and used GPUs', async () => {
		await box.run('reserve -g 3');
		const {stdout} = await box.run('status --summary');
		expect(stdout).toMatch(/ HOST .*│ TOTAL │ GPU MODELS .*│ AVAILABLE │ IN USE\n/v);
		expect(stdout).toMatch(/│ 4 {5}│ 4x Simulated H100 80GB │ ✓ 1 +│ 3\n/v);
		await box.run('release');
	});

	test('reserve --nonblock exits with 3 like the Go canhazgpu if too few GPUs are free', async () => {
		await box.run('reserve -g 3');
		expect(await box.run('reserve -g 2 --nonblock')).toEqual({
			exitCode: 3,
			stdout: '',
			stderr:
				'Error: Not enough GPUs available. Requested: 2, Available: 1\nSee who holds them, and until when: canhazgpu status.\n',
		});
		await box.run('release');
	});

	slowTest('admin --force ends the existing reservations', async () => {
		await box.run('reserve -g 2');
		const made = await box.run('admin --gpus 3 --provider fake --force');
		expect(made.stdout).toMatch(
			/^Created a pool of 3 GPU\(s\) \(fake\) in .*\nEnded 2 reservation\(s\) of the replaced pool\n$/v,
		);
		expect(JSON.parse((await box.run('status -j')).stdout)).toHaveLength(3);
		await box.run('admin --gpus 4 --provider fake --force');
	});
});

test('if Redis is unreachable, commands exit with 4 and open no other store', async () => {
	const own = await startRedis();
	// The kind of store is not configured, so the program could fall back to another store.
	const box = createBox({CANHAZGPU_REDIS_PORT: String(own.port)});
	await box.run('admin --gpus 2 --provider fake');
	await own.kill();
	for (const command of ['status', 'reserve', 'release', 'extend -d 1h']) {
		const ran = await box.run(command);
		expect(ran).toMatchObject({exitCode: 4, stdout: ''});
		expect(ran.stderr).toMatch(/^Error: Cannot reach Redis at localhost:\d+: connection refused\n.+\n$/v);
	}

	await own.stop();
	box.remove();
});

slowTest('a damaged record keeps its GPU out of use and is never overwritten', async () => {
	const box = await createRedisBox(redis.port, 2);
	const {Redis} = await import('ioredis');
	const client = new Redis(redis.port);
	await client.set('canhazgpu:gpu:0', '{"user": 7}');
	const status = await box.run('status');
	expect(status.stdout).toMatch(/ 0 +│ ✗ ERROR +│ - +│ - +│ - +│ unreadable record: /v);
	expect(status.stderr).toContain('Warning: a GPU whose record cannot be read is not granted to anyone.');
	expect((await box.run('reserve -g 2 --nonblock')).exitCode).toBe(3);
	expect((await box.run('reserve -G 0 --force --nonblock')).exitCode).toBe(3);
	expect((await box.run('reserve -g 1 --short')).stdout).toBe('1\n');
	expect((await box.run('release -G 0')).exitCode).toBe(0);
	expect(await client.get('canhazgpu:gpu:0')).toBe('{"user": 7}');
	client.disconnect();
	box.remove();
});

test('status removes control characters from a note, and status --json escapes them', async () => {
	const box = await createRedisBox(redis.port, 2);
	const note = '\u{1B}[31mred\u{1B}]0;title\u{7} \r\n\u{202E}gnp.exe \u{9B}2J';
	await box.run(['reserve', '--note', note]);
	const {stdout} = await box.run('status');
	expect(stdout).toContain('red gnp.exe');
	const json = (await box.run('status --json')).stdout;
	expect((JSON.parse(json) as ReadonlyArray<{note?: string}>).map((row) => row.note)).toContain(note);
	expect(`${stdout}${json}`.replaceAll('\n', '')).not.toMatch(/[\p{Control}\u{202E}]/v);
	box.remove();
});
