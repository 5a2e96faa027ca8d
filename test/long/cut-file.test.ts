/** Redis loses the end of its append-only file at any byte. The remaining state is always one after a whole commit. */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {drain, undrain} from '../../source/core/operations/pool/drain.js';
import {createPool} from '../../source/core/operations/pool/create-pool.js';
import {extend, release, reserve} from '../../source/core/operations/reservations.js';
import {leaveQueue} from '../../source/core/operations/waiting/leave-queue.js';
import {openRedisStore} from '../../source/store/redis/index.js';
import {createBox} from '../_helpers/program/cli.js';
import {stageOf} from '../_helpers/program/kill-stage.js';
import {poolStateOf, type Stage} from '../_helpers/program/killed-commands.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {checkAuditLog} from '../_helpers/store/audit-log.js';
import {historyOf} from '../_helpers/world.js';
import {joinQueue} from '../../source/core/operations/waiting/join-queue.js';

const cuts = 200;

/** Everything in the store, as text. */
async function stateOf({world: {store}}: Stage): Promise<string> {
	const snapshot = await store.read();
	return JSON.stringify([
		poolStateOf({...snapshot, now: 0}),
		snapshot.gpus.map(({raw}) => raw),
		snapshot.queue,
		snapshot.stored,
		await historyOf(store),
		await store.audit(),
	]);
}

/** Performs one change of each kind, and records the state after each. */
async function live(stage: Stage, noteDown: () => Promise<void>): Promise<void> {
	const {world, me} = stage;
	await createPool(world, {gpuCount: 3, provider: 'fake', force: false});
	await noteDown();
	for (let round = 0; round < 8; round++) {
		const note = 'x'.repeat(round * 25);
		const id = world.clock.uuid();
		const wanted = {requester: me, count: 1, tenure: {type: 'manual', durationSeconds: 60}, note} as const;
		const steps: ReadonlyArray<() => Promise<unknown>> = [
			async () => reserve(world, {requester: me, count: 3, durationSeconds: 3600, note}),
			async () => joinQueue(world, {id, request: wanted, waitSeconds: undefined}),
			async () => extend(world, me, {by: 'label', label: me.label}, {by: 60}),
			async () => drain(world, me, [0, 2], note),
			async () => leaveQueue(world, me, id),
			async () => release(world, me, {by: 'gpus', ids: [1]}),
			async () => undrain(world, me, [2]),
			async () => release(world, me, {by: 'label', label: me.label}),
			async () => undrain(world, me, [0]),
		];
		for (const step of steps) {
			await step();
			await noteDown();
		}
	}
}

test(
	'Redis never restarts with half of a commit, wherever its append-only file was cut',
	{timeout: 600_000},
	async () => {
		const server = await startRedis({isDurable: true});
		onTestFinished(async () => server.stop());
		const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(server.port)});
		onTestFinished(box.remove);
		const open = async (): Promise<Stage> =>
			stageOf(await openRedisStore({host: server.host, port: server.port, db: 0, keepReconnecting: false}), box);
		const stage = await open();
		const states = new Map<string, number>([[await stateOf(stage), 0]]);
		await live(stage, async () => {
			states.set(await stateOf(stage), states.size);
		});
		await stage.world.store.close();
		await server.kill();
		const directory = path.join(server.directory, 'appendonlydir');
		const file = path.join(
			directory,
			readdirSync(directory).find((name) => name.endsWith('.incr.aof'))!,
		);
		const whole = readFileSync(file);
		expect(states.size).toBeGreaterThan(70);

		let last = 0;
		for (let cut = 0; cut <= cuts; cut++) {
			writeFileSync(file, whole.subarray(0, Math.round((cut * whole.length) / cuts)));
			await server.restart();
			const left = await open();
			const index = states.get(await stateOf(left));
			expect(index, `cut at ${cut}/${cuts}`).toBeDefined();
			expect(index).toBeGreaterThanOrEqual(last);
			last = index!;
			await checkAuditLog(left.world, await left.world.store.read());
			await left.world.store.close();
			await server.kill();
			if (cut % 40 !== 20) {
				continue;
			}

			await server.restart();
			const {stdout, exitCode} = await box.run('doctor');
			expect(exitCode, stdout).toBe(0);
		}

		expect(last).toBe(states.size - 1);
	},
);
