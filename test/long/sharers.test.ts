/**
200 real processes that wait for 1 to 24 GiB of 8 GPUs and are admitted at the same time. The audit log has every change in commit order and shows
that no GPU was ever overcommitted, and no servable entry overtaken.
*/
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import type {AuditEntry, AuditRecord} from '../../source/core/model/types.js';
import {eventually} from '../_helpers/eventually.js';
import type {Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, openStoreOf, start} from '../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {randomFrom} from '../_helpers/world.js';

const people = Number(process.env['SHARERS'] ?? 200);
const gpuCount = 8;
const capacityMiB = 81_559;
const mostShares = 8;
/** Limits the simultaneous starts, because starting is not what is tested. */
const startingAtOnce = 10;

let server: RedisServer;
beforeAll(async () => {
	server = await startRedis();
});
afterAll(async () => {
	await server.stop();
});

type Wish = {readonly count: number; readonly memoryMiB: number | undefined};

/** The memory of a lease on each of its GPUs. Undefined: all of it. */
type Held = {readonly gpus: ReadonlySet<number>; readonly memoryMiB: number | undefined};

const additions = new Set(['granted', 'held']);
const endings = new Set(['released', 'ended', 'expired']);

/** Replays the commits. */
function replay(entries: readonly AuditEntry[]) {
	const held = new Map<string, Held>();
	const waiting = new Map<string, Wish & {readonly account: string | undefined}>();
	/** The lease that holds part of the request of a queue entry. */
	const leaseOf = new Map<string, string>();
	const overcommits: string[] = [];
	const overtakings: string[] = [];
	let served = 0;
	let mostOnOneGpu = 0;
	const on = (gpu: number, without?: string) =>
		[...held].flatMap(([id, lease]) => (id !== without && lease.gpus.has(gpu) ? [lease.memoryMiB] : []));
	const fits = (gpu: number, memoryMiB: number | undefined, own: string | undefined): boolean => {
		const there = on(gpu, own);
		return memoryMiB === undefined
			? there.length === 0
			: there.length < mostShares &&
					there.every((share) => share !== undefined) &&
					there.reduce((sum, share) => sum + share, memoryMiB) <= capacityMiB;
	};

	/** Whether an earlier queue entry could have been served with what this entry takes. */
	const judgeOrder = ({entryId, gpus, account}: AuditRecord, taken: readonly number[]): void => {
		for (const [id, wish] of waiting) {
			if (id === entryId) {
				return;
			}

			const own = leaseOf.get(id);
			const possible = Array.from({length: gpuCount}, (_, gpu) => gpu).filter((gpu) => fits(gpu, wish.memoryMiB, own));
			if (possible.length >= wish.count && taken.some((gpu) => possible.includes(gpu))) {
				overtakings.push(`${account} got ${gpus.join(',')} before ${wish.account} with ${JSON.stringify(wish)}`);
			}
		}
	};

	for (const entry of entries) {
		const {kind, entryId, leaseId, gpus, memoryMiB, count = gpus.length, account} = entry;
		if (kind === 'joined') {
			waiting.set(entryId!, {count, memoryMiB, account});
		} else if (kind === 'left' || kind === 'refused') {
			waiting.delete(entryId!);
		} else if (additions.has(kind)) {
			const before = held.get(leaseId!)?.gpus ?? new Set();
			judgeOrder(
				entry,
				gpus.filter((gpu) => !before.has(gpu)),
			);
			held.set(leaseId!, {gpus: new Set([...before, ...gpus]), memoryMiB});
			if (entryId !== undefined) {
				leaseOf.set(entryId, leaseId!);
			}

			if (kind === 'granted' && entryId !== undefined) {
				waiting.delete(entryId);
				served++;
			}
		} else if (endings.has(kind)) {
			const {gpus: left = new Set<number>(), memoryMiB: asked} = held.get(leaseId!) ?? {memoryMiB: undefined};
			held.set(leaseId!, {gpus: new Set([...left].filter((gpu) => !gpus.includes(gpu))), memoryMiB: asked});
		}

		for (let gpu = 0; gpu < gpuCount; gpu++) {
			const there = on(gpu);
			mostOnOneGpu = Math.max(mostOnOneGpu, there.length);
			const isAlone = there.length === 1 || there.every((share) => share !== undefined);
			if (!isAlone || there.reduce<number>((sum, share = 0) => sum + share, 0) > capacityMiB) {
				overcommits.push(`GPU ${gpu} after ${JSON.stringify(entry)}: ${JSON.stringify(there)}`);
			}
		}
	}

	return {
		served,
		mostOnOneGpu,
		overcommits,
		overtakings,
		waiting: waiting.size,
		held: held
			.values()
			.flatMap((lease) => lease.gpus)
			.toArray().length,
	};
}

async function shareAll(box: Box): Promise<ReturnType<typeof replay> & {readonly seconds: number}> {
	const store = await openStoreOf(box);
	onTestFinished(async () => store.close());
	expect((await box.run(`admin --set share=on --set share.max=${mostShares}`)).exitCode).toBe(0);
	// One reservation holds all GPUs until all processes wait.
	expect((await box.run(`reserve --gpus ${gpuCount} --duration 1h`)).exitCode).toBe(0);
	const random = randomFrom(7);
	const jobs: Array<ReturnType<typeof start>['ended']> = [];
	while (jobs.length < people) {
		for (let more = Math.min(startingAtOnce, people - jobs.length); more > 0; more--) {
			const wish = [
				...(jobs.length % 10 === 9 ? [] : ['--share', `${1 + Math.floor(random() * 24)}G`]),
				...(random() < 0.2 ? ['--gpus', '2'] : []),
			];
			jobs.push(start(box, ['run', '-q', ...wish, '--', 'sleep', String(2 * random())]).ended);
		}

		await eventually(async () => (await store.read()).queue.length === jobs.length, 300_000);
	}

	const begun = performance.now();
	await eventually(async () => (await box.run('release')).exitCode === 0, 120_000);
	const ended = await Promise.all(jobs);
	// Only progress is printed, because waiting for the store is not an error.
	const said = ended.map(({stderr}) => stderr.replaceAll(/^Waiting for .*\n/gmv, ''));
	expect(ended.map(({exitCode}, index) => [exitCode, said[index]])).toEqual(ended.map(() => [0, '']));
	const seconds = (performance.now() - begun) / 1000;
	return {...replay(await store.audit()), seconds};
}

test.each([
	['Redis', async () => freshRedisBox(server.port, gpuCount)],
	['SQLite', async () => freshEmbeddedBox(gpuCount)],
] as const)(
	'processes that wait for shares on %s are all served in order, and no GPU is overcommitted',
	{timeout: 1_200_000},
	async (name, create) => {
		const {seconds, ...result} = await shareAll(await create());
		console.log(
			`${people} processes on ${name}: served in ${seconds.toFixed(1)} s, ${result.mostOnOneGpu} on one GPU at most`,
		);
		expect(result).toEqual({
			served: people,
			mostOnOneGpu: expect.any(Number) as number,
			overcommits: [],
			overtakings: [],
			waiting: 0,
			held: 0,
		});
		expect(result.mostOnOneGpu).toBeGreaterThanOrEqual(2);
	},
);
