/**
200 real processes that hold shares of 8 GPUs and release them at the same moment, by `release` or because their jobs end. Each succeeds, the audit
log has each once, and all GPUs are free.
*/
import {execFileSync} from 'node:child_process';
import {closeSync, existsSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {holdingsIn} from '../../source/core/rules/leases/holdings.js';
import {eventually} from '../_helpers/eventually.js';
import type {Box, Ran} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, openStoreOf, start} from '../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';

const people = Number(process.env['SHARERS'] ?? 200);
const gpuCount = 8;
/** The number of shares on each GPU, which has room for 27 shares of 3 GiB. */
const mostShares = Math.ceil(people / gpuCount);
const share = ['--share', '3G'];
/** Limits the simultaneous starts, because starting is not what is tested. */
const beginningAtOnce = 10;

let server: RedisServer;
beforeAll(async () => {
	server = await startRedis();
});
afterAll(async () => {
	await server.stop();
});

const stores = [
	['Redis', async () => freshRedisBox(server.port, gpuCount)],
	['SQLite', async () => freshEmbeddedBox(gpuCount)],
] as const;

async function openCrowded(create: () => Promise<Box>) {
	const box = await create();
	expect((await box.run(`admin --set share=on --set share.max=${mostShares}`)).exitCode).toBe(0);
	const store = await openStoreOf(box);
	const holdings = async () => holdingsIn((await store.read()).gpus);
	return {box, store, holdings};
}

/** Counts how many times each key occurs. */
const countOf = <Key>(keys: Iterable<Key>): ReadonlyMap<Key, number> => {
	const counts = new Map<Key, number>();
	for (const key of keys) {
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}

	return counts;
};

const once = (leases: ReadonlyArray<string | undefined>) => new Map(leases.map((lease) => [lease, 1]));

/** Releases a share. Repeats if the pool was too busy for a minute, which can happen on a busy machine. */
async function giveBack(box: Box, lease: string): Promise<Ran> {
	for (let tries = 1; ; tries++) {
		const ended = await start(box, ['release', '--lease', lease]).ended;
		if (tries === 5 || !ended.stderr.includes('Nothing was changed. Try again.')) {
			return ended;
		}
	}
}

test.each(stores)(
	'simultaneous releases of many reservations end each reservation once on %s',
	{timeout: 900_000},
	async (name, create) => {
		const {box, store, holdings} = await openCrowded(create);
		for (let made = 0; made < people; made += beginningAtOnce) {
			const batch = Array.from({length: Math.min(beginningAtOnce, people - made)}, async () =>
				box.run(['reserve', ...share, '--duration', '2h']),
			);
			for (const {exitCode, stderr} of await Promise.all(batch)) {
				expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
			}
		}

		const leases = (await holdings()).map(({lease}) => lease.leaseId);
		expect(new Set(leases).size).toBe(people);
		const begun = performance.now();
		const ended = await Promise.all(leases.map(async (lease) => giveBack(box, lease!)));
		const seconds = (performance.now() - begun) / 1000;
		console.log(`${people} releases at once on ${name}: ${seconds.toFixed(1)} s`);
		expect(ended.map(({exitCode, stderr}) => ({exitCode, stderr}))).toEqual(
			leases.map(() => ({exitCode: 0, stderr: ''})),
		);
		expect(await holdings()).toEqual([]);
		const recorded = (await store.audit()).filter(({kind}) => kind === 'released').map(({leaseId}) => leaseId);
		expect(countOf(recorded)).toEqual(once(leases));
	},
);

test.each(stores)(
	'many jobs that end at the same time each release their GPUs once on %s',
	{timeout: 900_000},
	async (name, create) => {
		const {box, store, holdings} = await openCrowded(create);
		// All jobs open this FIFO and block. Polling for a file would take processor time from the jobs that start.
		const gate = path.join(box.home, 'gate');
		execFileSync('mkfifo', [gate]);
		onTestFinished(() => {
			closeSync(openSync(gate, 'r+'));
		});
		const begunFile = path.join(box.home, 'begun');
		writeFileSync(begunFile, '');
		const script = `echo begun >> ${begunFile}; : < ${gate}`;
		const countBegun = () => (existsSync(begunFile) ? readFileSync(begunFile, 'utf8').split('\n').length - 1 : 0);
		const jobs: Array<ReturnType<typeof start>['ended']> = [];
		while (jobs.length < people) {
			for (let more = Math.min(beginningAtOnce, people - jobs.length); more > 0; more--) {
				jobs.push(start(box, ['run', '-q', ...share, '--', 'sh', '-c', script]).ended);
			}

			await eventually(() => countBegun() === jobs.length, 300_000);
		}

		const leases = (await holdings()).map(({lease}) => lease.leaseId);
		expect(new Set(leases).size).toBe(people);
		const begun = performance.now();
		const opened = openSync(gate, 'r+');
		const ended = await Promise.all(jobs);
		closeSync(opened);
		const seconds = (performance.now() - begun) / 1000;
		console.log(`${people} jobs that end at once on ${name}: ${seconds.toFixed(1)} s`);
		// A job that started while another did may have waited, and printed that.
		const said = ended.map(({stderr}) => stderr.replaceAll(/^Waiting for .*\n/gmv, ''));
		expect(ended.map(({exitCode}, index) => ({exitCode, stderr: said[index]}))).toEqual(
			jobs.map(() => ({exitCode: 0, stderr: ''})),
		);
		expect(await holdings()).toEqual([]);
		const recorded = (await store.audit()).filter(({kind}) => kind === 'ended').map(({leaseId}) => leaseId);
		expect(countOf(recorded)).toEqual(once(leases));
	},
);
