/** Which store is opened if the configured Redis answers but has no pool. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {createLocations} from '../../source/app/locations.js';
import {openRedis} from '../../source/app/open-stores.js';
import {openStore} from '../../source/app/stores.js';
import {loadConfig, type Config} from '../../source/config/config.js';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import {createClock} from '../../source/host/clock.js';
import {createHost} from '../../source/host/host.js';
import {redisOfFile} from '../_helpers/store/redis-of-file.js';

const redis = redisOfFile();
const stateHome = process.env['XDG_STATE_HOME'];
let directory: string;

beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-stores-'));
	process.env['XDG_STATE_HOME'] = directory;
});

afterEach(() => {
	process.env['XDG_STATE_HOME'] = stateHome;
	if (stateHome === undefined) {
		delete process.env['XDG_STATE_HOME'];
	}

	rmSync(directory, {recursive: true, force: true});
});

/** Makes the test's port the default, so that Redis counts as not configured. */
async function configOf(db: number): Promise<Config> {
	const config = await loadConfig({
		flags: new Map(),
		environment: {
			CANHAZGPU_REDIS_PORT: String(redis.port),
			CANHAZGPU_REDIS_DB: String(db),
			CANHAZGPU_POOL_DIRECTORY: path.join(directory, 'pool'),
		},
		readsDirectory: false,
	});
	return {...config, isGiven: () => false};
}

test('openStore opens the remembered Redis every time if the configured Redis has no pool', async () => {
	const [host, clock] = [createHost(), createClock()];
	const contextOf = async (db: number) => {
		const config = await configOf(db);
		return {host, clock, config, locations: createLocations(config, host)};
	};

	const earlier = await contextOf(7);
	const pool = await openRedis(earlier, false);
	await createPool({...earlier, store: pool}, {gpuCount: 2, provider: 'fake', force: true});
	await pool.close();
	earlier.locations.remember(earlier.locations.redisRecord());

	const context = await contextOf(8);
	for (const turn of ['first', 'second']) {
		const {store} = await openStore(context, {}, async () => ({provider: undefined, reason: ''}));
		const snapshot = await store.read();
		await store.close();
		expect([turn, snapshot.pool?.gpuCount]).toEqual([turn, 2]);
	}
});

test('openStore creates no private pool while the remembered Redis does not answer', async () => {
	const [host, clock] = [createHost(), createClock()];
	const earlier = await configOf(9);
	const locations = createLocations(earlier, host);
	locations.remember(locations.redisRecord());
	const config: Config = {
		...earlier,
		get: (setting) => (setting === 'redis.port' ? 1 : setting === 'store' ? 'embedded' : earlier.get(setting)),
	};
	const context = {host, clock, config, locations: createLocations(config, host)};
	const opened = openStore(context, {canMakePrivate: true}, async () => ({provider: undefined, reason: ''}));
	await expect(opened).rejects.toMatchObject({
		code: 'usage',
		message: `This machine's GPU pool may be in redis localhost:${redis.port}/9, and a second, private pool could give the same GPU to two people`,
		hint: 'Cannot reach Redis at localhost:1: connection refused. If your pool is there, start that server. Leave out --store embedded.',
	});
	expect(locations.facts().hasPrivatePool).toBe(false);
});

test('openStore rethrows a TypeError instead of reporting an unreachable Redis', async () => {
	const [host, clock] = [createHost(), createClock()];
	const config = await configOf(7);
	const bug = new TypeError('no such method');
	const broken: Config = {
		...config,
		get(setting) {
			if (setting === 'redis.tls') {
				throw bug;
			}

			return config.get(setting);
		},
	};
	const context = {host, clock, config: broken, locations: createLocations(config, host)};
	await expect(openStore(context, {}, async () => ({provider: undefined, reason: ''}))).rejects.toBe(bug);
});
