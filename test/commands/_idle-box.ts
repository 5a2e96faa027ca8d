/** A box with two idle GPUs, as an nvidia-smi stub reports them, and reservations that have long been idle. */
import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {Redis} from 'ioredis';
import {expect, onTestFinished} from 'vitest';
import {emptyPlan} from '../../source/core/model/plan.js';
import type {LeaseIdle, Snapshot} from '../../source/core/model/types.js';
import {createBox, type Box} from '../_helpers/program/cli.js';
import {openStoreOf, peek} from '../_helpers/program/processes.js';
import {createStub, type Stub} from '../gpu/nvidia/stub-nvidia-smi.js';

const uuids = [0, 1].map((index) => `GPU-0a0a0a0a-1111-2222-3333-00000000000${index}`);

const gpuLines = (usedMiB: readonly number[]): string =>
	[
		'index, uuid, pci.bus_id, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%], temperature.gpu, power.draw [W], power.limit [W], driver_version',
		...usedMiB.map(
			(used, index) =>
				`${index}, ${uuids[index]}, 00000000:0${index + 2}:00.0, NVIDIA H100 80GB HBM3, 81559, ${used}, 0, 31, 69.85, 700.00, 570.86.15`,
		),
		'',
	].join('\n');

const processLines = 'gpu_uuid, pid, used_gpu_memory [MiB], process_name\n';

export type IdleBox = {
	readonly box: Box;
	/** Sets the memory in use on each GPU. */
	readonly use: (...usedMiB: readonly number[]) => Promise<void>;
	readonly stub: Stub;
};

/** @param port - The port of a Redis, or undefined for an embedded pool. */
export async function createIdleBox(port: number | undefined): Promise<IdleBox> {
	const stub = await createStub({gpus: {stdout: gpuLines([4, 4])}, processes: {stdout: processLines}});
	const searchPath = `${stub.directory}${path.delimiter}${process.env['PATH'] ?? ''}`;
	const box = createBox({
		PATH: searchPath,
		...(port === undefined
			? {CANHAZGPU_STORE: 'embedded'}
			: {CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(port)}),
	});
	mkdirSync(box.poolDirectory);
	onTestFinished(() => {
		box.remove();
		rmSync(stub.directory, {recursive: true, force: true});
	});
	if (port !== undefined) {
		const client = new Redis(port);
		await client.flushall();
		client.disconnect();
	}

	expect(await box.run('admin --gpus 2 --provider nvidia')).toMatchObject({exitCode: 0});
	expect(await box.run('admin --set idle.after=5m --set idle.grace=5m --set idle.when=always')).toMatchObject({
		exitCode: 0,
	});
	await ageStore(box);
	return {
		box,
		stub,
		use: async (...usedMiB) => stub.answer({gpus: {stdout: gpuLines(usedMiB)}, processes: {stdout: processLines}}),
	};
}

/** Makes the pool look older than it is, because idle times that began before the pool do not count. */
export async function ageStore({environment, poolDirectory}: Box): Promise<void> {
	const age = (revision: string): string => {
		const [count, base, since, run] = revision.split(' ', 4);
		return [count, base, Number(since) - 86_400, run].join(' ');
	};

	const port = environment['CANHAZGPU_REDIS_PORT'];
	if (port === undefined) {
		const database = new DatabaseSync(path.join(poolDirectory, 'pool.sqlite'), {timeout: 10_000});
		const {value} = database.prepare("SELECT CAST(raw AS TEXT) AS value FROM pool WHERE name = 'revision'").get() as {
			value: string;
		};
		database.prepare("UPDATE pool SET raw = ? WHERE name = 'revision'").run(age(value));
		database.close();
		return;
	}

	const client = new Redis(Number(port));
	await client.set('canhazgpu:revision', age((await client.get('canhazgpu:revision'))!));
	client.disconnect();
}

/**
Lets an account hold both GPUs, idle for an hour.
@param changes - Seconds from now at which the warning began, and at which the GPUs go back.
@param account - The holder.
*/
export async function holdIdle(
	box: Box,
	changes: {readonly warned?: number; readonly deadline?: number} = {},
	account = 'alice',
): Promise<number> {
	const store = await openStoreOf(box);
	const {now} = await store.read();
	const at = (seconds = 0): number => Math.ceil(now) + seconds;
	// Programs that watch the pool scan at once after a GPU has changed hands.
	const leaseId = `lease-${Math.round(now * 1000)}`;
	const idle: LeaseIdle = {
		since: Math.floor(now) - 3600,
		seen: Math.floor(now),
		...(changes.deadline !== undefined && {
			warned: at(changes.warned),
			deadline: at(changes.deadline),
			remindedOf: at(changes.deadline),
		}),
	};
	await store.commit({
		...emptyPlan,
		writes: [0, 1].map((index) => ({
			kind: 'lease' as const,
			index,
			lease: {
				user: account,
				actualUser: account,
				type: 'manual',
				startTime: Math.floor(now) - 7200,
				expiryTime: Math.ceil(now) + 7200,
				leaseId,
				note: 'forgotten',
				idle,
			},
		})),
		event: {kind: 'extended', gpus: [0, 1]},
	});
	return idle.deadline ?? 0;
}

/** Returns the kinds of events about idle reservations, and the state of the GPUs. */
export async function outcomeOf(
	box: Box,
): Promise<{readonly kinds: readonly string[]; readonly gpus: readonly string[]}> {
	const store = await openStoreOf(box);
	const audit = await store.audit();
	const snapshot: Snapshot = await peek(box);
	return {
		kinds: audit
			.filter(({kind}) => kind === 'idle' || kind === 'ended')
			.map(({kind, reason}) => [kind, reason].filter((word) => word !== undefined).join(' ')),
		gpus: snapshot.gpus.map(({kind}) => kind),
	};
}
