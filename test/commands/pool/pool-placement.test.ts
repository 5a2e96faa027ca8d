/** The directory of a pool must be safe from replacement by another account. */
import {chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import {canEnter} from '../../_helpers/machine/namespaces.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const accounts = accountsOfFile();
const redis = redisOfFile();
const root = 0;

const above = (): string => path.join(accounts.directory, 'above');

beforeEach(() => {
	rmSync(above(), {recursive: true, force: true});
	mkdirSync(above(), {mode: 0o755});
	for (const uid of [root, mallory, alice]) {
		const home = accounts.homeOf(uid);
		rmSync(home, {recursive: true, force: true});
		mkdirSync(home);
		chmodSync(home, 0o755);
		chownSync(home, uid, uid);
	}
});

const give = (name: string, uid: number, gid: number, mode: number): void => {
	chownSync(name, uid, gid);
	chmodSync(name, mode);
};

const admin = 'admin --store embedded --gpus 2 --provider fake';

describe.runIf(canBeOthers)('a pool that another account could replace', () => {
	const placements: ReadonlyArray<
		readonly [what: string, place: () => string, spoil: () => void, problem: () => string, remedy: string]
	> = [
		[
			'below a directory that a group can write',
			() => path.join(above(), 'pool'),
			() => {
				give(above(), root, mallory, 0o775);
			},
			() => `is inside ${above()}, where the group with gid ${mallory} can replace directories`,
			'chmod g-w',
		],
		[
			'below a directory that everybody can write',
			() => path.join(above(), 'between', 'pool'),
			() => {
				give(above(), root, root, 0o777);
			},
			() => `is inside ${above()}, where any account can replace directories`,
			'chmod o-w',
		],
		[
			'below a directory of another account',
			() => path.join(above(), 'between', 'pool'),
			() => {
				give(above(), mallory, mallory, 0o755);
			},
			() => `is inside ${above()}, whose owner (uid ${mallory}) can replace directories there`,
			'sudo chown root',
		],
		[
			'behind a link of another account in a world-writable directory',
			() => path.join(above(), 'link', 'pool'),
			() => {
				give(above(), root, root, 0o1777);
				mkdirSync(path.join(accounts.directory, 'kept'), {recursive: true});
				rmSync(path.join(accounts.directory, 'kept/link'), {recursive: true, force: true});
				mkdirSync(path.join(accounts.directory, 'kept/link'));
				rmSync(path.join(above(), 'link'), {recursive: true, force: true});
			},
			() => `is reached through the link ${above()}/link, whose owner (uid ${mallory}) can point it elsewhere`,
			'remove the link: rm',
		],
	];

	slowTest.each(placements)(
		'%s is refused for root and other accounts, with a remedy',
		async (what, place, spoil, problem, remedy) => {
			const environment = {CANHAZGPU_POOL_DIRECTORY: place()};
			const make = async (): Promise<void> => {
				expect(await accounts.run(root, admin, {environment})).toMatchObject({exitCode: 0});
			};

			if (what.includes('link')) {
				spoil();
				const kept = path.join(accounts.directory, 'kept/link');
				symlinkSync(kept, path.join(above(), 'link'));
				await make();
				rmSync(path.join(above(), 'link'));
				await accounts.shell(mallory, `ln -s ${kept} ${above()}/link`);
			} else {
				mkdirSync(path.dirname(place()), {recursive: true});
				await make();
				spoil();
			}

			for (const uid of [root, alice]) {
				for (const command of [
					'status',
					'reserve --nonblock',
					'doctor',
					...(uid === root ? [`${admin} --force`] : []),
				]) {
					const {exitCode, stdout, stderr} = await accounts.run(uid, command, {environment});
					expect([uid, command, exitCode, `${stdout}${stderr}`]).toEqual([
						uid,
						command,
						command === 'doctor' ? 1 : 4,
						expect.stringContaining(problem()),
					]);
					expect(`${stdout}${stderr}`).toContain(remedy);
				}
			}

			// The database is checked like pool.json.
			rmSync(path.join(place(), 'pool.json'));
			const {exitCode, stderr} = await accounts.run(root, `${admin} --force`, {environment});
			expect([exitCode, stderr]).toEqual([
				4,
				expect.stringContaining(`The GPU pool ${place()}/pool.sqlite ${problem()}`),
			]);
		},
	);

	slowTest('is neither created nor recorded in a directory of another account', async () => {
		give(above(), mallory, mallory, 0o755);
		const precious = path.join(accounts.directory, 'precious');
		mkdirSync(precious, {recursive: true});
		expect(await accounts.shell(mallory, `ln -s ${precious} ${above()}/link`)).toMatchObject({exitCode: 0});
		for (const words of [admin, 'admin --store redis --gpus 2 --provider fake']) {
			const environment = {
				CANHAZGPU_STORE: '',
				CANHAZGPU_REDIS_PORT: String(redis.port),
				CANHAZGPU_POOL_DIRECTORY: path.join(above(), 'link/more/pool'),
			};
			const {exitCode, stderr} = await accounts.run(root, words, {environment});
			expect([words, exitCode, stderr]).toEqual([
				words,
				4,
				expect.stringContaining(`is inside ${above()}, whose owner (uid ${mallory})`),
			]);
			expect(readdirSync(precious)).toEqual([]);
		}
	});

	slowTest('is refused for root after another account has replaced its directory', async () => {
		const place = path.join(above(), 'pool');
		const environment = {CANHAZGPU_STORE: '', CANHAZGPU_POOL_DIRECTORY: place};
		expect(await accounts.run(root, admin, {environment})).toMatchObject({exitCode: 0});
		give(above(), mallory, mallory, 0o755);
		await accounts.shell(mallory, `mv ${place} ${place}-away; mkdir ${place}`);
		writeFileSync(
			path.join(place, 'pool.json'),
			JSON.stringify({store: 'redis', host: '127.0.0.1', port: redis.port, db: 0}),
		);
		chownSync(path.join(place, 'pool.json'), mallory, mallory);
		const {exitCode, stderr} = await accounts.run(root, 'status', {environment});
		expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`is inside ${above()}`)]);
		// Root trusts only its own record, even if nobody else can replace the directory.
		give(above(), root, root, 0o755);
		const again = await accounts.run(root, 'status', {environment});
		expect([again.exitCode, again.stderr]).toEqual([
			4,
			expect.stringContaining(`is in ${place}, which belongs to uid ${mallory}`),
		]);
		give(place, root, root, 0o755);
		const third = await accounts.run(root, 'status', {environment});
		expect([third.exitCode, third.stderr]).toEqual([4, expect.stringContaining('it belongs to another account')]);
	});
});

describe.runIf(canBeOthers)('a private pool', () => {
	const own = {CANHAZGPU_POOL_DIRECTORY: '/proc/nowhere'};

	/** Creates and uses a private pool of alice in one shell, which `through` starts. */
	const serves = async (environment: Readonly<Record<string, string>> = {}, through = ''): Promise<void> => {
		const settings = Object.entries({...own, ...environment}).map(([name, value]) => `export ${name}=${value}`);
		const commands = [admin, 'reserve --gpu-ids 1', 'release', 'doctor'].map(
			(words) => `${accounts.words.join(' ')} ${words}`,
		);
		const ran = await accounts.shell(alice, `${through} bash -c '${[...settings, ...commands].join(' && ')}'`);
		expect(ran).toMatchObject({exitCode: 0, stdout: expect.stringContaining('Released 1 GPU(s): [1]') as string});
	};

	slowTest.each([
		['with mode 700', alice, 0o700],
		['with mode 755', alice, 0o755],
		['with mode 775 and the group of its account', alice, 0o775],
	])('works in a home directory %s', async (_, gid, mode) => {
		give(accounts.homeOf(alice), alice, gid, mode);
		await serves();
	});

	slowTest("works in a home that the account's group can write, even if the process has another group", async () => {
		give(accounts.homeOf(alice), alice, alice, 0o775);
		await serves();
		const ran = await accounts.shell(
			root,
			`setpriv --reuid ${alice} --regid ${mallory} --clear-groups env CANHAZGPU_POOL_DIRECTORY=/proc/nowhere HOME=${accounts.homeOf(alice)} ${accounts.words.join(' ')} status`,
		);
		expect(ran).toMatchObject({exitCode: 0});
	});

	slowTest(
		'works if the home is a link that belongs to root, and the state directory a link of the account',
		async () => {
			mkdirSync(path.join(above(), 'data/home'), {recursive: true});
			symlinkSync('data/home/', path.join(above(), 'home'));
			mkdirSync(path.join(above(), 'home/alice/elsewhere'), {recursive: true});
			mkdirSync(path.join(above(), 'home/alice/.local'), {recursive: true});
			const home = path.join(above(), 'home/alice');
			symlinkSync('../elsewhere', path.join(home, '.local/state'));
			for (const name of ['', 'elsewhere', '.local']) {
				chownSync(path.join(home, name), alice, alice);
			}

			await serves({HOME: home});
			expect(existsSync(path.join(home, 'elsewhere/canhazgpu'))).toBe(true);
		},
	);

	slowTest('works below a shared sticky directory', async () => {
		give(above(), root, root, 0o1777);
		mkdirSync(path.join(above(), 'state'));
		chownSync(path.join(above(), 'state'), alice, alice);
		await serves({XDG_STATE_HOME: path.join(above(), 'state')});
	});

	test.runIf(isLong && canEnter({flags: ['--user', '--map-root-user']}))(
		'works in a user namespace, in which directories of root have no valid owner',
		async () => {
			await serves({}, 'unshare --user');
			await accounts.shell(alice, 'rm -r .local');
			await serves({}, 'unshare --user --map-root-user');
		},
	);

	slowTest('is refused in a home directory that another group can write', async () => {
		give(accounts.homeOf(alice), alice, mallory, 0o775);
		const {exitCode, stderr} = await accounts.run(alice, admin, {environment: own});
		expect([exitCode, stderr]).toEqual([
			4,
			expect.stringContaining(`is inside ${accounts.homeOf(alice)}, where the group with gid ${mallory} can replace`),
		]);
		expect(readdirSync(accounts.homeOf(alice))).toEqual([]);
	});
});
