/** Many servers that reserve and are killed at random moments. */
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished} from 'vitest';
import {freshRedisBox, holders, isAlive, openStoreOf, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {slowTest} from '../_helpers/slow.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {connect} from './_client.js';

const serverCount = 50;
const gpuCount = 4;

/** A server is killed at the latest this long after it has started to reserve. */
const longestLifeMs = 3000;

slowTest(`no GPU is held or granted twice after ${serverCount} mcp servers were killed at random moments`, async () => {
	const redis = await startRedis();
	onTestFinished(async () => redis.stop());
	const box = await freshRedisBox(redis.port, gpuCount);
	await box.run('admin --set agents.max-gpus=3');
	const oneLife = async (index: number): Promise<void> => {
		const agent = await connect(box, {name: `agent-${index}`});
		const reserving = agent.call('gpu_reserve', {count: 1 + (index % 2), wait_seconds: 600}).catch(() => undefined);
		// The first server lives until it holds its GPU, so that at least one kill meets a held GPU on a slow machine too.
		await (index === 0 ? reserving : sleep(Math.random() * longestLifeMs));
		process.kill(agent.pid, 'SIGKILL');
		await eventually(() => !isAlive(agent.pid));
		await reserving;
	};

	// Several at a time, because each start takes a second of the processor.
	const lanes = Array.from({length: 3}, async (_, lane) => {
		for (let index = lane; index < serverCount; index += 3) {
			await oneLife(index);
		}
	});
	await Promise.all(lanes);
	await eventually(async () => (await holders(box)) === '0:- 1:- 2:- 3:-');
	await box.run('status');
	expect((await peek(box)).queue).toEqual([]);

	const store = await openStoreOf(box);
	const audit = await store.audit();
	const heldBy = new Map<number, string>();
	let most = 0;
	for (const {kind, gpus, leaseId} of audit) {
		for (const gpu of gpus) {
			if (kind === 'granted' || kind === 'held') {
				expect([undefined, leaseId], `GPU ${gpu} was granted while it was held`).toContain(heldBy.get(gpu));
				heldBy.set(gpu, leaseId!);
			} else if (['released', 'ended', 'expired'].includes(kind)) {
				heldBy.delete(gpu);
			}
		}

		most = Math.max(most, heldBy.size);
	}

	expect(most).toBeGreaterThan(0);
	expect(most).toBeLessThanOrEqual(3);
	expect(heldBy.size).toBe(0);
	expect(audit.filter(({kind}) => kind === 'granted').length).toBeGreaterThan(0);
});
