/**
`run --on any` while processes are killed: the program here, the sshd of its connection, and the store of either host, while requests wait and move.
Uses two hosts through real OpenSSH, each with a durable Redis.
*/
import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {startSshServers, type SshServers} from '../../_helpers/machine/ssh-server.js';
import {createBox, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {peek, start, type Started} from '../../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {holdingsIn} from '../../../source/core/rules/leases/holdings.js';

const hostNames = ['near', 'far'] as const;
type HostName = (typeof hostNames)[number];

let here: Box;
let boxes: Record<HostName, Box>;
let stores: Record<HostName, RedisServer>;
let servers: SshServers;
let environment: Record<string, string>;
let ledger: string;

beforeAll(async () => {
	// A computer without a pool, so that "any" is one of the two hosts.
	here = createBox();
	stores = {near: await startRedis({isDurable: true}), far: await startRedis({isDurable: true})};
	boxes = {near: await createRedisBox(stores.near.port, 2), far: await createRedisBox(stores.far.port, 4)};
	servers = await startSshServers(path.join(here.home, 'ssh'), boxes);
	environment = {PATH: `${servers.directory}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'near,far'};
	ledger = path.join(here.home, 'ledger');
});

afterAll(async () => {
	await servers.stopAll();
	for (const box of [here, ...Object.values(boxes)]) {
		box.remove();
	}

	await Promise.all(Object.values(stores).map(async (store) => store.stop()));
});

type Process = {readonly pid: number; readonly parent: number};

const processes = (): readonly Process[] =>
	readdirSync('/proc')
		.filter((name) => /^\d+$/v.test(name))
		.flatMap((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
				return [{pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1])}];
			} catch {
				return [];
			}
		});

/** Kills the sshd process of each connection to that host, but not the server. */
function killConnections(host: HostName): void {
	const server = Number(readFileSync(path.join(here.home, 'ssh', `${host}.pid`), 'utf8'));
	for (const {pid} of processes().filter(({parent}) => parent === server)) {
		process.kill(pid, 'SIGKILL');
	}
}

/** The notes of leases and queue entries on the host. Empty while its store is down. */
async function notesOn(host: HostName): Promise<{readonly held: readonly string[]; readonly waiting: number}> {
	try {
		const {gpus, queue} = await peek(boxes[host]);
		return {
			held: holdingsIn(gpus).flatMap(({lease}) => (lease.type === 'run' ? (lease.note ?? []) : [])),
			waiting: queue.length,
		};
	} catch {
		return {held: [], waiting: 0};
	}
}

const started = (): readonly string[] =>
	existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n').filter(Boolean) : [];

const request = (note: string): Started =>
	start(
		here,
		['run', '--on', 'any', '-g', '1', '--note', note, '--', 'sh', '-c', `echo ${note} >>'${ledger}'; sleep 1`],
		environment,
	);

type Victim = 'client' | 'connection' | 'store of near' | 'store of far';

async function kill(victim: Victim, requests: readonly Started[], random: () => number): Promise<void> {
	switch (victim) {
		case 'client': {
			requests[Math.floor(random() * requests.length)]!.kill('SIGKILL');
			return;
		}

		case 'connection': {
			killConnections(random() < 0.5 ? 'near' : 'far');
			return;
		}

		case 'store of near':
		case 'store of far': {
			const store = stores[victim === 'store of near' ? 'near' : 'far'];
			await store.kill();
			await sleep(500 * random());
			await store.restart();
		}
	}
}

/** Random numbers from 0 to 1 with a seed, so that failures can be reproduced as far as processes allow. */
function numbersFrom(seed: number): () => number {
	let count = 0;
	return () => {
		const digest = createHash('sha256').update(`${seed} ${count++}`).digest();
		return digest.readUInt32BE(0) / 2 ** 32;
	};
}

const requestCount = 3;

/** Runs one round: all GPUs are taken, requests wait on one host, the other host becomes free, and processes are killed about when the requests move. */
async function play(
	round: number,
	victims: readonly Victim[],
	phase: 'waiting' | 'moving',
	seed: number,
): Promise<void> {
	const random = numbersFrom(seed);
	for (const [host, duration] of [
		['near', '1h'],
		['far', '2h'],
	] as const) {
		await boxes[host].run('release');
		expect(
			(await boxes[host].run(['reserve', '--nonblock', '-g', host === 'near' ? '2' : '4', '-d', duration])).exitCode,
		).toBe(0);
	}

	const requests = Array.from({length: requestCount}, (_, index) => request(`r${round}-${index}`));
	await expect.poll(async () => (await notesOn('near')).waiting + (await notesOn('far')).waiting).toBe(requestCount);
	const over = new AbortController();
	const doubles: string[] = [];
	const watch = async (): Promise<void> => {
		while (!over.signal.aborted) {
			const [near, far] = await Promise.all([notesOn('near'), notesOn('far')]);
			const held = [...near.held, ...far.held];
			doubles.push(...held.filter((note, position) => held.indexOf(note) !== position));
			await sleep(20);
		}
	};

	const watching = watch();
	if (phase === 'moving') {
		await boxes.far.run('release');
		// Other hosts are first asked ten seconds after a request. When the first request leaves, all of them move.
		await expect.poll(async () => (await notesOn('near')).waiting < requestCount, {interval: 5}).toBe(true);
	}

	for (const victim of victims) {
		await sleep(1500 * random());
		await kill(victim, requests, random);
	}

	// The surviving requests still get their GPUs.
	await Promise.all([boxes.near.run('release'), boxes.far.run('release')]);
	await Promise.all(requests.map(async ({ended}) => ended));
	await expect
		.poll(async () => [await notesOn('near'), await notesOn('far')], {interval: 200})
		.toEqual([
			{held: [], waiting: 0},
			{held: [], waiting: 0},
		]);
	over.abort();
	await watching;
	expect(doubles).toEqual([]);
	for (const host of hostNames) {
		const {gpus} = await peek(boxes[host]);
		expect(gpus.every(({kind}) => kind === 'free')).toBe(true);
	}

	const jobs = started();
	expect(new Set(jobs).size).toBe(jobs.length);
}

const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31) + 1);

test.each<[phase: 'waiting' | 'moving', victims: readonly Victim[]]>([
	['waiting', ['client']],
	['waiting', ['connection']],
	['waiting', ['store of near', 'store of far']],
	['moving', ['client']],
	['moving', ['connection']],
	['moving', ['store of near']],
	['moving', ['store of far']],
	['moving', ['store of far', 'client', 'connection']],
])(
	`while requests are %s, SIGKILL of %j starts no job twice and leaves no queue entry or held GPU (CHAOS_SEED=${seed})`,
	async (phase, victims) => {
		await play(started().length + victims.length * 100 + phase.length, victims, phase, seed);
	},
);

test('a request that waits with `run --on any` moves to a free host and runs its job exactly once', async () => {
	const before = started().length;
	await play(9999, [], 'moving', seed);
	expect(started().length - before).toBe(requestCount);
});
