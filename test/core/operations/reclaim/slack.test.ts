/** Reservations beyond `max-gpus`, which are granted while nobody else waits, from the grant to their end. */
import {describe, expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {adopt} from '../../../../source/core/operations/adopt.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {createReclaimer} from '../../../../source/core/operations/reclaim.js';
import {claimReminders} from '../../../../source/core/operations/reminders.js';
import {readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {quitQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {limitsFor} from '../../../../source/core/operations/limits.js';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {eventText} from '../../../../source/format/events.js';
import {statusJson} from '../../../../source/format/json/status-json.js';
import {queueWhy} from '../../../../source/format/queue/why.js';
import {reminderText} from '../../../../source/format/reminder-text.js';
import {detailText} from '../../../../source/format/status-labels.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {
	createTestWorld,
	historyOf,
	idleReading,
	observationOf,
	person,
	type TestWorld,
} from '../../../_helpers/world.js';
import {beatAll, settle} from '../waiting/_settle.js';
import {hour, minute, root, usedReading} from './_idle.js';

const ada = person('ada');
const bob = person('bob');

type Tenure = Parameters<typeof acquireNow>[1]['tenure'];

const manual: Tenure = {type: 'manual', durationSeconds: 8 * hour};

let ids = 0;

/** Creates a pool of four GPUs in which each account may hold two. */
async function createBox(settings: Readonly<Record<string, string>> = {}) {
	const world = await createTestWorld({gpuCount: 4});
	const set = {'limits.max-gpus': '2', 'limits.slack': 'on', ...settings};
	await changePolicy(
		world,
		root,
		Object.entries(set).map(([key, value]) => ({key, value})),
	);
	const reclaimer = createReclaimer(world);
	const take = async (requester: typeof ada, count: number, tenure = manual, need?: {readonly shareMiB: number}) =>
		(await acquireNow(world, {requester, count, need, tenure}, `lease-${++ids}`)).kind;
	const look = async (): Promise<number> => reclaimer.endBeyondLimit(await world.memory.read());
	return {
		world,
		take,
		look,
		join: async (requester: typeof ada, count: number, tenure = manual) =>
			joinQueue(world, {
				id: `entry-${++ids}`,
				request: {requester, count, tenure},
				waitSeconds: undefined,
			}),
		async leave(requester: typeof ada) {
			for (const {id} of (await world.memory.read()).queue) {
				await quitQueue(world, {id, leaseId: '', account: requester.account, reason: 'aborted'});
			}
		},
		/** Observes the pool every minute, while all waiting requests send heartbeats. */
		async lookFor(minutes: number) {
			for (let passed = 0; passed < minutes; passed++) {
				world.pass(minute);
				await beatAll(world);
				await look();
			}
		},
		holders: async () => holdersIn(world),
	};
}

const holdersIn = async (world: TestWorld): Promise<string> =>
	(await world.memory.read()).gpus
		.map((record) => (record.kind === 'leased' ? record.lease.user[0]! + (record.lease.slack ? '+' : '') : '-'))
		.join(' ');

describe('a request beyond the limit is granted', () => {
	test('and marked as beyond the limit while nobody waits', async () => {
		const {take, holders} = await createBox();
		expect(await take(ada, 2)).toBe('granted');
		expect(await take(ada, 1)).toBe('granted');
		expect(await holders()).toBe('a a a+ -');
	});

	test('even if this request alone exceeds the limit', async () => {
		const {take, holders} = await createBox();
		expect(await take(ada, 3)).toBe('granted');
		expect(await holders()).toBe('a+ a+ a+ -');
	});

	test('when it waits in the queue and all other waiting requests are also beyond their limits', async () => {
		const {world, take, join, holders} = await createBox();
		await take(ada, 2);
		await take(bob, 1);
		await join(bob, 2);
		await join(ada, 1);
		await settle(world);
		// Bob is first in the queue, but waits for a second GPU beyond his limit.
		expect(await holders()).toBe('a a b -');
		await release(world, bob, {by: 'gpus', ids: [2]});
		await settle(world);
		expect(await holders()).toBe('a a b b');
	});

	test('only if nobody has joined since the queue was read', async () => {
		const {world, take, join} = await createBox();
		await take(ada, 2);
		await take(bob, 2);
		await join(ada, 1);
		await release(world, bob, {by: 'gpus', ids: [3]});
		const snapshot = await world.memory.read();
		const lease = {user: 'ada', type: 'manual', startTime: 0} as const;
		const grant = planQueueGrant(snapshot, snapshot.queue[0]!.id, {
			lease,
			limit: limitsFor(world, snapshot, ada)['max-gpus'],
			isUsable: () => true,
			isAnswering: () => true,
			outOfService: new Map(),
			host: 'here',
		});
		expect(grant).toMatchObject({kind: 'complete', gpus: [3]});
		await join(bob, 1);
		expect(grant.kind === 'complete' && (await world.store.commit(grant.plan))).toBe('conflict');
	});

	test('in queue order', async () => {
		const cy = person('cy');
		const {world, take, join, holders} = await createBox({'limits.max-gpus': '1'});
		for (const each of [ada, bob, cy, person('dan')]) {
			await take(each, 1);
		}

		await join(ada, 1);
		await join(bob, 1);
		await release(world, cy, {by: 'gpus', ids: [2]});
		await settle(world);
		expect(await holders()).toBe('a b a+ d');
	});
});

describe('a request that holds GPUs and then exceeds its limit has one usage record for each GPU', () => {
	const usageIn = async (world: TestWorld, account: string) =>
		(await historyOf(world.memory))
			.filter(({user}) => user === account)
			.map(({gpuId, durationSeconds}) => [gpuId, Math.floor(durationSeconds)])
			.toSorted(([a], [b]) => a! - b!);

	test('after an administrator has lowered the limit', async () => {
		const {world, take, join, holders} = await createBox({'limits.max-gpus': '4'});
		await take(bob, 2);
		await join(ada, 4);
		await settle(world);
		expect(await holders()).toBe('b b a a');
		world.pass(minute);
		await beatAll(world);
		await changePolicy(world, root, [{key: 'limits.max-gpus', value: '3'}]);
		await release(world, bob, {by: 'gpus', ids: [0, 1]});
		await settle(world);
		expect(await holders()).toBe('a+ a+ a+ a+');
		expect((await world.memory.audit()).filter(({kind}) => kind === 'ended')).toEqual([]);
		world.pass(minute);
		await release(world, ada, {by: 'gpus', ids: [0, 1, 2, 3]});
		expect(await usageIn(world, 'ada')).toEqual([
			[0, 60],
			[1, 60],
			[2, 120],
			[3, 120],
		]);
	});

	test('after its account has adopted a process', async () => {
		const {world, take, join, holders} = await createBox({'limits.max-gpus': '3'});
		await take(bob, 1);
		world.see(() =>
			observationOf(
				[0, 1, 2, 3].map((index) =>
					index === 1
						? {...usedReading(index), processes: [{pid: 77, user: 'ada', startTicks: 5, memoryUsedMiB: 8000}]}
						: idleReading(index),
				),
			),
		);
		await join(ada, 3);
		await settle(world);
		expect(await holders()).toBe('b - a a');
		world.pass(minute);
		await beatAll(world);
		await adopt(world, {requester: ada, pid: 77});
		await release(world, bob, {by: 'gpus', ids: [0]});
		await settle(world);
		expect(await holders()).toBe('a+ a a+ a+');
		expect((await world.memory.audit()).filter(({kind}) => kind === 'ended')).toEqual([]);
		world.pass(minute);
		await release(world, ada, {by: 'gpus', ids: [0, 2, 3]});
		expect(await usageIn(world, 'ada')).toEqual([
			[0, 60],
			[2, 120],
			[3, 120],
		]);
	});
});

describe('a request beyond the limit is not granted', () => {
	test('without limits.slack', async () => {
		const {take} = await createBox({'limits.slack': 'off'});
		await take(ada, 2);
		expect(await take(ada, 1)).toBe('refused');
		await expect(take(ada, 3)).rejects.toMatchObject({code: 'impossible'});
	});

	test('for a job or a share, because neither can be reclaimed', async () => {
		const {world, take} = await createBox();
		await changePolicy(world, root, [{key: 'share', value: 'on'}]);
		await take(ada, 2);
		expect(await take(ada, 1, {type: 'run'})).toBe('refused');
		expect(await take(ada, 1, manual, {shareMiB: 1000})).toBe('refused');
		await expect(take(ada, 3, {type: 'run'})).rejects.toMatchObject({code: 'impossible'});
	});

	test('while another account waits within its limit', async () => {
		const {take, join} = await createBox();
		await take(ada, 2);
		await take(person('cy'), 1);
		await join(bob, 2);
		expect(await take(ada, 1)).toBe('refused');
	});

	test('before an earlier request of the same account', async () => {
		const {take, join} = await createBox();
		await take(ada, 2);
		await join(ada, 1, {type: 'run'});
		expect(await take(ada, 1)).toBe('refused');
		expect(await take(bob, 2)).toBe('granted');
	});
});

describe('a reservation beyond the limit', () => {
	const full = async () => {
		const box = await createBox();
		await box.take(ada, 2);
		await box.take(ada, 1);
		box.world.pass(1);
		await box.take(ada, 1);
		expect(await box.holders()).toBe('a a a+ a+');
		return box;
	};

	test('stays while no other account waits', async () => {
		const {lookFor, holders, join} = await full();
		await join(ada, 1);
		await lookFor(60);
		expect(await holders()).toBe('a a a+ a+');
	});

	test('ends after a warning and the grace period, newest first', async () => {
		const {world, join, look, lookFor, holders} = await full();
		await join(bob, 1);
		expect(await look()).toBe(1200);
		await lookFor(19);
		expect(await holders()).toBe('a a a+ a+');
		await lookFor(1);
		expect(await holders()).toBe('a a a+ -');
		await settle(world);
		expect(await holders()).toBe('a a a+ b');
		await lookFor(60);
		expect(await holders()).toBe('a a a+ b');
		expect(
			(await world.memory.audit())
				.filter(({kind}) => kind === 'beyond-limit' || kind === 'ended')
				.map(({reason}) => reason),
		).toEqual([undefined, 'beyond-limit']);
	});

	test('ends even if its GPU is in use', async () => {
		const {world, join, lookFor, holders} = await full();
		world.see(() => observationOf([0, 1, 2, 3].map((index) => usedReading(index))));
		await join(bob, 1);
		await lookFor(21);
		expect(await holders()).toBe('a a a+ -');
	});

	test('ends although a free GPU is in use without a reservation', async () => {
		const {world, take, join, look, lookFor, holders} = await createBox();
		world.see(() => observationOf([0, 1, 2, 3].map((index) => (index === 3 ? usedReading(3) : idleReading(index)))));
		await take(ada, 2);
		await take(ada, 1);
		await join(bob, 1);
		await settle(world);
		// For a minute, the request might still take the free GPU.
		expect(await look()).toBe(Infinity);
		await lookFor(20);
		expect(await holders()).toBe('a a a+ -');
		await lookFor(2);
		expect(await holders()).toBe('a a - -');
		await settle(world);
		expect(await holders()).toBe('a a b -');
	});

	/** Creates a pool with two GPUs of each model, in which bob waits for two GPUs of the same model. */
	const ofTwoModels = async (readings: ReadonlyArray<typeof idleReading>, counts: readonly number[]) => {
		const box = await createBox({'limits.max-gpus': '1'});
		await changePolicy(box.world, root, [{key: 'limits.user.bob.max-gpus', value: 'off'}]);
		const observation = observationOf(
			readings.map((reading, index) => ({...reading(index), name: index < 2 ? 'A100' : 'H100'})),
		);
		box.world.see(() => observation);
		for (const count of counts) {
			await box.take(ada, count);
			box.world.pass(1);
		}

		await joinQueue(box.world, {
			id: `entry-${++ids}`,
			request: {requester: bob, count: 2, tenure: manual},
			waitSeconds: undefined,
			observation,
		});
		await settle(box.world);
		return box;
	};

	test('ends although one of two free GPUs of a model is in use without a reservation', async () => {
		const {world, lookFor, holders} = await ofTwoModels([idleReading, idleReading, idleReading, usedReading], [2]);
		expect(await holders()).toBe('a+ a+ - -');
		await lookFor(22);
		await settle(world);
		expect(await holders()).toBe('b b - -');
	});

	test('stays if ending one other reservation frees enough GPUs of one model', async () => {
		const {world, lookFor, holders} = await ofTwoModels(
			[idleReading, idleReading, idleReading, idleReading],
			[1, 1, 1],
		);
		expect(await holders()).toBe('a a+ a+ -');
		await lookFor(22);
		await settle(world);
		expect(await holders()).toBe('a a+ b b');
	});

	test('stays if the request would still lack GPUs of one model', async () => {
		const {world, lookFor, holders} = await ofTwoModels(
			[idleReading, idleReading, idleReading, idleReading],
			[1, 1, 1, 1],
		);
		expect(await holders()).toBe('a a+ a+ a+');
		await changePolicy(world, root, [{key: 'limits.user.ada.max-gpus', value: '3'}]);
		await lookFor(60);
		expect(await holders()).toBe('a a+ a+ a+');
	});

	test('stays if the request will take a free GPU instead', async () => {
		const {world, take, join, look, lookFor, holders} = await createBox({'limits.max-gpus': '1'});
		await changePolicy(world, root, [{key: 'limits.user.bob.max-gpus', value: 'off'}]);
		await take(ada, 1);
		await take(ada, 1);
		await take(ada, 1);
		world.pass(hour);
		await join(bob, 2);
		await look();
		const warned = (await world.memory.audit()).filter(({kind}) => kind === 'beyond-limit');
		expect(warned.map(({gpus}) => gpus)).toEqual([[2]]);
		await settle(world);
		await lookFor(21);
		await settle(world);
		expect(await holders()).toBe('a a+ b b');
	});

	test('stays if the other requests leave the queue before the grace period ends', async () => {
		const {world, join, leave, lookFor, holders} = await full();
		await join(bob, 1);
		await lookFor(10);
		await leave(bob);
		await lookFor(60);
		expect(await holders()).toBe('a a a+ a+');
		await join(bob, 1);
		await lookFor(20);
		expect(await holders()).toBe('a a a+ a+');
		await lookFor(1);
		expect(await holders()).toBe('a a a+ -');
		expect((await world.memory.audit()).filter(({kind}) => kind === 'beyond-limit').map(({reason}) => reason)).toEqual([
			undefined,
			'unwanted',
			undefined,
		]);
	});

	test('is warned again if nobody has looked since the grace period ended', async () => {
		const {world, join, leave, look, lookFor, holders} = await full();
		await join(bob, 1);
		await lookFor(1);
		await leave(bob);
		world.pass(4 * hour);
		await join(bob, 1);
		expect(await look()).toBe(1200);
		expect(await holders()).toBe('a a a+ a+');
		await lookFor(20);
		expect(await holders()).toBe('a a a+ -');
	});

	test('stays while the process of the other request is stopped', async () => {
		const {world, join, lookFor, holders} = await full();
		const {pid} = world.host.self;
		await join(bob, 1);
		world.processes.set(pid, 'stopped');
		await lookFor(60);
		expect(await holders()).toBe('a a a+ a+');
		expect((await world.memory.audit()).filter(({kind}) => kind === 'beyond-limit')).toEqual([]);
		world.processes.set(pid, 'alive');
		await lookFor(21);
		expect(await holders()).toBe('a a a+ -');
	});

	test('is no longer beyond the limit when its account holds fewer GPUs or gets a higher limit', async () => {
		const {world, join, lookFor, holders} = await full();
		await changePolicy(world, root, [{key: 'limits.user.bob.max-gpus', value: 'off'}]);
		await join(bob, 3);
		await lookFor(10);
		await release(world, ada, {by: 'gpus', ids: [0]});
		await lookFor(30);
		// Only the newest of the two reservations is still beyond the limit.
		expect(await holders()).toBe('- a a+ -');
		const other = await full();
		await changePolicy(other.world, root, [{key: 'limits.user.ada.max-gpus', value: '4'}]);
		const {join: joinThere} = other;
		await joinThere(bob, 1);
		await other.lookFor(60);
		expect(await other.holders()).toBe('a a a+ a+');
	});

	test("is not ended for a request that waits only for its own account's limit", async () => {
		const {world, take, join, lookFor, holders} = await createBox({'limits.max-gpus': '1'});
		await take(ada, 1);
		await take(ada, 2);
		await take(bob, 1);
		await join(bob, 1);
		await lookFor(60);
		expect(await holders()).toBe('a a+ a+ b');
		await settle(world);
		expect(await holders()).toBe('a a+ a+ b');
	});

	test('is warned and ended only once, even by ten concurrent observers', async () => {
		const {world, join} = await full();
		await join(bob, 1);
		const observers = Array.from({length: 10}, () => createReclaimer(world));
		for (let passed = 0; passed < 25; passed++) {
			world.pass(minute);
			await beatAll(world);
			await settle(world);
			const snapshot = await world.memory.read();
			await Promise.all(observers.map(async ({endBeyondLimit}) => endBeyondLimit(snapshot)));
		}

		expect(
			(await world.memory.audit())
				.filter(({kind}) => kind === 'beyond-limit' || kind === 'ended')
				.map(({kind}) => kind),
		).toEqual(['beyond-limit', 'ended']);
	});

	test('that is also idle ends at the earlier of the two deadlines', async () => {
		const {world, join, holders} = await full();
		await changePolicy(world, root, [{key: 'idle.after', value: '5m'}]);
		await join(bob, 1);
		const reclaimer = createReclaimer(world);
		for (let passed = 0; passed < 21; passed++) {
			world.pass(minute);
			await beatAll(world);
			const observation = observationOf(
				[0, 1, 2, 3].map((index) => idleReading(index)),
				{takenAtMs: world.clock.monotonicMs()},
			);
			await reclaimer.look(await world.memory.read(), observation);
		}

		expect(await holders()).toBe('a a a+ -');
	});
});

test('status, queue, events and the reminder mark a reservation beyond the limit', async () => {
	const {world, join, lookFor, look} = await createBox();
	await reserve(world, {requester: ada, count: 2, durationSeconds: 24 * hour});
	await reserve(world, {requester: ada, count: 2, durationSeconds: 24 * hour});
	expect(detailText((await readStatus(world)).rows[3]!)).toBe('beyond its limit of 2 GPUs, expires in 24h 0m 0s');
	await join(bob, 1);
	await look();
	await lookFor(1);
	const view = await readStatus(world);
	expect(detailText(view.rows[3]!)).toMatch(/^beyond its limit of 2 GPUs, goes back at \d\d:\d\d, expires in /v);
	expect(detailText(view.rows[0]!)).toMatch(/^expires in /v);
	expect(
		statusJson(view.rows, view.observation).map((row) => [row.beyond_limit, row.reclaim_at !== undefined]),
	).toEqual([
		[undefined, false],
		[undefined, false],
		[true, true],
		[true, true],
	]);
	expect(queueWhy(queueRows(view.snapshot), createPaint(false, {}), view.snapshot.now)).toMatch(
		/ada has GPUs 2,3, beyond its limit of 2 GPUs, goes back at \d\d:\d\d/v,
	);
	const owner = {account: 'ada', uid: 1000, reachesAll: false};
	const {reminders} = await claimReminders(world, owner);
	expect(reminders.map((reminder) => reminderText(reminder, 'box').replaceAll(/\d\d:\d\d/gv, 'HH:MM'))).toEqual([
		'canhazgpu on box: you hold more than your limit of 2 GPUs, and somebody else is waiting. Your reservation of GPUs 2,3 goes back to the pool at HH:MM. Stop what runs there before then. To release it now: canhazgpu release --gpu-ids 2,3',
	]);
	expect((await claimReminders(world, owner)).reminders).toEqual([]);
	await lookFor(20);
	const words = (await world.store.audit()).map((entry) => eventText(entry).replaceAll(/\d\d:\d\d/gv, 'HH:MM'));
	expect(words).toContain('ada got GPUs 2,3 for 1d, beyond its limit while nobody else waits');
	expect(words).toContain(
		'ada is beyond its limit with GPUs 2,3, which go back to the pool at HH:MM, because somebody else is waiting',
	);
	expect(words).toContain('ada no longer has GPUs 2,3: beyond its limit, and somebody else was waiting');
});

test('a clock that was set forward does not shorten the grace period', async () => {
	const box = await createBox();
	await box.take(ada, 2);
	await box.take(ada, 1);
	await box.take(ada, 1);
	// eslint-disable-next-line unicorn/no-unused-builtin-method-return -- this `join` joins the queue
	await box.join(bob, 1);
	await box.lookFor(1);
	box.world.jump(2 * hour);
	await box.lookFor(19);
	expect(await box.holders()).toBe('a a a+ a+');
	await box.lookFor(1);
	expect(await box.holders()).toBe('a a a+ -');
	const {returned} = await box.world.memory.read();
	expect(returned).toMatchObject([{account: 'ada', gpus: [3], reason: 'beyond-limit'}]);
});

test('a reservation beyond the limit shows no deadline after the last other waiting request has left', async () => {
	const {world, take, join, leave, lookFor} = await createBox();
	await take(ada, 3);
	await join(bob, 2);
	await lookFor(1);
	const deadlines = async () =>
		(await readStatus(world)).rows.map(({beyondLimit}) => beyondLimit?.deadline !== undefined);
	expect(await deadlines()).toContain(true);
	await leave(bob);
	// No program has scanned since.
	expect(await deadlines()).not.toContain(true);
});
