/** All commands that change the state, each with its preparation, for the tests that kill them at every point. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {drain} from '../../../source/core/operations/pool/drain.js';
import type {World} from '../../../source/core/model/ports.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import type {Requester, Snapshot} from '../../../source/core/model/types.js';
import {eventually} from '../eventually.js';
import {joinQueue} from '../../../source/core/operations/waiting/join-queue.js';
import {isLeased} from '../leased.js';
import type {Box} from './cli.js';
import {isAlive, type Started} from './processes.js';

/** A pool, and the test's own access to it as another process. */
export type Stage = {readonly box: Box; readonly world: World; readonly me: Requester};

/** A running process. `says` rejects if the process ends without printing the pattern. */
export type Watched = Pick<Started, 'kill' | 'says'>;

export type KilledCommand = {
	readonly name: string;
	/** Prepares the pool before the command starts. Without `arrange`, there is no pool. The result is passed to `words`. */
	readonly arrange?: (stage: Stage) => Promise<unknown>;
	readonly words: (arranged: unknown) => readonly string[];
	/** Actions of other processes while the command runs. */
	readonly meanwhile?: (stage: Stage, started: Watched) => Promise<void>;
	/** States that a killed command may leave, besides the one before the command and the final one. */
	readonly mayLeave?: readonly PoolState[];
	/** A command to run after the kill, and its allowed exit codes. */
	readonly again?: {readonly words: readonly string[]; readonly exitCodes: readonly number[]};
};

/** A text that describes the state without ids and times. */
export type PoolState = string;

export const poolStateOf = ({pool, gpus, queue, drains, policy, now}: Snapshot): PoolState =>
	[
		`pool ${pool?.gpuCount ?? '-'}`,
		...gpus.map((record) =>
			isLeased(record)
				? [
						record.lease.type,
						record.lease.note ?? '',
						record.lease.expiryTime === undefined ? '' : `${Math.round((record.lease.expiryTime - now) / 3600)}h`,
						record.lease.partialQueueId === undefined ? '' : 'held',
					]
						.filter((word) => word !== '')
						.join(' ')
				: record.kind,
		),
		`line ${queue.length}`,
		`drained ${drains.keys().toArray().join(',')}`,
		`policy ${Array.from(policy, ([key, {value}]) => `${key}=${value}`).join(',')}`,
	].join(' | ');

/** The state before any pool exists. */
export const noPool: PoolState = 'pool - | line 0 | drained  | policy ';

const gpuCount = 3;

const pool = async ({world}: Stage) => createPool(world, {gpuCount, provider: 'fake', force: false});

/** Reserves this many GPUs in index order, with one reservation for each. */
const hold = async (stage: Stage, count: number) => {
	await pool(stage);
	for (let index = 0; index < count; index++) {
		await reserve(stage.world, {requester: stage.me, count: 1, ids: [index], durationSeconds: 7200, note: 'mine'});
	}
};

/** Waits until the job of a killed `run` has ended. Returns false if the job never started. */
export async function jobEnded(box: Box): Promise<boolean> {
	const file = path.join(box.home, 'job');
	const hasBegun = (): boolean => existsSync(file) && readFileSync(file, 'utf8') !== '';
	await eventually(() => !(hasBegun() && isAlive(Number(readFileSync(file, 'utf8')))));
	return hasBegun();
}

const releaseGpu = async ({world, me}: Stage, id: number) => release(world, me, {by: 'gpus', ids: [id]});

const free = 'free';
const mine = 'manual mine 2h';
const stateWith = (gpus: readonly string[], line = 0): PoolState =>
	['pool 3', ...gpus, `line ${line}`, 'drained ', 'policy '].join(' | ');

export const killedCommands: readonly KilledCommand[] = [
	{
		name: 'reserve',
		arrange: pool,
		words: () => ['reserve', '--gpus', '2', '--duration', '3h'],
		again: {words: ['reserve', '--nonblock'], exitCodes: [0]},
	},
	{
		name: 'a reserve that is refused',
		arrange: async (stage) => hold(stage, 3),
		words: () => ['reserve', '--nonblock'],
	},
	{
		name: 'run',
		arrange: pool,
		words: () => ['run', '--', 'sh', '-c', 'echo $$ > job; sleep 0.2'],
		again: {words: ['run', '--nonblock', '--gpus', '3', '--', 'true'], exitCodes: [0]},
	},
	{
		name: 'release',
		arrange: async (stage) => hold(stage, 2),
		words: () => ['release'],
		again: {words: ['release'], exitCodes: [0]},
	},
	{
		name: 'extend',
		arrange: async (stage) => hold(stage, 2),
		words: () => ['extend', '--duration', '4h'],
		again: {words: ['extend', '--duration', '1h'], exitCodes: [0]},
	},
	{
		name: 'queue --leave',
		async arrange(stage) {
			await hold(stage, 3);
			const {world, me} = stage;
			const id = world.clock.uuid();
			const request = {requester: me, count: 1, tenure: {type: 'manual', durationSeconds: 60}} as const;
			await joinQueue(world, {id, request, waitSeconds: undefined});
			return id;
		},
		words: (id) => ['queue', '--leave', String(id)],
	},
	{
		name: 'a reserve that waits',
		arrange: async (stage) => hold(stage, 3),
		words: () => ['reserve', '--gpus', '2', '--duration', '3h'],
		async meanwhile(stage, started) {
			await started.says(/position \d/v);
			await releaseGpu(stage, 1);
			await started.says(/got 1\/2/v);
			await releaseGpu(stage, 0);
		},
		mayLeave: [stateWith([mine, mine, mine]), stateWith([mine, free, mine]), stateWith([free, free, mine])],
		again: {words: ['reserve', '--nonblock', '--gpu-ids', '2'], exitCodes: [3]},
	},
	{
		name: 'a run that waits',
		arrange: async (stage) => hold(stage, 3),
		words: () => ['run', '--', 'sh', '-c', 'echo $$ > job; sleep 0.1'],
		async meanwhile(stage, started) {
			await started.says(/position \d/v);
			await releaseGpu(stage, 1);
		},
		mayLeave: [stateWith([mine, mine, mine]), stateWith([mine, free, mine])],
	},
	{
		name: 'a canceled reserve',
		arrange: async (stage) => hold(stage, 3),
		words: () => ['reserve'],
		async meanwhile(_, started) {
			await started.says(/position \d/v);
			started.kill('SIGINT');
		},
	},
	{
		name: 'a reserve whose --wait is over',
		arrange: async (stage) => hold(stage, 3),
		words: () => ['reserve', '--wait', '0.3s'],
	},
	{
		name: 'admin',
		words: () => ['admin', '--gpus', '3', '--provider', 'fake'],
		again: {words: ['admin', '--gpus', '3', '--provider', 'fake'], exitCodes: [0, 1]},
	},
	{
		name: 'admin --force',
		arrange: async (stage) => hold(stage, 2),
		words: () => ['admin', '--gpus', '4', '--provider', 'fake', '--force'],
		again: {words: ['admin', '--gpus', '4', '--provider', 'fake', '--force'], exitCodes: [0]},
	},
	{
		name: 'admin --drain',
		arrange: async (stage) => hold(stage, 1),
		words: () => ['admin', '--drain', '0,2', '--reason', 'fan'],
		again: {words: ['admin', '--drain', '0,2'], exitCodes: [0]},
	},
	{
		name: 'admin --undrain',
		async arrange(stage) {
			await pool(stage);
			await drain(stage.world, stage.me, [0, 1, 2], undefined);
		},
		words: () => ['admin', '--undrain', '0,1'],
		again: {words: ['admin', '--undrain', '0,1'], exitCodes: [0]},
	},
	{
		name: 'admin --set',
		async arrange(stage) {
			await pool(stage);
			await changePolicy(stage.world, stage.me, [{key: 'isolate', value: 'prefer'}]);
		},
		words: () => ['admin', '--set', 'strategy=lru', '--set', 'clean=on', '--unset', 'isolate'],
		again: {words: ['admin', '--set', 'strategy=lru', '--set', 'clean=on'], exitCodes: [0]},
	},
	{
		// Every read removes leases that have ended.
		name: 'a status that removes dead leases',
		async arrange(stage) {
			await pool(stage);
			const {world, me} = stage;
			const {host} = world;
			const nobody = {...host.self, pid: 4_194_303};
			const dead: World = {...world, host: {...host, self: nobody, liveness: (list) => list.map(() => 'alive')}};
			const run = {requester: me, count: 2, tenure: {type: 'run'}} as const;
			await acquireNow(dead, run, world.clock.uuid());
			await joinQueue(dead, {id: world.clock.uuid(), request: run, waitSeconds: undefined});
			await reserve(dead, {requester: me, count: 1, durationSeconds: -5});
		},
		words: () => ['status'],
	},
];
