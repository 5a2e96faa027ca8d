/** The limits of accounts on the command line. Root has none, so the requests are made by other accounts. */
import {chmodSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import type {Box, Ran} from '../../_helpers/program/cli.js';
import {alice, directoryOf, isRoot, mallory, runAs, type Account} from '../../_helpers/machine/accounts.js';
import {eventually} from '../../_helpers/eventually.js';
import {firstCase, isLong, slowTest} from '../../_helpers/slow.js';
import {freshEmbeddedBox, freshRedisBox, openStoreOf, peek} from '../../_helpers/program/processes.js';
import {mostHeld} from '../../_helpers/store/most-held.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const redis = redisOfFile();

const stores = [
	{store: 'redis', fresh: async (gpuCount: number) => freshRedisBox(redis.port, gpuCount)},
	{store: 'embedded', fresh: freshEmbeddedBox},
] as const;

type Run = (account: Account, words: string) => Promise<Ran>;

/** Repeats a command after the error that a busy machine can cause. */
async function patient(run: () => Promise<Ran>): Promise<Ran> {
	const ran = await run();
	return /^Error: (?:The GPU pool is too busy|Cannot reach Redis)/v.test(ran.stderr) ? patient(run) : ran;
}

/** Returns a function that runs a command line in the box as an account, in a directory of that account. */
function opened(box: Box): Run {
	chmodSync(box.home, 0o755);
	const homes = new Map<number, string>();
	return async (account, words) => {
		const home = homes.get(account.uid) ?? directoryOf(account);
		homes.set(account.uid, home);
		return runAs(account, words.split(' '), {
			cwd: home,
			environment: {...box.environment, HOME: home},
			// Each of many jobs waits for all others.
			limitMs: 550_000,
		});
	};
}

const set = async (box: Box, ...settings: readonly string[]): Promise<void> => {
	expect(await box.run(['admin', ...settings.flatMap((setting) => ['--set', setting])])).toMatchObject({exitCode: 0});
};

describe.skipIf(!isRoot).each(firstCase(stores))('on $store', ({fresh}) => {
	slowTest('a request over a limit is refused or waits, and every user interface names the limit', async () => {
		const box = await fresh(4);
		const run = opened(box);
		await set(
			box,
			'limits.max-gpus=2',
			'limits.max-waiting=1',
			'limits.max-duration=4h',
			'limits.default-duration=30m',
		);
		expect(JSON.parse((await run(alice, 'queue --json')).stdout)).toMatchObject({
			own_limit: {max_gpus: 2, left_gpus: 2},
			own_max_seconds: 4 * 3600,
		});
		for (const words of ['--detach -t 5h', '--detach -g 3', '--begin 1h -g 3']) {
			expect(await run(alice, `run ${words} -- true`)).toMatchObject({exitCode: 2, stdout: ''});
		}

		expect((await run(alice, 'jobs --json')).stdout).toBe('[]\n');
		expect(await run(alice, 'reserve --gpus 3')).toMatchObject({
			exitCode: 2,
			stderr:
				'Error: Cannot reserve 3 GPUs: 61001 can hold at most 2\nThe limit is limits.max-gpus=2. Ask for 2 or fewer.\n',
		});
		expect(await run(alice, 'reserve --duration 5h')).toMatchObject({
			exitCode: 2,
			stderr: 'Error: A reservation can last at most 4h\nThe limit is limits.max-duration=4h.\n',
		});
		expect(await run(alice, 'run --timeout 5h -- true')).toMatchObject({
			exitCode: 2,
			stderr: 'Error: A job can ask for at most 4h\nThe limit is limits.max-duration=4h.\n',
		});
		expect((await run(alice, 'reserve --gpus 2')).stdout).toContain('Reserved 2 GPU(s): [0 1] for 0h 30m 0s\n');
		// A label shares the limit of its account.
		expect(await run(alice, 'reserve --nonblock --user lab')).toMatchObject({
			exitCode: 3,
			stderr:
				'Error: Not enough GPUs available. Requested: 1 (61001 holds 2 of at most 2 GPUs)\nThe limit is limits.max-gpus=2. Without --nonblock, the request waits until the account holds fewer GPUs.\n',
		});
		const waiting = run(alice, 'reserve --short');
		await eventually(async () => (await peek(box)).queue.length === 1);
		expect(await run(alice, 'reserve')).toMatchObject({
			exitCode: 3,
			stderr:
				'Error: 61001 already has 1 of at most 1 requests in the queue\nThe limit is limits.max-waiting=1. Cancel one first: canhazgpu queue --leave ID\n',
		});
		// Others are served in the meantime.
		expect(await run(mallory, 'reserve --short')).toMatchObject({exitCode: 0, stdout: '2\n'});
		const reason = '#1 waits: 61001 holds 2 of at most 2 GPUs (limits.max-gpus); others go first';
		expect((await box.run('queue')).stdout).toContain(reason);
		expect((await box.run('queue --why')).stdout).toContain(
			`expected: when 61001 holds fewer GPUs\n   ${reason.replace('#1 ', '')}\n`,
		);
		const {entries} = JSON.parse((await box.run('queue --json')).stdout) as {readonly entries: readonly unknown[]};
		expect(entries).toMatchObject([
			{
				reason: 'max-gpus',
				reason_words: '61001 holds 2 of at most 2 GPUs',
				limit: {account: '61001', held_gpus: 2, max_gpus: 2, key: 'limits.max-gpus'},
			},
		]);
		expect((await box.run('events')).stdout).toMatch(
			/61001 \(lab\) asked for 1 GPU and got nothing: 2 of at most 2 held\n/v,
		);
		expect(await run(alice, 'extend --gpu-ids 0 --duration 4h')).toMatchObject({
			exitCode: 2,
			stderr: expect.stringMatching(
				/^Error: A reservation can end at most 4h from now\nThe limit is limits\.max-duration=4h\./v,
			) as string,
		});
		expect(await run(alice, 'extend --gpu-ids 0 --duration 3h')).toMatchObject({exitCode: 0});
		// Releasing one GPU lets the waiting request take another GPU, which is free.
		expect(await run(alice, 'release --gpu-ids 0')).toMatchObject({exitCode: 0});
		expect(await waiting).toMatchObject({
			exitCode: 0,
			stdout: '0\n',
			stderr: 'Waiting for 1 GPU: position 1 of 1, got 0/1, since 61001 holds 2 of at most 2 GPUs\n',
		});
		// Root has no limits, and a key for mallory's account lifts the limit of mallory.
		expect(await box.run('reserve --gpus 1 --duration 9h')).toMatchObject({exitCode: 0});
		await set(box, 'limits.user.61002.max-duration=off');
		expect(await run(mallory, 'extend --gpu-ids 2 --duration 9h')).toMatchObject({exitCode: 0});
	});

	slowTest('jobs of an array that exceed limits.max-waiting wait until they can join the queue', async () => {
		const box = await fresh(1);
		const run = opened(box);
		await set(box, 'limits.max-waiting=1');
		await box.run('reserve');
		const {stdout} = await run(alice, 'run --detach --array 0-1 -- true');
		const id = stdout.trim();
		await eventually(async () => {
			const logs = await Promise.all([0, 1].map(async (index) => run(alice, `logs ${id}_${index}`)));
			return logs.some((log) => log.stdout.includes('cannot join the queue yet'));
		});
		const reasonsOf = async (): Promise<readonly unknown[]> => {
			const jobs = JSON.parse((await run(alice, 'jobs --json')).stdout) as ReadonlyArray<{reason?: string}>;
			return jobs.map(({reason}) => reason).filter((reason) => reason !== undefined);
		};

		await eventually(async () => (await reasonsOf()).length === 1);
		expect(await reasonsOf()).toEqual(['61001 already has 1 of at most 1 requests in the queue']);
		await set(box, 'limits.max-waiting=2');
		await eventually(async () => (await reasonsOf()).length === 0);
		expect((await run(alice, 'jobs')).stdout.match(/waits for 1 GPU/gv)).toHaveLength(2);
		await box.run('release');
		expect(await run(alice, `wait ${id}`)).toMatchObject({exitCode: 0});
	});

	slowTest('with limits.slack, a reservation beyond the limit gets an early end when somebody else waits', async () => {
		const box = await fresh(2);
		const run = opened(box);
		await set(box, 'limits.max-gpus=1', 'limits.slack=on', 'idle.grace=5m');
		expect(await run(alice, 'reserve --short')).toMatchObject({exitCode: 0, stdout: '0\n', stderr: ''});
		expect(await run(alice, 'reserve --short')).toMatchObject({
			exitCode: 0,
			stdout: '1\n',
			stderr:
				'These GPUs are beyond your limit. If somebody else has to wait for GPUs, you get a warning before this reservation ends.\n',
		});
		expect(await run(alice, 'run --nonblock -- true')).toMatchObject({exitCode: 3});
		expect((await box.run('status')).stdout).toContain('beyond its limit of 1 GPU, expires in ');
		const waiting = run(mallory, 'reserve --short');
		await eventually(async () => (await box.run('status')).stdout.includes('beyond its limit of 1 GPU, goes back at '));
		expect((await box.run('queue --why')).stdout).toMatch(/61001 has GPU 1, beyond its limit of 1 GPU, goes back at /v);
		const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<Record<string, unknown>>;
		expect(rows.map((row) => [row['beyond_limit'], typeof row['reclaim_at']])).toEqual([
			[undefined, 'undefined'],
			[true, 'string'],
		]);
		expect((await box.run('events')).stdout).toContain(
			'61001 is beyond its limit with GPU 1, which goes back to the pool at ',
		);
		expect(await run(alice, 'release --gpu-ids 1')).toMatchObject({exitCode: 0});
		expect(await waiting).toMatchObject({exitCode: 0, stdout: '1\n'});
	});

	test('doctor reports limits for accounts that no longer exist', async () => {
		const box = await fresh(1);
		await set(box, 'limits.user.root.max-gpus=1');
		const store = await openStoreOf(box);
		const {policy} = await store.read();
		const gone = ['limits.user.gone.max-gpus', 'limits.user.gone.max-waiting', 'limits.group.$(gone).max-gpus'];
		const more = new Map([...policy, ...gone.map((key) => [key, {value: '1', since: 0}] as const)]);
		await store.commit({...emptyPlan, writes: [{kind: 'policy', policy: more}]});
		await store.close();
		const {stdout} = await box.run('doctor');
		expect(stdout.replaceAll(/\s+/gv, ' ')).toContain(
			'The policy has limits for the account gone, which is unknown on this machine: limits.user.gone.max-gpus, limits.user.gone.max-waiting',
		);
		expect(stdout.replaceAll(/\s+/gv, ' ')).toContain(
			'If it no longer exists: canhazgpu admin --unset limits.user.gone.max-gpus --unset limits.user.gone.max-waiting',
		);
		expect(stdout).toContain('The policy has limits for the group $(gone), which is unknown on this machine');
		expect(stdout).not.toContain('--unset limits.group');
		expect(stdout).not.toContain('does not know the account root');
	});

	test('simultaneous requests of many accounts never exceed their limits and are all served', async () => {
		const [accounts, each, gpuCount] = isLong ? [50, 2, 16] : [3, 2, 2];
		const box = await fresh(gpuCount);
		const run = opened(box);
		await set(box, 'limits.max-gpus=1', 'limits.user.61001.max-gpus=2');
		const people = Array.from({length: accounts}, (_, index) => ({uid: 61_001 + index, gid: 61_001 + index}));
		const ran = await Promise.all(
			people.flatMap((person) =>
				Array.from({length: each}, async (_, index) =>
					patient(async () => run(person, `run --gpus ${person.uid === 61_001 && index === 0 ? 2 : 1} -- true`)),
				),
			),
		);
		expect(ran.map(({exitCode, stderr}) => (exitCode === 0 ? '' : stderr)).filter(Boolean)).toEqual([]);
		const store = await openStoreOf(box);
		const log = await store.audit();
		await store.close();
		expect(mostHeld(log)).toEqual(new Map(people.map(({uid}) => [String(uid), uid === 61_001 ? 2 : 1])));
	}, 560_000);
});

test('admin warns that a limit for root has no effect', async () => {
	const box = await freshEmbeddedBox(2);
	expect(await box.run('admin --set limits.user.root.max-gpus=1 --set limits.group.root.max-gpus=1')).toMatchObject({
		exitCode: 0,
		stderr:
			'Warning: limits.user.root.max-gpus has no effect, because root has no limits. Remove it: canhazgpu admin --unset limits.user.root.max-gpus\n',
	});
	expect(await box.run('admin --unset limits.user.root.max-gpus')).toMatchObject({exitCode: 0, stderr: ''});
});

slowTest('admin refuses invalid or contradictory limits and changes nothing', async () => {
	const box = await freshEmbeddedBox(2);
	await set(box, 'limits.max-duration=4h', 'limits.user.root.max-gpus=1', 'limits.group.root.max-gpus=1');
	const {stdout: before} = await box.run('admin --policy');
	expect(before).toMatch(/limits\.max-duration +│ 4h +│ off /v);
	expect(before).toMatch(/limits\.user\.root\.max-gpus +│ 1 .*for this user/v);
	for (const [typed, error, hint] of [
		[
			'limits.max-gpus=0',
			'limits.max-gpus must be a whole number from 1 to 1024, or off, not "0"',
			'Nothing was changed',
		],
		[
			'limits.default-duration=5h',
			'limits.default-duration=5h is longer than limits.max-duration=4h',
			'Nothing was changed',
		],
		[
			'limits.user.nobody-here.max-gpus=1',
			'limits.user.nobody-here.max-gpus: there is no account "nobody-here" on this machine',
			'getent passwd',
		],
		[
			'limits.group.nobody-here.max-gpus=1',
			'limits.group.nobody-here.max-gpus: there is no group "nobody-here" on this machine',
			'getent group',
		],
		[
			'limits.user.root.max-gpu=1',
			'The policy has no key "limits.user.root.max-gpu"',
			'Did you mean limits.user.root.max-gpus?',
		],
	] as const) {
		expect(await box.run(['admin', '--set', 'strategy=lru', '--set', typed])).toMatchObject({
			exitCode: 2,
			stderr: expect.stringMatching(
				new RegExp(String.raw`^Error: ${RegExp.escape(error)}.*\n.*${RegExp.escape(hint)}`, 'v'),
			) as string,
		});
	}

	expect((await box.run('admin --policy')).stdout).toBe(before);
});
