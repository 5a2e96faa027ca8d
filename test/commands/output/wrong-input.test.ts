/** Wrong input causes a clear error that names it, the right exit code, no stack, and no change. */
import {chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import {understand} from '../../../source/main.js';
import {createBox, createEmbeddedBox, withoutRedis, type Box, type Ran} from '../../_helpers/program/cli.js';
import {everyNth, isLong, slowTest} from '../../_helpers/slow.js';

/** Whether Redis listens on the default port, which changes the first use of the program. */
const isRedisHere = await new Promise<boolean>((resolve) => {
	const socket = connect(6379, 'localhost');
	socket.once('connect', () => {
		resolve(true);
		socket.destroy();
	});
	socket.once('error', () => {
		resolve(false);
	});
});

let box: Box;
let before: unknown;

/** The records that must not change. */
const records = async () => {
	const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<Record<string, unknown>>;
	return rows.map(({status, lease_id: leaseId, expiry_time: expiryTime}) => ({status, leaseId, expiryTime}));
};

/**
Runs a command with wrong input. In `npm test`, an error of the command line or the configuration is taken from the parser, which is faster than a process.
Errors of the command itself always come from a process.
*/
async function runWrong(words: readonly string[]): Promise<Ran> {
	if (isLong) {
		return box.run(words);
	}

	vi.stubEnv('HOME', box.home);
	try {
		await understand(words);
		return await box.run(words);
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		const {exitCode, message, hint} = error;
		return {
			exitCode,
			stdout: '',
			stderr: ['Error: ' + message, hint, ''].filter((line) => line !== undefined).join('\n'),
		};
	} finally {
		vi.unstubAllEnvs();
	}
}

beforeAll(async () => {
	box = await createEmbeddedBox(8);
	await box.run('reserve --gpu-ids 7 --duration 8h');
	before = await records();
});

afterAll(async () => {
	expect(await records()).toEqual(before);
	box.remove();
});

describe('wrong input on the command line', () => {
	test.each<[typed: string, exitCode: number, error: string]>(
		everyNth(
			[
				['stauts', 2, 'Unknown command "stauts"\nDid you mean: canhazgpu status'],
				[
					'--gpus 2 run -- true',
					2,
					'Unknown command "2"\nFlags of a command go after its name: canhazgpu COMMAND --gpus 2',
				],
				['nope', 2, 'Unknown command "nope"\nSee all of them: canhazgpu --help'],
				['rnu', 2, 'Unknown command "rnu"\nDid you mean: canhazgpu run'],
				['rel', 2, 'Unknown command "rel"\nDid you mean: canhazgpu release'],
				['re', 2, 'Unknown command "re"\nSee all of them: canhazgpu --help'],
				['--h', 2, 'canhazgpu has no flag --h\nDid you mean --help?'],
				['status --j', 2, 'status has no flag --j\nDid you mean --json?'],
				['xyzzy', 2, 'Unknown command "xyzzy"\nSee all of them: canhazgpu --help'],
				['constructor', 2, 'Unknown command "constructor"\nSee all of them: canhazgpu --help'],
				['help reserv', 2, 'Unknown command "reserv"\nDid you mean: canhazgpu reserve'],
				['squeue', 2, 'Unknown command "squeue"\nDid you mean: canhazgpu queue'],
				['version', 2, 'Unknown command "version"\nDid you mean: canhazgpu --version'],
				['-V', 2, 'canhazgpu has no flag -V\nSee its flags: canhazgpu --help'],
				['--josn', 2, 'canhazgpu has no flag --josn\n'],
				[
					'--redis-port status',
					2,
					'There is no canhazgpu command in: --redis-port status\nFor example: canhazgpu status.',
				],
				[
					'-- python train.py',
					2,
					'There is no canhazgpu command in: -- python train.py\nTo run a program on GPUs: canhazgpu run -- python train.py',
				],
				['status --json=yes', 2, '--json takes no value, but was given "yes"\nWrite --json alone, or leave it out.'],
				['status --no-json', 2, 'status has no flag --no-json\nDid you mean --json?'],
				[
					'run -g 2 python --lr 0.1',
					2,
					'run needs -- before the command "python"\nWrite: canhazgpu run -g 2 -- python --lr 0.1',
				],
				[
					'run python -n 4 --help',
					2,
					'run needs -- before the command "python"\nWrite: canhazgpu run -- python -n 4 --help',
				],
				['run --gpuz 2 python', 2, 'run has no flag --gpuz\nDid you mean --gpus?'],
				['run --nodes 2 -- true', 2, 'run has no flag --nodes\nSee its flags: canhazgpu run --help'],
				['run --gres gpu:2 -- true', 2, 'run has no flag --gres\nDid you mean --gpus?'],
				['run --time 1h -- true', 2, 'run has no flag --time\nDid you mean --timeout?'],
				['reserve --time 1h', 2, 'reserve has no flag --time\nDid you mean --duration?'],
				['status --jsn', 2, 'status has no flag --jsn\nDid you mean --json?'],
				['status -x', 2, 'status has no flag -x\nSee its flags: canhazgpu status --help'],
				['status --constructor', 2, 'status has no flag --constructor\nSee its flags: canhazgpu status --help'],
				['reserve --gpu 2', 2, 'reserve has no flag --gpu\nDid you mean --gpus?'],
				['reserve --gpus 0', 2, '--gpus must be a whole number from 1 to 1024, not "0"'],
				['reserve --gpus -1', 2, '--gpus must be a whole number from 1 to 1024, not "-1"'],
				['reserve --gpus=-1', 2, '--gpus must be a whole number from 1 to 1024, not "-1"'],
				['reserve --gpus abc', 2, '--gpus must be a whole number from 1 to 1024, not "abc"'],
				['reserve --gpus 1.5', 2, '--gpus must be a whole number from 1 to 1024, not "1.5"'],
				['reserve --gpus 1e9', 2, '--gpus must be a whole number from 1 to 1024, not "1e9"'],
				['reserve --gpus NaN', 2, '--gpus must be a whole number from 1 to 1024, not "NaN"'],
				['reserve --gpus', 2, '--gpus needs a value\nWrite --gpus N'],
				['reserve --gpus --force', 2, '--gpus needs a value\nWrite --gpus N'],
				['reserve --gpus 1 -g two', 2, '--gpus must be a whole number from 1 to 1024, not "two"'],
				['reserve --gpus 99', 2, 'Cannot reserve 99 GPUs: the pool has 8\nAsk for 8 or fewer.'],
				['reserve --gpu-ids 8', 2, 'GPU 8 is out of range\nThe pool has 8 GPU(s): ids are 0 to 7.'],
				['reserve --gpu-ids 1,1', 2, 'GPU 1 is named twice in 1,1\nName each GPU once.'],
				[
					'reserve --gpu-ids 1,x',
					2,
					'--gpu-ids: "x" is not a GPU id\nWrite ids with commas between them, or a range: --gpu-ids 1,3 or 0-3',
				],
				[
					'reserve --gpu-ids 1,',
					2,
					'--gpu-ids: "" is not a GPU id\nWrite ids with commas between them, or a range: --gpu-ids 1,3 or 0-3',
				],
				[
					'reserve --gpus 2 --gpu-ids 1,2,3',
					2,
					'conflicting gpu count (2) and gpu ids (count: 3)\nLeave out --gpus: --gpu-ids says how many.',
				],
				[
					'reserve --duration 90',
					2,
					'--duration must be a duration such as 30m, 2h or 1h30m, not "90"\nDid you mean 90m (minutes) or 90h (hours)?',
				],
				['top --interval 5', 2, '--interval must be a duration such as 2s or 1m, not "5"\nDid you mean 5s (seconds)?'],
				['RUN', 2, 'Unknown command "RUN"\nDid you mean: canhazgpu run'],
				['hlep', 2, 'Unknown command "hlep"\nDid you mean: canhazgpu help'],
				[
					'reserve --duration -1h',
					2,
					'--duration must be a duration such as 30m, 2h or 1h30m, not "-1h"\nWrite a number and a unit: 30s, 30m, 2h, 1d, 0.5h or 1h30m.',
				],
				[
					'reserve --duration 0h',
					2,
					'--duration must be a duration such as 30m, 2h or 1h30m, not "0h"\nWrite 30s, 30m, 2h',
				],
				[
					'reserve --duration 99999d',
					2,
					'--duration must be a duration such as 30m, 2h or 1h30m, not "99999d"\nThe longest is 36500d.',
				],
				[
					'reserve --duration 0.5s',
					2,
					'--duration must be a duration of at least one second, such as 30m, 2h or 1h30m, not "0.5s"',
				],
				['reserve --duration', 2, '--duration needs a value\nWrite --duration TIME'],
				['reserve 3', 2, 'reserve does not take the argument "3"\nSee its usage: canhazgpu reserve --help'],
				['reserve -- python', 2, 'reserve does not run a command, so it cannot be followed by --'],
				[
					'reserve --gpu-ids 7 --nonblock',
					3,
					"Not enough GPUs available. Requested: 1, Available: 0 (1 GPU already reserved - run 'canhazgpu status' for details)\nGPU 7 is held by",
				],
				...[
					'gpus 2',
					'duration 1h',
					'share 8G',
					'mig 1g.10gb',
					'model h100',
					'min-memory 1G',
					'mixed',
					'workload train',
				].map((flag): [string, number, string] => [
					`reserve --pid 1 --${flag}`,
					2,
					`--pid and --${flag.split(' ', 1)[0]!} cannot be used together\n--pid reserves the GPUs that the process already uses, until it ends.`,
				]),
				['report --json --format csv', 2, 'Give --json or --format, not both'],
				['queue --json --leave x', 1, 'No queue entry has the id "x"'],
				['reserve --json --short', 2, 'Give --json or --short, not both'],
				['run --json --quiet -- true', 2, 'Give --json or --quiet, not both'],
				['release --gpu-ids 99', 2, 'GPU 99 is out of range\nThe pool has 8 GPU(s): ids are 0 to 7.'],
				['extend', 2, 'extend needs --duration, --until or --keep\nFor example: canhazgpu extend --duration 2h'],
				['extend --duration 1h --until 18:00', 2, 'Give --duration or --until, not both'],
				['extend --until 9999-12-31', 2, 'The new end is more than a hundred years away\nNothing was changed.'],
				[
					'extend --until yesterday',
					2,
					'--until: "yesterday" is not a time\nWrite 18:30, 2026-05-01 or 2026-05-01T18:30.',
				],
				['extend --until 2020-01-01', 2, 'The new end is in the past\nTo end the reservation now: canhazgpu release'],
				[
					'extend --gpu-ids 1 --duration 1h',
					1,
					'No reservations found for current user on GPU(s): [1]\nSee who holds what: canhazgpu status',
				],
				['admin --gpus 4', 1, 'A pool of 8 GPU(s) already exists in'],
				['admin --gpus 0 --force', 2, '--gpus must be a whole number from 1 to 1024, not "0"'],
				['admin --provider intel', 2, '--provider must be one of nvidia, amd, fake, not "intel"'],
				['admin --provider nvidia', 1, 'nvidia-smi was not found.'],
				['admin --store redis --gpus 2 --provider fake --group x', 2, '--group works only for a pool without Redis'],
				['admin --store', 2, '--store needs a value'],
				['status --store sqlite', 2, '--store must be one of redis, embedded, not "sqlite"'],
				['status --remote -oProxyCommand=x', 2, '"-oProxyCommand=x" is not a host name'],
				['status -jx', 2, 'status has no flag -x\nSee its flags: canhazgpu status --help'],
				['status -j=yes', 2, '--json takes no value, but was given "yes"\nWrite --json alone, or leave it out.'],
				// Like in cobra, -t takes the rest of the word as its value.
				[
					'run -tg 1 -- true',
					2,
					'--timeout must be a duration such as 30m, 2h or 1h30m, not "g"\nWrite a number and a unit: 30s, 30m, 2h, 1d, 0.5h or 1h30m.',
				],
				['reserve -dg 1', 2, 'reserve does not take the argument "1"'],
				['reserve -d2x', 2, '--duration must be a duration such as 30m, 2h or 1h30m, not "2x"'],
				['reserve -fg', 2, '--gpus needs a value\nWrite --gpus N'],
				['reserve -G 7 -Gx', 2, '--gpu-ids: "x" is not a GPU id'],
				['run -g2 python -n 4', 2, 'run needs -- before the command "python"\nWrite: canhazgpu run -g2 -- python -n 4'],
				['status --remote=-oProxyCommand=x', 2, '"-oProxyCommand=x" is not a host name'],
				['status --remote=$(id)', 2, '"$(id)" is not a host name'],
				['status --remote a --all', 2, '--remote (one host) and --all (every host) cannot be combined'],
				['status --redis-port 0', 2, '--redis-port must be a whole number from 1 to 65535, not "0"'],
				['status --redis-host -oProxyCommand=x', 2, '--redis-host'],
				[
					'status --memory-threshold lots',
					2,
					'--memory-threshold must be a whole number from 0 to 10000000, not "lots"',
				],
				['top --interval 0.1s', 2, '--interval must be 0.5s or more'],
				['top --interval 2h', 2, '--interval must be 1h or less'],
				['top --interval fast', 2, '--interval must be a duration such as 2s or 1m, not "fast"'],
			],
			4,
		),
	)('"%s" exits with %d and an error that names the mistake', async (typed, exitCode, error) => {
		const ran = await runWrong(typed.split(' '));
		expect(ran.stderr).toContain(`Error: ${error}`);
		expect(ran.stderr).not.toMatch(/\n *at /v);
		// The hint is on the next line, or part of the message.
		expect(ran.stderr).toMatch(/^Error: (?:Give .+|.+ must be .+)\n|^Error: .+\n.+/v);
		expect(ran).toMatchObject({exitCode, stdout: ''});
	});

	test('does not include --json=true and --json=false, which are accepted as in the Go canhazgpu', async () => {
		expect((await box.run('status --json=true')).stdout).toMatch(/^\[/v);
		expect((await box.run('status --json=false')).stdout).toMatch(/^ GPU /v);
	});

	test('reserve --user refuses an invalid label', async () => {
		for (const label of [' ', 'a\nb', '\u{1B}[31mred', 'x'.repeat(65)]) {
			const ran = await box.run(['reserve', '--user', label]);
			expect(ran).toMatchObject({exitCode: 2, stdout: ''});
			expect(ran.stderr).toMatch(/^Error: --user/v);
		}
	});
});

describe('wrong input in a config file or the environment', () => {
	test.each<[name: string, content: string, error: string]>([
		['a.yaml', 'redis: {port: "many"}', 'redis.port must be a whole number from 1 to 65535, not "many"'],
		['b.yaml', 'redis:\n  port: -1', 'redis.port must be a whole number from 1 to 65535, not -1'],
		['c.yaml', 'memory: {threshold: .nan}', 'memory.threshold must be a whole number from 0 to 10000000, not NaN'],
		[
			'd.toml',
			'[memory]\nthreshold = 1e309',
			'memory.threshold must be a whole number from 0 to 10000000, not Infinity',
		],
		['e.json', '{"memory": {"threshold": 9007199254740992}}', 'memory.threshold must be a whole number'],
		['f.json', '{"reserve": {"duration": 8}}', 'reserve.duration must be a duration such as 30m, 2h or 1h30m, not 8'],
		['g.json', '{"__proto__": {"polluted": true}}', 'the key __proto__ is not allowed'],
		['h.yaml', 'redis:\n  __proto__: {polluted: true}', 'the key redis.__proto__ is not allowed'],
		['i.yaml', '- a\n- b', 'must be a map of settings, not a list'],
		['j.yaml', 'just words', 'must be a map of settings, not a single value'],
		['k.json', '{"redis": ', 'it is not valid JSON'],
		['l.toml', 'redis = [', 'Cannot read the config file'],
		['m.yaml', 'redis: {port: 1', 'Cannot read the config file'],
		['n.yaml', 'redis:\n  password: [secret, words]', 'redis.password must be text that is not empty\n'],
		['o.yaml', 'remote_hosts: ["-oProxyCommand=x"]', 'remote_hosts must be a host name, or user@host'],
	])('%s with %j exits with 2 and an error that names the file', async (name, content, error) => {
		const file = path.join(box.home, name);
		writeFileSync(file, content);
		const ran = await runWrong(['status', '--config', file]);
		expect(ran.stderr).toContain(file);
		expect(ran.stderr).toContain(error);
		expect(ran.stderr).not.toMatch(/\n *at |secret/v);
		expect(ran).toMatchObject({exitCode: 2, stdout: ''});
	});

	test('the error names a missing file, a directory or an unknown setting', async () => {
		expect(await box.run(['status', '--config', '/nowhere.yaml'])).toMatchObject({
			exitCode: 2,
			stderr:
				'Error: Cannot read the config file /nowhere.yaml: there is no such file\nFix the file, or name another with --config.\n',
		});
		expect((await box.run(['status', '--config', box.home])).stderr).toContain('it is a directory');
		const file = path.join(box.home, 'unknown.yaml');
		writeFileSync(file, 'redis: {prot: 1}\n');
		const ran = await box.run(['status', '--config', file]);
		expect(ran.stderr).toContain(`Warning: ${file}: unknown setting redis.prot. Did you mean redis.port?`);
		expect(ran.exitCode).toBe(0);
	});

	test('the error names an invalid environment variable', async () => {
		expect((await box.run('status', {CANHAZGPU_MEMORY_THRESHOLD: 'x'})).stderr).toBe(
			'Error: CANHAZGPU_MEMORY_THRESHOLD must be a whole number from 0 to 10000000, not "x"\n',
		);
	});
});

describe('without a pool', () => {
	test('commands say how to create a pool, and admin creates no pool while Redis is unreachable', async () => {
		const empty = createBox();
		const ran = await empty.run('status', withoutRedis);
		expect(ran).toMatchObject({exitCode: 4, stdout: ''});
		expect(ran.stderr).toContain('Error: Cannot reach Redis at localhost:1: connection refused');
		const chosen = await empty.run('reserve --store embedded');
		expect(chosen).toMatchObject({exitCode: 4, stdout: ''});
		expect(chosen.stderr).toBe(
			'Error: There is no GPU pool on this machine yet\nTo create a pool with Redis: canhazgpu admin · without Redis: sudo canhazgpu admin --store embedded · to try the monitor without a pool: canhazgpu top --demo\n',
		);
		const admin = await empty.run('admin --gpus 8 --provider fake', withoutRedis);
		expect(admin).toMatchObject({exitCode: 4, stdout: ''});
		expect(admin.stderr).toContain(
			'Or create a pool without Redis: sudo canhazgpu admin --store embedded --gpus 8 --provider fake',
		);
		empty.remove();
	});

	test.skipIf(isRedisHere)(
		'commands without settings report the unreachable Redis and say how to create a pool',
		async () => {
			const empty = createBox();
			for (const command of ['status', 'reserve', 'run -- true']) {
				expect([command, await empty.run(command)]).toEqual([
					command,
					{
						exitCode: 4,
						stdout: '',
						stderr:
							'Error: There is no GPU pool on this machine yet\nCannot reach Redis at localhost:6379: connection refused. If your pool is there, start that server. To create a pool with Redis: canhazgpu admin · without Redis: sudo canhazgpu admin --store embedded · to try the monitor without a pool: canhazgpu top --demo\n',
					},
				]);
			}

			empty.remove();
		},
	);

	test('if other accounts can read the password file, status reports that file and not a missing pool', async () => {
		const empty = createBox();
		const file = path.join(empty.home, 'password');
		writeFileSync(file, 'secret');
		chmodSync(file, 0o644);
		const ran = await empty.run('status', {CANHAZGPU_REDIS_PASSWORD_FILE: file});
		expect(ran).toMatchObject({exitCode: 2, stdout: ''});
		expect(ran.stderr).toContain(`redis.password_file: ${file} can be read by others`);
		empty.remove();
	});

	slowTest('an invalid pool.json stops status, and admin repairs pool.json without losing a reservation', async () => {
		const empty = createBox();
		mkdirSync(empty.poolDirectory);
		await empty.run('admin --gpus 2 --provider fake --store embedded');
		const file = path.join(empty.poolDirectory, 'pool.json');
		expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({store: 'embedded', directory: empty.poolDirectory});
		expect((await empty.run('reserve --short')).stdout).toBe('0\n');
		writeFileSync(file, '{"store": "moon"}');
		const ran = await empty.run('status');
		expect(ran).toMatchObject({exitCode: 4, stdout: ''});
		expect(ran.stderr).toBe(
			`Error: ${file} should say where the GPU pool is, but its content is not valid\nRemove that file, then repeat the canhazgpu admin command that created the pool (with --store embedded for a pool without Redis). The command finds the existing pool, and no reservation is lost.\n`,
		);
		// The hint also works if there is a reservation.
		rmSync(file);
		const again = await empty.run('admin --gpus 2 --provider fake --store embedded');
		expect(again).toMatchObject({exitCode: 0, stderr: ''});
		expect(again.stdout).toContain('already existed');
		expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({store: 'embedded', directory: empty.poolDirectory});
		expect((await empty.run('reserve --short')).stdout).toBe('1\n');
		empty.remove();
	});
});
