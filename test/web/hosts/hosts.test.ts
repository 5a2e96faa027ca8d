/** How the server asks the other hosts: which ones, when, and what happens to their answers. */
import {expect, test} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import type {KnownHost} from '../../../source/core/live/host-watch.js';
import {createRemoteHosts} from '../../../source/web/api/hosts.js';
import {createHostStreams} from '../../../source/web/server/host-streams.js';
import {type RemoteGpu} from '../../../source/format/hosts/remote-gpu.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';

type Row = Readonly<Record<string, unknown>>;

const fail = (error: unknown): void => {
	throw error;
};

/** Creates hosts that answer after this many seconds, or not within the limit of 10. */
function createWorld(secondsOfHosts: Readonly<Record<string, number>>) {
	const clock = createVirtualClock();
	const asked: Array<readonly [host: string, atSeconds: number]> = [];
	const under = new Map<string, number>();
	let mostAtOnce = 0;
	let isDead = false;
	const hosts = createRemoteHosts({
		names: Object.keys(secondsOfHosts),
		clock,
		roundMs: 10_000,
		broken: fail,
		async ask(name): Promise<readonly Row[]> {
			asked.push([name, clock.monotonicMs() / 1000]);
			under.set(name, (under.get(name) ?? 0) + 1);
			mostAtOnce = Math.max(mostAtOnce, ...under.values());
			await clock.sleep(Math.min(10, secondsOfHosts[name]!) * 1000);
			under.set(name, under.get(name)! - 1);
			if (isDead || secondsOfHosts[name]! > 10) {
				throw new CanhazgpuError('failed', `${name}: no answer\u{1B}[31m`);
			}

			return [{gpu_id: 0, status: 'AVAILABLE', details: 'free for 1h 0m 0s'}];
		},
	});
	return {
		clock,
		asked,
		hosts,
		mostAtOnce: () => mostAtOnce,
		die() {
			isDead = true;
		},
	};
}

/** Subscribes, and records when each host was reported. */
function subscribe({clock, hosts}: ReturnType<typeof createWorld>) {
	const received: Array<readonly [host: string, atSeconds: number]> = [];
	const last = new Map<string, KnownHost<readonly RemoteGpu[]>>();
	const unsubscribe = hosts.subscribe((host) => {
		received.push([host.name, clock.monotonicMs() / 1000]);
		last.set(host.name, host);
	});
	return {received, last, unsubscribe};
}

test('host streams query only hosts that a page shows, and each of them once per round', async () => {
	const world = createWorld({a: 1, b: 2});
	const bothAt = (...seconds: readonly number[]) =>
		seconds.flatMap((at) => [
			['a', at],
			['b', at],
		]);
	const sent = new Map<number, number>();
	const streams = createHostStreams<number>(world.hosts, world.clock.monotonicMs, (pages) => {
		for (const page of pages) {
			sent.set(page, (sent.get(page) ?? 0) + 1);
		}
	});
	await world.clock.pass(60);
	expect(world.asked).toEqual([]);
	const [closeFirst, ...closes] = Array.from({length: 100}, (_, page) => streams.open(page));
	await world.clock.pass(25);
	expect(world.asked).toEqual(bothAt(60, 70, 80));
	// The initial empty state and each answer.
	expect(sent.values().toArray()).toEqual(Array.from({length: 100}, () => 7));
	for (const close of closes) {
		close();
	}

	await world.clock.pass(10);
	expect(world.asked).toHaveLength(8);
	closeFirst!();
	await world.clock.pass(600);
	expect(world.asked).toHaveLength(8);
	streams.open(0);
	await world.clock.pass(1);
	expect(world.asked.slice(8)).toEqual(bothAt(695));
});

test('host streams send each answer at once, and a dead host delays neither other hosts nor the next round', async () => {
	const world = createWorld({dead: 1000, quick: 1});
	const {received} = subscribe(world);
	await world.clock.pass(32);
	expect(received).toEqual([
		['quick', 1],
		['dead', 10],
		['quick', 11],
		// The host was skipped for a round.
		['quick', 21],
		['dead', 30],
		['quick', 31],
	]);
});

test('host streams never query a host twice at the same time, even if clients come and go', async () => {
	const world = createWorld({a: 3});
	for (let step = 0; step < 40; step++) {
		const {unsubscribe} = subscribe(world);
		void world.hosts.answer('a');
		await world.clock.pass(0.5);
		unsubscribe();
	}

	expect(world.mostAtOnce()).toBe(1);
	// An answer is reused for 5 s.
	expect(world.asked.map(([, at]) => at)).toEqual([0, 8, 16]);
});

test('after a host has failed, its last answer and the time of that answer are kept', async () => {
	const world = createWorld({a: 1});
	const {last, unsubscribe} = subscribe(world);
	await world.clock.pass(2);
	expect(last.get('a')).toMatchObject({answer: {status: [{gpu_id: 0, status: 'AVAILABLE'}]}, answeredMs: 1000});
	expect(last.get('a')!.before).toBeUndefined();
	world.die();
	await world.clock.pass(20);
	const failed = {
		answer: {error: 'a: no answer\u{1B}[31m'},
		answeredMs: 21_000,
		before: {answer: {status: [{gpu_id: 0}]}, answeredMs: 1000},
	};
	expect(last.get('a')).toMatchObject(failed);
	unsubscribe();
	await world.clock.pass(3600);
	expect(world.hosts.known()).toMatchObject([failed]);
});

test('the end of a reservation on a host with a wrong clock is computed from the remaining time', async () => {
	// The clock of the host is 20 minutes ahead.
	const end = new Date(Date.now() + 1_800_000).toISOString();
	const held = {gpu_id: 0, status: 'IN_USE', remaining_seconds: 600, expiry_time: end, ends_by: end};
	const hosts = createRemoteHosts({
		names: ['a'],
		clock: createVirtualClock(),
		roundMs: 10_000,
		broken: fail,
		ask: async () => [
			held,
			{...held, gpu_id: 1, expiry_time: undefined},
			{...held, gpu_id: 2, remaining_seconds: undefined},
		],
	});
	const answer = await hosts.answer('a');
	const [manual, job, old] = (answer as {readonly status: readonly RemoteGpu[]}).status;
	const leftOf = (time: string | undefined): number => Math.round((Date.parse(time!) - Date.now()) / 60_000);
	expect([manual!.expiry_time, manual!.ends_by, job!.ends_by].map((time) => leftOf(time))).toEqual([10, 10, 10]);
	expect(job!.expiry_time).toBeUndefined();
	// An old version sends only the end.
	expect(leftOf(old!.expiry_time)).toBe(30);
});

test('host streams send all known answers at once to a page that opens', async () => {
	const world = createWorld({a: 1, b: 2});
	const sent: Array<{to: readonly string[]; hosts: readonly Row[]}> = [];
	const streams = createHostStreams<string>(world.hosts, world.clock.monotonicMs, (pages, json) => {
		sent.push({to: [...pages], ...(JSON.parse(json) as {hosts: readonly Row[]})});
	});
	const close = streams.open('first');
	await world.clock.pass(9);
	streams.open('second');
	await world.clock.pass(2);
	expect(sent).toMatchObject([
		{to: ['first'], hosts: []},
		{to: ['first'], hosts: [{name: 'a', age_ms: 0, gpus: [{gpu_id: 0}]}]},
		{to: ['first'], hosts: [{name: 'b', age_ms: 0}]},
		{
			to: ['second'],
			hosts: [
				{name: 'a', age_ms: 8000},
				{name: 'b', age_ms: 7000},
			],
		},
		{to: ['first', 'second'], hosts: [{name: 'a', age_ms: 0}]},
	]);
	expect(sent).toHaveLength(5);
	world.die();
	await world.clock.pass(1);
	expect(sent.at(-1)).toMatchObject({hosts: [{name: 'b', age_ms: 0, error: 'b: no answer', before: {age_ms: 10_000}}]});
	close();
	await world.clock.pass(9);
	expect(world.asked).toHaveLength(6);
	streams.close();
	await world.clock.pass(100);
	expect(world.asked).toHaveLength(6);
});

test('API requests of scripts share a recent answer or error of a host', async () => {
	const world = createWorld({good: 1, dead: 1000});
	const {hosts, clock, asked} = world;
	const many = Promise.all(Array.from({length: 100}, async () => hosts.answer('good')));
	const dead = hosts.answer('dead');
	await clock.pass(10);
	expect((await many)[99]).toMatchObject({status: [{gpu_id: 0, status: 'AVAILABLE'}]});
	expect(await dead).toEqual({error: 'dead: no answer\u{1B}[31m'});
	expect(asked.map(([name]) => name)).toEqual(['good', 'dead']);
	expect(await hosts.answer('other')).toBeUndefined();
	expect(await hosts.answer('__proto__')).toBeUndefined();
	void hosts.answer('good');
	void hosts.answer('dead');
	expect(asked.map(([name]) => name)).toEqual(['good', 'dead', 'good']);
	await clock.pass(10);
});
