/** Identity in a user namespace, where anybody can take any uid, and with a PATH that contains another `getent`. */
import {spawn, spawnSync} from 'node:child_process';
import {chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {starter, starterText, type Box, type Ran} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

/** Unused uids, which the program shows as numbers. */
const victim = 61_001;
const mallory = 61_002;

const accountOf = (uid: number) => ({uid, gid: uid, cwd: '/'});

/** Returns why these tests cannot run here. */
function whyNot(): string | undefined {
	if (process.getuid?.() !== 0) {
		return 'only root may start something as another account';
	}

	const own = {...accountOf(mallory), encoding: 'utf8'} as const;
	const program = spawnSync(starter, [...starterText, '--version'], own);
	if (program.status !== 0) {
		return 'other accounts may not read the program';
	}

	const made = spawnSync('unshare', ['-r', 'id', '-u'], own);
	return made.stdout === '0\n' ? undefined : `no user namespaces: ${made.error?.message ?? made.stderr}`;
}

const reason = whyNot();
if (reason !== undefined) {
	console.warn(`The tests of accounts in user namespaces are skipped: ${reason}.`);
}

/** Runs the program as an account, through a program such as `unshare`. */
function runAs(
	uid: number,
	box: Box,
	words: string,
	{
		through = [],
		environment = {},
	}: {readonly through?: readonly string[]; readonly environment?: Readonly<Record<string, string>>} = {},
): Ran {
	const home = mkdtempSync('/tmp/canhazgpu-account-');
	onTestFinished(() => {
		rmSync(home, {recursive: true, force: true});
	});
	chownSync(home, uid, uid);
	const [command, ...parameters] = [...through, starter, ...starterText, ...words.split(' ')];
	const {status, stdout, stderr} = spawnSync(command!, parameters, {
		...accountOf(uid),
		cwd: home,
		env: {...box.environment, HOME: home, XDG_CACHE_HOME: '', ...environment},
		encoding: 'utf8',
		timeout: 60_000,
	});
	return {exitCode: status ?? undefined, stdout, stderr};
}

const redis = redisOfFile();

const because = /user namespace .* the account cannot be verified: run the command outside/v;

/** Attempts as root of a namespace, and under the owner's uid. */
const forgeries: ReadonlyArray<readonly [string, readonly string[]]> = [
	['uid 0 in a user namespace', ['unshare', '-r']],
	['the uid of the owner in a user namespace', ['unshare', '-U', `--map-user=${victim}`]],
	['the uid of the owner in a nested user namespace', ['unshare', '-r', 'unshare', '-U', `--map-user=${victim}`]],
];

describe.skipIf(reason !== undefined).each([
	['redis', async () => freshRedisBox(redis.port, 2)],
	['embedded', async () => freshEmbeddedBox(2)],
])('with the %s store', (_, create) => {
	const createOpen = async (): Promise<Box> => {
		const box = await create();
		// Lets other accounts reach the shared pool.
		chmodSync(box.home, 0o755);
		expect(runAs(victim, box, 'reserve --gpu-ids 0 --duration 2h')).toMatchObject({exitCode: 0});
		return box;
	};

	slowTest.each(forgeries)(
		"an account with %s cannot release or extend the owner's reservation",
		async (_what, through) => {
			const box = await createOpen();
			for (const words of [
				'release --gpu-ids 0',
				'release',
				`release --user ${victim}`,
				'extend --gpu-ids 0 --duration 1h',
			]) {
				const ran = runAs(mallory, box, words, {through});
				expect(ran, words).toMatchObject({exitCode: 1, stdout: ''});
				expect(ran.stderr).toMatch(/^Error: No (?:manually reserved GPUs|reservations) found for current user/v);
				expect(ran.stderr).toMatch(because);
			}

			const {gpus} = await peek(box);
			expect(gpus[0]).toMatchObject({kind: 'leased', lease: {actualUser: String(victim)}});
		},
	);

	slowTest('an account in a user namespace cannot remove queue entries of another account', async () => {
		const box = await createOpen();
		const waiting = spawn(starter, [...starterText, ...'reserve --gpu-ids 0 --wait 5m'.split(' ')], {
			...accountOf(victim),
			env: {...box.environment, HOME: '/', XDG_CACHE_HOME: ''},
			stdio: ['ignore', 'ignore', 'pipe'],
		});
		let said = '';
		waiting.stderr.setEncoding('utf8').on('data', (text: string) => {
			said += text;
		});
		onTestFinished(() => {
			waiting.kill('SIGKILL');
		});
		await eventually(async () => {
			if ((await peek(box)).queue.length === 1) {
				return true;
			}

			throw new Error(`It does not wait (exit code ${waiting.exitCode}). It said: ${said}`);
		});
		const {id} = (await peek(box)).queue[0]!;
		for (const [what, through] of forgeries) {
			const ran = runAs(mallory, box, `queue --leave ${id}`, {through});
			expect(ran, what).toMatchObject({exitCode: 1, stdout: ''});
			expect(ran.stderr).toMatch(/^Error: That queue entry belongs to 61001\n/v);
			expect(ran.stderr).toMatch(because);
		}

		expect((await peek(box)).queue).toMatchObject([{id}]);
	});

	slowTest('GPUs reserved in a user namespace can be released in that namespace or by root', async () => {
		const box = await createOpen();
		const program = [starter, ...starterText].join(' ');
		const ran = runAs(mallory, box, '--version', {
			through: [
				'unshare',
				'-r',
				'sh',
				'-c',
				`${program} reserve --gpu-ids 1 && ${program} status --json && ${program} release`,
			],
		});
		expect(ran).toMatchObject({exitCode: 0});
		expect(ran.stdout).toMatch(/"user": "root@userns:61002\/\d+"/v);
		expect(ran.stdout).toContain('Released 1 GPU(s): [1]');
		expect(ran.stderr).toMatch(/Held by root@userns:61002\/\d+\. In a user namespace/v);

		expect(runAs(mallory, box, 'reserve --gpu-ids 1', {through: ['unshare', '-r']})).toMatchObject({exitCode: 0});
		// The next namespace can get the same number, but its account name still differs from that of another account
		// and from that of the account outside.
		expect(runAs(victim, box, 'release --gpu-ids 1', {through: ['unshare', '-r']})).toMatchObject({exitCode: 1});
		expect(runAs(mallory, box, 'release --gpu-ids 1')).toMatchObject({exitCode: 1});
		expect(await box.run('release --gpu-ids 0,1')).toMatchObject({exitCode: 0});
		expect(await holders(box)).toBe('0:- 1:-');
	});

	slowTest('a fake getent or id in PATH does not change the account under which a command acts', async () => {
		const box = await createOpen();
		const tools = mkdtempSync('/tmp/canhazgpu-tools-');
		onTestFinished(() => {
			rmSync(tools, {recursive: true, force: true});
		});
		chmodSync(tools, 0o755);
		for (const [name, line] of [
			['getent', `echo '${victim}:x:${mallory}:${mallory}::/:/bin/sh'`],
			['id', `echo ${victim}`],
		] as const) {
			writeFileSync(path.join(tools, name), `#!/bin/sh\n${line}\n`, {mode: 0o755});
		}

		const environment = {PATH: `${tools}:${box.environment['PATH']}`};
		const ran = runAs(mallory, box, 'release --gpu-ids 0', {environment});
		expect(ran).toMatchObject({exitCode: 1});
		expect(ran.stderr).toContain(`GPU 0 is held by ${victim}`);
		expect(runAs(mallory, box, 'reserve --gpu-ids 1', {environment})).toMatchObject({exitCode: 0});
		const {gpus} = await peek(box);
		expect(gpus[1]).toMatchObject({kind: 'leased', lease: {actualUser: String(mallory)}});
	});

	slowTest('root outside of a user namespace can still release every reservation', async () => {
		const box = await createOpen();
		expect(await box.run('release --gpu-ids 0')).toMatchObject({exitCode: 0});
		expect(await holders(box)).toBe('0:- 1:-');
	});
});

test.runIf(isLong && reason === undefined)(
	'an account with a running job is recognized in a user namespace and cannot act as another account',
	async () => {
		const box = await freshRedisBox(redis.port, 4);
		chmodSync(box.home, 0o755);
		for (const [uid, gpu] of [
			[victim, 0],
			[mallory, 1],
		] as const) {
			const job = spawn(starter, [...starterText, ...`run --gpu-ids ${gpu} -- sleep 60`.split(' ')], {
				...accountOf(uid),
				env: {...box.environment, HOME: '/', XDG_CACHE_HOME: ''},
				stdio: 'ignore',
			});
			onTestFinished(() => {
				job.kill('SIGTERM');
			});
		}

		expect(runAs(mallory, box, 'reserve --gpu-ids 3 --duration 1h')).toMatchObject({exitCode: 0});
		await eventually(async () => (await holders(box)) === '0:RUN 1:RUN 2:- 3:MANUAL');
		// Root of a namespace, the victim, and the overflow uid.
		for (const through of [
			['unshare', '-r'],
			['unshare', '-U', `--map-user=${victim}`],
			['unshare', '-U', '--map-user=65534'],
			['unshare', '-U'],
		]) {
			const ran = runAs(mallory, box, 'release --gpu-ids 0', {through});
			expect(ran, through.join(' ')).toMatchObject({exitCode: 1, stdout: ''});
		}

		expect(runAs(mallory, box, 'doctor', {through: ['unshare', '-U']}).stdout).toContain('@userns:?/');
		expect(runAs(mallory, box, 'release', {through: ['unshare', '-r']})).toMatchObject({
			exitCode: 0,
			stdout: 'Released 1 GPU(s): [3]\n',
			stderr: '',
		});
		expect(await holders(box)).toBe('0:RUN 1:RUN 2:- 3:-');
	},
);

test.runIf(isLong && reason === undefined)(
	'doctor in a user namespace names the account under which commands act',
	async () => {
		const box = await freshEmbeddedBox(1);
		chmodSync(box.home, 0o755);
		const {stdout} = runAs(mallory, box, 'doctor', {through: ['unshare', '-r']});
		expect(stdout).toMatch(/the pool knows this account only as root@userns:61002\/\d+/v);
	},
);
