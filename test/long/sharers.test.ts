/**
200 real processes that all wait for 1 to 24 GiB of 8 GPUs, and are let in at once. What each commit did stands in the audit log, in the order
of the commits: from that it is seen that no GPU was ever overcommitted, and that nobody was overtaken who could have been served.
*/
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import type {AuditEntry, AuditRecord} from '../../source/core/model/types.js';
import {CanhazgpuError} from '../../source/errors.js';
import {eventually} from '../_helpers/eventually.js';
import type {Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, openStoreOf, start} from '../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {randomFrom} from '../_helpers/world.js';

const people = Number(process.env['SHARERS'] ?? 200);
const gpuCount = 8;
const capacityMiB = 81_559;
const mostShares = 8;
/** So many start at the same time: the rest of the test is about those who wait. */
const startingAtOnce = 10;

let server: RedisServer;
beforeAll(async () => {
	server = await startRedis();
});
afterAll(async () => {
	await server.stop();
});

type Wish = {readonly count: number; readonly memoryMiB: number | undefined};

/** What a lease has of each of its GPUs; undefined: all of it. */
type Held = {readonly gpus: ReadonlySet<number>; readonly memoryMiB: number | undefined};

const additions = new Set(['granted', 'held']);
const endings = new Set(['released', 'ended', 'expired']);

/** Goes through the commits. */
function replay(entries: readonly AuditEntry[]) {
	const held = new Map<string, Held>();
	const waiting = new Map<string, Wish & {readonly account: string | undefined}>();
	/** The lease under which an entry of the queue holds a part of what it wants. */
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

	/** Whether somebody earlier in the queue could have been served with what this entry takes. */
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

/** A file that many write is locked for longer than a reader waits, now and then. */
async function patiently<Result>(ask: () => Promise<Result>): Promise<Result> {
	for (let tries = 1; ; tries++) {
		try {
			return await ask();
		} catch (error) {
			if (!(error instanceof CanhazgpuError && error.code === 'store-unreachable' && tries < 20)) {
				throw error;
			}
		}
	}
}

async function shareAll(
	box: Box,
): Promise<ReturnType<typeof replay> & {readonly seconds: number; readonly refusals: number}> {
	const store = await openStoreOf(box);
	onTestFinished(async () => store.close());
	expect((await box.run(`admin --set share=on --set share.max=${mostShares}`)).exitCode).toBe(0);
	// Until all wait, one has everything.
	expect((await box.run(`reserve --gpus ${gpuCount} --duration 1h`)).exitCode).toBe(0);
	const random = randomFrom(7);
	let refusals = 0;
	/** Who finds the file locked for longer than a newcomer waits exits with 4, and comes again. */
	const come = async (words: readonly string[]): ReturnType<typeof start>['ended'] => {
		const ended = await start(box, words).ended;
		if (ended.exitCode !== 4) {
			return ended;
		}

		refusals++;
		return come(words);
	};

	const jobs: Array<ReturnType<typeof start>['ended']> = [];
	while (jobs.length < people) {
		for (let more = Math.min(startingAtOnce, people - jobs.length); more > 0; more--) {
			const wish = [
				...(jobs.length % 10 === 9 ? [] : ['--share', `${1 + Math.floor(random() * 24)}G`]),
				...(random() < 0.2 ? ['--gpus', '2'] : []),
			];
			jobs.push(come(['run', '-q', ...wish, '--', 'sleep', String(2 * random())]));
		}

		await eventually(async () => (await patiently(async () => store.read())).queue.length === jobs.length, 300_000);
	}

	const begun = performance.now();
	await eventually(async () => (await box.run('release')).exitCode === 0, 120_000);
	const ended = await Promise.all(jobs);
	// Beside how the waiting goes, also through a store that is locked, nothing is said.
	const said = ended.map(({stderr}) => stderr.replaceAll(/^Waiting (?:for|goes on).*\n/gmv, ''));
	expect(ended.map(({exitCode}, place) => [exitCode, said[place]])).toEqual(ended.map(() => [0, '']));
	const seconds = (performance.now() - begun) / 1000;
	return {...replay(await patiently(async () => store.audit())), seconds, refusals};
}

test.each([
	['Redis', async () => freshRedisBox(server.port, gpuCount)],
	['a file', async () => freshEmbeddedBox(gpuCount)],
] as const)(
	'processes that wait for shares on %s are all served, in order, and never overcommit',
	{timeout: 1_200_000},
	async (name, create) => {
		const {seconds, refusals, ...result} = await shareAll(await create());
		console.log(
			`${people} processes on ${name}: served in ${seconds.toFixed(1)} s, ${result.mostOnOneGpu} on one GPU at most, ${refusals} came twice because the store was locked`,
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
