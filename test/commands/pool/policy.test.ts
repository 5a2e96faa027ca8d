/** `admin --policy`, `admin --set` and `admin --unset` on the command line. */
import {Redis} from 'ioredis';
import {expect, test} from 'vitest';
import type {App} from '../../../source/app/contract.js';
import {understand} from '../../../source/main.js';
import {freshEmbeddedBox, freshRedisBox} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

type Shown = {readonly policy: ReadonlyArray<Record<string, unknown>>; readonly problem?: string};

slowTest('admin --set and --unset change the strategy for choosing GPUs', async () => {
	const box = await freshRedisBox(redis.port, 2);
	expect(await box.run('admin --set strategy=lru')).toEqual({
		exitCode: 0,
		stdout: 'Set strategy=lru, which was mru by default\n',
		stderr: '',
	});
	expect((await box.run('admin --set strategy=lru')).stdout).toBe('strategy is already lru\n');
	expect((await box.run('admin --policy')).stdout).toMatch(
		/strategy +│ lru +│ mru +│ \S+, (?:\S+ )?\d\d:\d\d +│ which of/v,
	);
	expect((await box.run('doctor')).stdout).toContain('✓ pool        policy: strategy=lru\n');
	await box.run('reserve --gpu-ids 0 --duration 1h --short');
	await box.run('release --gpu-ids 0');
	expect((await box.run('reserve --gpus 1 --duration 1h --short')).stdout).toBe('1\n');
	expect((await box.run('admin --unset strategy')).stdout).toBe(
		'Unset strategy, which was lru: the default, mru, applies again\n',
	);
	const {stdout} = await box.run('events');
	expect(stdout).toMatch(/ set strategy=lru in the policy\n.* unset strategy in the policy, which was lru\n$/sv);
});

slowTest('admin --policy --json prints the policy of an embedded pool', async () => {
	const box = await freshEmbeddedBox(2);
	expect(JSON.parse((await box.run('admin --set strategy=lru --json')).stdout)).toEqual({
		changed: [{key: 'strategy', value: 'lru'}],
	});
	const {policy} = JSON.parse((await box.run('admin --policy --json')).stdout) as Shown;
	expect(policy).toContainEqual({
		key: 'strategy',
		value: 'lru',
		default: 'mru',
		summary: expect.any(String) as string,
		set_by: expect.any(String) as string,
		set_at: expect.stringMatching(/^20.*Z$/v) as string,
	});
	expect(JSON.parse((await box.run('admin --unset all --json')).stdout)).toEqual({
		changed: [{key: 'strategy', before: 'lru'}],
	});
	expect((await box.run('admin --unset all')).stdout).toBe('No key was set\n');
});

test.each<[typed: string, error: string, hint?: string]>([
	['--set strategy', '--set "strategy" needs a key and a value', 'Write --set KEY=VALUE. The keys are: '],
	['--set strategy=', '--set "strategy=" needs a key and a value'],
	['--set stratgy=lru', 'The policy has no key "stratgy"', 'Did you mean strategy? '],
	['--set __proto__=lru', 'The policy has no key "__proto__"', 'The keys are: strategy'],
	['--set strategy=lru --set strategy=mru', 'The key "strategy" is named twice'],
	['--set strategy=lru --unset strategy', 'The key "strategy" is named twice'],
	['--unset all --unset strategy', '--unset all already removes every key'],
	['--unset all --set strategy=lru --set strategy=mru', 'The key "strategy" is named twice'],
	['--policy --set strategy=lru', '--policy only shows the policy, so it cannot be combined with --set or --unset'],
	[
		'--set strategy=lru --gpus 4',
		'--gpus creates a pool, but --policy, --set and --unset show or change the policy of the existing pool',
	],
	['--policy --force', '--force creates a pool'],
	['--policy --drain 1', '--drain and --undrain cannot be combined with --policy, --set or --unset'],
	['--unset strategy --reason x', '--drain and --undrain cannot be combined'],
])('admin %s is refused before the store is opened: %s', async (typed, error, hint = '') => {
	const understood = await understand(['admin', ...typed.split(' ')]);
	const app: Partial<App> = {foreignEngine: async () => undefined};
	const run = async () => 'command' in understood && understood.command.run(app as App, understood.input);
	await expect(run()).rejects.toMatchObject({
		code: 'usage',
		message: expect.stringContaining(error) as string,
		...(hint !== '' && {hint: expect.stringContaining(hint) as string}),
	});
});

test('admin refuses an invalid policy value and an unknown policy key and changes nothing', async () => {
	const box = await freshEmbeddedBox(2);
	expect(await box.run('admin --set strategy=fast')).toEqual({
		exitCode: 2,
		stdout: '',
		stderr:
			'Error: strategy must be one of mru, lru, pack, spread, cool, topology, not "fast"\nNothing was changed. See the current policy: canhazgpu admin --policy\n',
	});
	expect(await box.run('admin --unset nothing')).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('The policy has no key "nothing"\nThe keys are: ') as string,
	});
	expect((await box.run('admin --policy --json')).stdout).not.toContain('set_by');
});

slowTest('status, run and doctor report an unreadable policy until admin --unset all replaces it', async () => {
	const box = await freshRedisBox(redis.port, 2);
	const client = new Redis(redis.port);
	const policy = [{key: 'strategy', value: '\u{1B}[31mfast', since: 1}];
	await client.set('canhazgpu:policy', JSON.stringify({policy}));
	const wrong =
		'The policy cannot be read. Until it is set again, GPUs are handed out in the default order. The problem: strategy: ';
	expect((await box.run('status')).stderr).toContain(`Warning: ${wrong}`);
	expect(await box.run('admin --policy')).toMatchObject({
		exitCode: 0,
		stdout: expect.stringContaining('mru (!)') as string,
		stderr: expect.stringContaining(wrong) as string,
	});
	expect((await box.run('doctor')).stdout).toContain('⚠ pool        The key strategy of the policy cannot be read: ');
	await client.set('canhazgpu:policy', 'not json');
	client.disconnect();
	expect((await box.run('status')).stderr).toContain(
		'only clean GPUs are handed out, run starts only jobs that are isolated, and no share is granted: it is not JSON.',
	);
	expect((await box.run('reserve --gpus 1 --duration 1h --short')).exitCode).toBe(0);
	expect(await box.run('reserve --share 1G --duration 1h')).toMatchObject({
		exitCode: 4,
		stderr: expect.stringContaining(
			'It is unknown whether GPUs can be shared in this pool: it is not JSON\n',
		) as string,
	});
	expect(await box.run('run -- touch started')).toMatchObject({
		exitCode: 1,
		stderr: expect.stringMatching(
			/^Error: The command was not started, .*\nIsolation is required, because the policy of this pool cannot be read \(it is not JSON\)\. .* --unset all --set KEY=VALUE/mv,
		) as string,
	});
	expect(await box.run('run --isolate=off -- touch started')).toMatchObject({
		exitCode: 4,
		stderr: expect.stringContaining('It is unknown whether this pool requires isolation') as string,
	});
	expect(JSON.parse((await box.run('status --json')).stdout)).not.toContainEqual(
		expect.objectContaining({type: 'run'}),
	);
	expect(await box.run('admin --set strategy=lru')).toEqual({
		exitCode: 4,
		stdout: '',
		stderr:
			'Error: The record of the policy cannot be read: it is not JSON\nNothing was changed. An administrator can replace it in one step: canhazgpu admin --unset all --set KEY=VALUE. See what was set: canhazgpu events\n',
	});
	expect((await box.run('doctor')).stdout).toMatch(
		/✗ store {7}The record of the policy cannot be read: it is not JSON\. Meanwhile: .*\n +An administrator can replace it /v,
	);
	expect((await box.run('admin --unset all --set isolate=prefer')).stdout).toBe(
		'Removed the unreadable record of the policy\nSet isolate=prefer\n',
	);
	expect((await box.run('status')).stderr).not.toContain('policy');
	expect((await box.run('events')).stdout).toContain('unset the whole policy, which could not be read');
});
