/** Long arguments are refused with their name and length. Long texts of other programs are shown truncated. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {commandNames, findCommand} from '../../../source/command-line/find-command.js';
import {globalFlags} from '../../../source/command-line/flags.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {understand} from '../../../source/main.js';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

let redis: RedisServer;
let box: Box;
let client: Redis;

beforeAll(async () => {
	redis = await startRedis();
	box = await createRedisBox(redis.port, 4);
	client = new Redis(redis.port);
});

afterAll(async () => {
	client.disconnect();
	box.remove();
	await redis.stop();
});

const long = 'x'.repeat(120_000);

const gpuKeys = async () => client.keys('canhazgpu:gpu:*');

describe('the length of a note', () => {
	test.each([
		['reserve', '--note', long],
		['reserve', '--nonblock', '--note', long],
		['reserve', '--pid', '1', '--note', long],
		['run', '--note', long, '--', 'true'],
		['run', '--note', '😀'.repeat(501), '--', 'true'],
	])('%s %s refuses a note of more than 500 characters', async (...words) => {
		const ran = await box.run(words);
		expect(ran).toMatchObject({exitCode: 2, stdout: ''});
		expect(ran.stderr).toMatch(/^Error: --note must be text of at most 500 characters, not "(?:x+|😀+)…?/v);
		expect(ran.stderr).toMatch(/\nThe note has (?:120000|501) characters, but the limit is 500\n$/v);
		expect(ran.stderr.length).toBeLessThan(400);
		expect(await gpuKeys()).toEqual([]);
	});

	test('a note of more than 500 characters is refused in a config file and in the environment', async () => {
		const file = path.join(box.home, 'long.yaml');
		writeFileSync(file, JSON.stringify({run: {note: long}}));
		const fromFile = await box.run(['run', '--config', file, '--', 'true']);
		expect(fromFile.exitCode).toBe(2);
		expect(fromFile.stderr).toContain(`${file}: run.note must be text of at most 500 characters, not "x`);
		expect(fromFile.stderr.length).toBeLessThan(600);
		const fromEnvironment = await box.run('reserve', {CANHAZGPU_RESERVE_NOTE: long});
		expect(fromEnvironment).toMatchObject({exitCode: 2, stdout: ''});
		expect(fromEnvironment.stderr).toContain('CANHAZGPU_RESERVE_NOTE must be text of at most 500 characters');
		expect(fromEnvironment.stderr.length).toBeLessThan(400);
	});

	slowTest('reserve stores a note of 500 characters unchanged', async () => {
		onTestFinished(async () => {
			await box.run('release');
			await client.flushall();
		});
		const note = 'ä'.repeat(500);
		expect(await box.run(['reserve', '--note', note])).toMatchObject({exitCode: 0});
		const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<{note?: string}>;
		expect(rows[0]?.note).toBe(note);
	});
});

slowTest(
	'reserve, extend, release and run refuse a --user of more than 64 characters and state its length',
	async () => {
		for (const command of ['reserve', 'extend --duration 1h', 'release', 'run']) {
			const ran = await box.run([...command.split(' '), '--user', long, ...(command === 'run' ? ['--', 'true'] : [])]);
			expect([command, ran.exitCode]).toEqual([command, 2]);
			expect(ran.stderr).toMatch(
				/^Error: --user: "x{99}…" is not a valid name: it has 120000 characters\nUse 1 to 64 letters, digits or punctuation marks\.\n$/v,
			);
		}
	},
);

test('admin --drain refuses a --reason of more than 200 characters and states its length', async () => {
	const ran = await box.run(['admin', '--drain', '0', '--reason', 'x'.repeat(201)]);
	expect(ran).toEqual({
		exitCode: 2,
		stdout: '',
		stderr: 'Error: --reason must be 1 to 200 characters long, but has 201\n',
	});
});

/** Returns the error of parsing these words, if there is one. */
async function complaintAbout(words: readonly string[]): Promise<CanhazgpuError | undefined> {
	try {
		await understand(words);
		return undefined;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return error;
		}

		throw error;
	}
}

test.each(firstCase(commandNames))(
	'%s quotes only the start of a very long argument in its error message',
	async (command) => {
		const rest = command === 'run' ? ['--', 'true'] : [];
		const flags = Object.entries({...globalFlags, ...(await findCommand(command)).flags});
		const typed = [
			...flags.map(([name, {value}]) =>
				value === undefined ? [command, `--${name}=${long}`] : [command, `--${name}`, long],
			),
			...flags
				.filter(([, {value}]) => value !== undefined)
				.map(([name]) => [command, `--${name}`, '1', `--${name}`, long]),
			[command, `--${long}`],
			[command, `-${'x'.repeat(300)}`],
			[command, long],
			[long],
			['help', long],
			[`--${long}`],
		];
		let refused = 0;
		for (const words of typed) {
			const error = await complaintAbout([...words, ...rest]);
			if (error === undefined) {
				continue;
			}

			refused++;
			const message = `${error.message} ${error.hint ?? ''}`;
			const shown = words.map((word) => word.slice(0, 30)).join(' ');
			// A path is shown in full, so that the user can find the typo.
			const isPath = message.includes('config file');
			expect([shown, error.exitCode, isPath || message.length < 500]).toEqual([shown, 2, true]);
		}

		expect(refused).toBeGreaterThan(10);
	},
);

slowTest('status truncates a long note of another program and leaves the stored note unchanged', async () => {
	onTestFinished(async () => {
		await client.flushall();
	});
	const now = Math.floor(Date.now() / 1000);
	const lease = {
		user: 'peer',
		actual_user: 'peer',
		type: 'manual',
		note: long,
		start_time: now,
		last_heartbeat: now,
		expiry_time: now + 3600,
	};
	await client.set('canhazgpu:gpu_count', 1);
	await client.set('canhazgpu:provider', 'fake');
	await client.set('canhazgpu:gpu:0', JSON.stringify(lease));
	const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<{note?: string}>;
	expect(rows[0]?.note).toBe(`${'x'.repeat(499)}…`);
	expect((await box.run('status')).stdout.length).toBeLessThan(1000);
	expect(JSON.parse((await client.get('canhazgpu:gpu:0'))!)).toMatchObject({note: long});
});
