/** Many users in one process who want more GPUs than there are. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Redis} from 'ioredis';
import {onTestFinished} from 'vitest';
import type {Wanted} from '../../../source/core/rules/request/request.js';
import type {Store} from '../../../source/core/model/ports.js';
import {release} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {createCrowd, type Crowd, type Person} from '../../_helpers/store/crowd.js';
import type {RedisServer} from '../../_helpers/store/redis-server.js';
import {person as personNamed} from '../../_helpers/world.js';

export const gpuCount = 8;

async function crowdAt(open: () => Promise<Store>, random: (() => number) | undefined): Promise<Crowd> {
	const crowd = await createCrowd({open, gpuCount, random});
	onTestFinished(async () => crowd.close());
	return crowd;
}

/** Empties this Redis and returns a crowd that uses it. */
export async function crowdOnRedis({host, port}: RedisServer, random?: () => number): Promise<Crowd> {
	const client = new Redis(port);
	await client.flushall();
	client.disconnect();
	return crowdAt(async () => openRedisStore({host, port, db: 0, keepReconnecting: true}), random);
}

/** Returns a crowd with its own embedded pool. */
export async function crowdOnFile(random?: () => number): Promise<Crowd> {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-crowd-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	return crowdAt(async () => openSqliteStore({path: path.join(directory, 'pool.sqlite'), create: true}), random);
}

export const requesterOf = ({world}: Person) => personNamed(world.host.account.name, undefined, world.host.account.uid);

/** Returns a request for a job. */
export const request = (person: Person, wanted: Wanted) => ({
	requester: requesterOf(person),
	...wanted,
	tenure: {type: 'run'} as const,
});

/** Returns options to wait until served or cancelled. */
export const forEver = (onProgress: () => void = () => undefined, signal = new AbortController().signal) => ({
	waitSeconds: undefined,
	signal,
	onProgress,
});

/** Reserves all GPUs. The returned function releases some of them. */
export async function holdAll(crowd: Crowd): Promise<(ids: readonly number[]) => Promise<void>> {
	const boss = await crowd.enter();
	await acquire(boss.world, request(boss, {count: gpuCount, need: {sameModel: false}}), forEver());
	return async (ids) => {
		await release(boss.world, requesterOf(boss), {by: 'gpus', ids});
	};
}
