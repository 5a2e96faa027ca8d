/** Leases of other accounts in Redis, with hostile texts. */
import {once} from 'node:events';
import {Redis} from 'ioredis';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {firstCase} from '../../_helpers/slow.js';
import {isShown, rowOf, spelled, startTop, watchFrames} from './_program.js';

let redis: RedisServer;
let client: Redis;
let box: Box;

beforeAll(async () => {
	redis = await startRedis();
	client = new Redis(redis.port);
	await once(client, 'ready');
	box = await createRedisBox(redis.port, 4);
});

afterEach(async () => {
	await client.del('canhazgpu:gpu:2');
});

afterAll(async () => {
	client.disconnect();
	await redis.stop();
	box.remove();
});

/** Writes a lease on GPU 2 directly to the store, as another program might. */
async function hold(more: Readonly<Record<string, unknown>> = {}): Promise<void> {
	const now = Math.floor(Date.now() / 1000);
	const lease = {
		user: 'mallory',
		actual_user: 'mallory',
		type: 'manual',
		start_time: now - 120,
		last_heartbeat: now,
		expiry_time: now + 7200,
		...more,
	};
	await client.set('canhazgpu:gpu:2', JSON.stringify(lease));
	await client.publish('canhazgpu:events', '{}');
}

test('top shows the reservation of another account, and can neither release nor extend it', async () => {
	const top = startTop(box, {isOrdinary: true});
	await top.waitFor(isShown(4));
	await hold();
	const held = await top.waitFor('Free 3  Mine 0  Others 1');
	expect(rowOf(held, 2)).toMatch(/ 2 +Reserved +mallory +MANUAL +2m/v);
	top.write('jj');
	await top.waitFor('Detail GPU 2');
	top.write('x');
	await top.waitFor(' WARN GPU 2 is held by mallory: only the holder can release it');
	top.write('e');
	await top.waitFor(' WARN GPU 2 is held by mallory: only the holder can extend it');
	top.write('R');
	await top.waitFor(' WARN GPU 2 is already reserved, by mallory');
	expect(JSON.parse((await client.get('canhazgpu:gpu:2'))!)).toMatchObject({actual_user: 'mallory'});
});

test('top --readonly shows everything and changes nothing', async () => {
	const top = startTop(box, {flags: ['--readonly']});
	const shown = await top.waitFor(isShown(4));
	expect(shown[0]).toMatch(/ ro {2}/v);
	for (const key of ['r', 'R', 'x', 'e']) {
		top.write(key);
		await top.waitFor(' WARN This monitor is read-only: it was started with --readonly');
		// Removes the message, because the next key causes the same message.
		top.write('?');
		await top.waitFor('[Keys] Words');
		top.write('q');
		await top.waitFor((screen) => !screen.includes('[Keys] Words'));
	}

	await hold();
	await top.waitFor('Others 1');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

const note = [
	'\u{1B}[2J\u{1B}[1;1Howned\u{7}',
	'\u{1B}]0;title\u{7}',
	'\u{202E}desrever\u{202C}',
	'two\nlines\r\n\tand a tab',
	'模型訓練🚀👩‍👩‍👧‍👦e\u{301}',
	'\u{9B}31mred',
	'x'.repeat(300),
].join(' ');

test.each(
	firstCase([
		{columns: 120, rows: 32},
		{columns: 80, rows: 24},
		{columns: 60, rows: 15},
	]),
)('hostile notes and names of other accounts damage no line of top at $columns x $rows', async (size) => {
	const top = startTop(box, {size});
	await top.waitFor(isShown(4));
	const faults = watchFrames(top);
	const mark = top.mark();
	await hold({note, user: '\u{1B}[31m模型\u{202E}', actual_user: 'ma\u{1B}[5mllory'});
	const shown = await top.waitFor(/ 2 +Reserved +mallory/v);
	top.write('jj');
	const detailed = await top.waitFor(/2:Detail GPU 2 /v);
	top.write('x');
	await top.waitFor(/Release GPU 2 now|only the holder/v);
	const raw = spelled(top.rawSince(mark));
	expect(raw).not.toMatch(/[[\p{Control}\u{202C}\u{202E}]--[\n\r]]|␛\]|␛\[2J|␛\[5m/v);
	expect(faults.overflows()).toEqual([]);
	for (const screen of [shown, detailed]) {
		expect(screen).toHaveLength(size.rows);
		expect(screen.at(-1)).toMatch(/ q Quit$/v);
		expect(screen[0]).toMatch(/^ canhazgpu/v);
		expect([0, 1, 2, 3].map((gpu) => rowOf(screen, gpu))).not.toContain('');
		if (size.columns >= 100) {
			expect(screen.slice(2, -2).filter((line) => !/[│┤╮╯]$/v.test(line))).toEqual([]);
		}
	}
});
