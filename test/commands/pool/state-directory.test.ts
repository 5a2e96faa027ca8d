/** Commands of root in the home directory of another account, as with `sudo -E` or `su`. */
import {chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase, isLong} from '../../_helpers/slow.js';

const accounts = accountsOfFile();
const redis = redisOfFile();
const root = 0;

/** Prevents a shared pool, so that the program remembers the location in the home. */
const alone = {CANHAZGPU_STORE: '', CANHAZGPU_POOL_DIRECTORY: '/dev/null/pool'};

beforeEach(() => {
	for (const uid of [root, mallory, alice]) {
		const home = accounts.homeOf(uid);
		rmSync(home, {recursive: true, force: true});
		mkdirSync(home);
		chmodSync(home, 0o755);
		chownSync(home, uid, uid);
	}
});

const stateOf = (uid: number): string => path.join(accounts.homeOf(uid), '.local/state/canhazgpu');

const makeRedisPool = async (uid: number, environment: Readonly<Record<string, string>> = {}) =>
	accounts.run(uid, 'admin --store redis --gpus 2 --provider fake --force', {
		environment: {...alone, CANHAZGPU_REDIS_PORT: String(redis.port), ...environment},
	});

const created = {
	exitCode: 0,
	stderr: expect.stringMatching(
		/^Warning: without settings, other accounts do not find this pool, because \S+ could not be written: a part of the path is not a directory\. .*\n$/v,
	) as string,
};

describe.runIf(canBeOthers)('root in the home of another account', () => {
	test.each([['HOME'], ['XDG_STATE_HOME']])('writes no file into that home if %s points to it', async (variable) => {
		const environment = {[variable]: accounts.homeOf(mallory)};
		expect(await makeRedisPool(root, environment)).toMatchObject(created);
		expect(readdirSync(accounts.homeOf(mallory))).toEqual([]);
	});

	test('creates no pool and suggests sudo -H', async () => {
		const {exitCode, stderr} = await accounts.run(root, 'admin --store embedded --gpus 2 --provider fake', {
			environment: {CANHAZGPU_POOL_DIRECTORY: stateOf(mallory)},
		});
		expect([exitCode, readdirSync(accounts.homeOf(mallory))]).toEqual([4, []]);
		expect(stderr).toContain('sudo -H canhazgpu');
	});

	test('follows no link and changes no directory mode', async () => {
		const precious = path.join(accounts.directory, 'precious');
		rmSync(precious, {recursive: true, force: true});
		mkdirSync(precious, {mode: 0o755});
		mkdirSync(path.dirname(stateOf(mallory)), {recursive: true});
		symlinkSync(precious, stateOf(mallory));
		for (const name of ['.local', '.local/state', '.local/state/canhazgpu']) {
			await accounts.shell(root, `chown -h ${mallory}:${mallory} ${accounts.homeOf(mallory)}/${name}`);
		}

		expect(await makeRedisPool(root, {HOME: accounts.homeOf(mallory)})).toMatchObject({exitCode: 0});
		expect([readdirSync(precious), lstatSync(precious).mode % 0o1000]).toEqual([[], 0o755]);
	});
});

test.runIf(isLong && canBeOthers)('every account remembers the location of the pool in its own home', async () => {
	for (const uid of [root, alice]) {
		expect(await makeRedisPool(uid)).toMatchObject(created);
		const [machine = ''] = readdirSync(stateOf(uid));
		expect(readdirSync(path.join(stateOf(uid), machine))).toEqual(['found.json']);
		const ran = await accounts.run(uid, 'status', {environment: alone});
		expect([uid, ran.exitCode]).toEqual([uid, 0]);
	}
});

test.runIf(canBeOthers).each(firstCase([['.local'], ['.local/state/canhazgpu']]))(
	'an account whose directory %s belongs to root can still use the shared pool',
	async (name) => {
		const closed = path.join(accounts.homeOf(alice), name);
		mkdirSync(path.dirname(closed), {recursive: true});
		mkdirSync(closed, {mode: 0o700});
		const environment = {...alone, CANHAZGPU_POOL_DIRECTORY: accounts.poolDirectory};
		rmSync(accounts.poolDirectory, {recursive: true, force: true});
		expect(await accounts.run(root, 'admin --store embedded --gpus 2 --provider fake', {environment})).toMatchObject({
			exitCode: 0,
		});
		expect(await accounts.run(alice, 'reserve --nonblock', {environment})).toMatchObject({exitCode: 0});
		const elsewhere = await accounts.run(alice, 'status', {environment: alone});
		expect(elsewhere).toMatchObject({
			exitCode: 4,
			stderr: expect.stringContaining('There is no GPU pool on this machine yet') as string,
		});
	},
);
