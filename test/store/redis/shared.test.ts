/** The Redis data as the Go program reads it, and data that the Go program has written. */
import {Buffer} from 'node:buffer';
import {describe, expect, test} from 'vitest';
import {
	collect,
	entry,
	join,
	lease,
	leaseOn,
	leaseWrite,
	lineOf,
	plan,
	poolWrite,
	rawOn,
	start,
	stateOf,
	usage,
	write,
} from '../samples.js';
import {emptyRedis} from './_empty-redis.js';

/** Recent enough to stay in the history. */
const recent = Math.floor(Date.now() / 1000) - 60;

const redis = emptyRedis();

describe('records that canhazgpu writes to Redis', () => {
	test('have the keys and formats of the Go canhazgpu', async () => {
		await redis.store.commit(
			plan({
				writes: [
					poolWrite(3),
					{kind: 'lease', index: 0, lease: lease({type: 'run', lastHeartbeat: start, holder: {pid: 5}})},
					{kind: 'free', index: 1, lastReleased: start},
					{kind: 'join', entry: entry('q1', {expirySeconds: 60, waitTimeout: start + 9})},
				],
				usage: [usage({gpuId: 1, startTime: recent - 60, endTime: recent + 0.75})],
			}),
		);
		const keys = await redis.client.keys('*');
		expect(keys.toSorted()).toEqual([
			'canhazgpu:gpu:0',
			'canhazgpu:gpu:1',
			'canhazgpu:gpu_count',
			'canhazgpu:last_use',
			'canhazgpu:machine',
			'canhazgpu:provider',
			'canhazgpu:queue',
			'canhazgpu:queue:entry:q1',
			'canhazgpu:revision',
			'canhazgpu:usage_history_sorted',
		]);
		expect(await redis.client.mget('canhazgpu:gpu_count', 'canhazgpu:provider', 'canhazgpu:machine')).toEqual([
			'3',
			'fake',
			'{"machine_id":"machine-1","boot_id":"boot-1"}',
		]);
		expect(JSON.parse((await redis.client.get('canhazgpu:gpu:0'))!)).toEqual({
			user: 'alice',
			actual_user: 'alice',
			start_time: start,
			last_heartbeat: start,
			expiry_time: start + 3600,
			type: 'run',
			lease_id: 'lease-1',
			pid: 5,
		});
		expect(JSON.parse((await redis.client.get('canhazgpu:gpu:1'))!)).toEqual({last_released: '2025-10-09T08:53:20Z'});
		expect(JSON.parse((await redis.client.get('canhazgpu:queue:entry:q1'))!)).toEqual({
			id: 'q1',
			user: 'bob',
			actual_user: 'bob',
			requested_count: 1,
			requested_ids: [],
			allocated_gpus: [],
			reservation_type: 'run',
			expiry_duration: 60_000_000_000,
			enqueue_time: '2025-10-09T08:53:20Z',
			last_heartbeat: '2025-10-09T08:53:20Z',
			wait_timeout: '2025-10-09T08:53:29Z',
		});
		const [record, score] = await redis.client.zrangebyscore(
			'canhazgpu:usage_history_sorted',
			'-inf',
			'+inf',
			'WITHSCORES',
		);
		expect(JSON.parse(record!)).toEqual({
			user: 'alice',
			gpu_id: 1,
			start_time: new Date((recent - 60) * 1000).toISOString().replace('.000', ''),
			end_time: new Date((recent + 0.75) * 1000).toISOString().replace('750', '75'),
			duration_seconds: 60,
			reservation_type: 'run',
		});
		expect(score).toBe(String(recent));
	});

	test('show a shared GPU to the Go canhazgpu as a long reservation by "(shared)"', async () => {
		const shares = [
			lease({memoryMiB: 8192}),
			lease({user: 'bob', actualUser: 'bob', leaseId: 'lease-2', memoryMiB: 1024}),
		];
		await write(redis.store, poolWrite(1), {kind: 'shares', index: 0, shares, capacityMiB: 81_559});
		const raw = (await redis.client.get('canhazgpu:gpu:0'))!;
		// Removes the fields that the Go program does not know, as some of its clients do.
		const {shares: parts, capacity_mib: _, ...known} = JSON.parse(raw) as Record<string, unknown>;
		expect(known).toEqual({user: '(shared)', type: 'manual', start_time: start, expiry_time: 4_102_444_800});
		expect(raw).not.toContain('null');
		expect(parts).toHaveLength(2);
		// The Go program counts a GPU as free if its record has no user or an empty one.
		const isFree = await redis.client.eval(
			'local s = cjson.decode(redis.call("GET", KEYS[1])); return (s.user == nil or s.user == "") and 1 or 0',
			1,
			'canhazgpu:gpu:0',
		);
		expect(isFree).toBe(0);
	});

	test('can be decoded by Lua, whatever text they contain', async () => {
		const note = 'a\u{103FF}b\u{D800} "quoted" \\ud800 \u{0} 🤖';
		await write(redis.store, poolWrite(1), leaseWrite(0, {note, unknownFields: {x: '\u{DC00}'}}), join('q', {note}));
		for (const key of ['canhazgpu:gpu:0', 'canhazgpu:queue:entry:q']) {
			const decoded = await redis.client.eval('return cjson.decode(redis.call("GET", KEYS[1])).note', 1, key);
			expect(decoded).toBe(note.toWellFormed());
		}
	});

	test("have increasing queue scores, which are nanoseconds of the server's clock", async () => {
		const scores = async () =>
			(await redis.client.zrangebyscore('canhazgpu:queue', '-inf', '+inf', 'WITHSCORES'))
				.filter((_, at) => at % 2 === 1)
				.map(Number);
		const [seconds] = (await redis.client.time()).map(Number);
		await write(redis.store, join('b'), join('a'));
		const [first, second] = await scores();
		expect(Math.abs(first! / 1e9 - seconds!)).toBeLessThan(2);
		expect(second! - first!).toBe(1024);

		const future = 4_102_444_800_000_000_000;
		await redis.client.zadd('canhazgpu:queue', future, 'peer');
		await write(redis.store, join('0'));
		expect((await scores()).at(-1)).toBe(future + 1024);
		expect(lineOf(await redis.store.read())).toEqual(['b', 'a', 'peer', '0']);
	});

	test('clear the expiry that the Go canhazgpu sets on the usage history', async () => {
		await redis.client.zadd('canhazgpu:usage_history_sorted', start, 'x');
		await redis.client.expire('canhazgpu:usage_history_sorted', 5);
		await redis.store.commit(plan({usage: [usage({endTime: Date.now() / 1000})]}));
		expect(await redis.client.ttl('canhazgpu:usage_history_sorted')).toBe(-1);
	});

	test('include events, which are published as JSON', async () => {
		const listener = redis.client.duplicate();
		const heard: string[] = [];
		listener.on('message', (_, message: string) => {
			heard.push(message);
		});
		await listener.subscribe('canhazgpu:events');
		await redis.store.commit(plan({writes: [poolWrite(1)], event: {kind: 'granted', gpus: [0, 2], user: 'alice'}}));
		await listener.ping();
		expect(heard).toEqual(['{"kind":"granted","gpus":[0,2],"user":"alice"}']);
		listener.disconnect();
	});
});

describe('records that the Go canhazgpu writes to Redis', () => {
	test('can be read in every form', async () => {
		await redis.client.mset({
			'canhazgpu:gpu_count': '5',
			'canhazgpu:gpu:0':
				'{"start_time":1751301278,"type":"run","user":"eve","actual_user":"eve","last_heartbeat":1751301300}',
			'canhazgpu:gpu:1':
				'{"user":"eve","start_time":"2025-06-30T16:34:38.372177993Z","last_heartbeat":null,"type":"manual",' +
				'"expiry_time":"2025-06-30T18:34:38+02:00","last_released":null}',
			'canhazgpu:gpu:2':
				'{"start_time":null,"last_heartbeat":null,"expiry_time":null,"last_released":"2025-06-30T16:34:38.5Z"}',
			'canhazgpu:gpu:3': '{"last_released":1751301278.5}',
		});
		const snapshot = await redis.store.read();
		expect(snapshot.pool).toEqual({gpuCount: 5, provider: 'nvidia'});
		expect(snapshot.gpus).toMatchObject([
			{kind: 'leased', lease: {user: 'eve', startTime: 1_751_301_278, lastHeartbeat: 1_751_301_300}},
			{kind: 'leased', lease: {startTime: 1_751_301_278 + 0.372177993, expiryTime: 1_751_301_278}},
			{kind: 'free', lastReleased: 1_751_301_278.5},
			{kind: 'free', lastReleased: 1_751_301_278.5},
			{kind: 'free', raw: undefined},
		]);
		const change = plan({
			expect: snapshot.gpus.map(({index, raw}) => ({kind: 'gpu', index, raw})),
			writes: [{kind: 'lease', index: 1, lease: leaseOn(snapshot, 1)}],
		});
		expect(await redis.store.commit(change)).toBe('done');
		expect(JSON.parse((await redis.client.get('canhazgpu:gpu:1'))!)).toEqual({
			user: 'eve',
			start_time: 1_751_301_278,
			expiry_time: 1_751_301_278,
			type: 'manual',
		});
		expect(await redis.store.commit(change)).toBe('conflict');
	});

	test('may contain invalid UTF-8', async () => {
		const bytes = Buffer.concat([
			Buffer.from('{"user":"eve","type":"manual","start_time":1,"note":"'),
			Buffer.from([0xff, 0x80, 0xc3]),
			Buffer.from('"}'),
		]);
		await redis.client.set('canhazgpu:gpu_count', 1);
		await redis.client.set('canhazgpu:gpu:0', bytes);
		const snapshot = await redis.store.read();
		expect(leaseOn(snapshot, 0)).toMatchObject({user: 'eve', note: '\u{FFFD}\u{FFFD}\u{FFFD}'});
		const release = (raw: string | undefined) =>
			plan({expect: [{kind: 'gpu', index: 0, raw}], writes: [{kind: 'free', index: 0, lastReleased: start}]});
		expect(await redis.store.commit(release(bytes.toString()))).toBe('conflict');
		expect(await redis.store.commit(release(rawOn(snapshot, 0)))).toBe('done');
	});

	test("count as the last use of a GPU even if the user's label has escaped characters", async () => {
		const record = String.raw`{"user":"a\u003cb\u0026c","gpu_id":3,"start_time":"2025-06-30T16:34:38Z","end_time":"2025-06-30T16:35:38.5Z","duration_seconds":60.5,"reservation_type":"run"}`;
		await redis.client.zadd('canhazgpu:usage_history_sorted', 1_751_301_338, record);
		const {lastUsed} = await redis.store.read({user: 'a<b&c'});
		expect([...lastUsed]).toEqual([[3, 1_751_301_338.5]]);
		expect(await collect(redis.store.history(1_751_301_338, 1_751_301_339))).toMatchObject([{user: 'a<b&c', gpuId: 3}]);
	});

	test('may include a queue id without an entry, which can be removed', async () => {
		await redis.client.zadd('canhazgpu:queue', 1, 'ghost');
		await write(redis.store, join('q'));
		const {queue} = await redis.store.read();
		expect(queue[0]).toEqual({kind: 'orphan', id: 'ghost'});
		const drop = plan({expect: [{kind: 'entry', id: 'ghost', raw: undefined}], writes: [{kind: 'leave', id: 'ghost'}]});
		expect(await redis.store.commit(drop)).toBe('done');
		expect(lineOf(await redis.store.read())).toEqual(['q']);
	});

	test('may include the allocation lock, which prevents grants and nothing else', async () => {
		await write(redis.store, poolWrite(2), leaseWrite(0));
		const before = stateOf(await redis.store.read());
		await redis.client.set('canhazgpu:allocation_lock', 'locked', 'EX', 10);
		const grant = plan({writes: [leaseWrite(1)], grants: true});
		expect(await redis.store.commit(grant)).toBe('locked');
		expect(stateOf(await redis.store.read())).toEqual(before);
		expect(
			await write(redis.store, leaseWrite(0, {note: 'beat'}), join('q'), {kind: 'free', index: 1, lastReleased: start}),
		).toBe('done');
		await redis.client.del('canhazgpu:allocation_lock');
		expect(await redis.store.commit(grant)).toBe('done');
	});
});
