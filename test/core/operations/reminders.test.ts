import fc from 'fast-check';
import {expect, test} from 'vitest';
import {claimReminders, planReminders} from '../../../source/core/operations/reminders.js';
import type {ReminderSender} from '../../../source/core/rules/notices/reminder.js';
import {extend, reserve} from '../../../source/core/operations/reservations.js';
import {emptyPlan} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';
import {usualEvents, type NoticePreferences} from '../../../source/core/rules/notices/events.js';
import type {Alert} from '../../../source/core/model/alerts.js';
import {reminderText} from '../../../source/format/reminder-text.js';
import {encodeLease} from '../../../source/store/records/index.js';
import {createTestWorld, person} from '../../_helpers/world.js';

const hour = 3600;
const alice = person('alice');
const own: ReminderSender = {account: 'alice', uid: 1000, reachesAll: false};
const root: ReminderSender = {account: 'root', uid: 0, reachesAll: true};
const stranger: ReminderSender = {account: 'bob', uid: 1001, reachesAll: false};
const strangerWithWebhook: ReminderSender = {...stranger, reachesAll: true};

/** Creates a pool in which alice has reserved two GPUs for two hours, of which this many seconds are left. */
async function withLeft(seconds: number, wrap?: (store: Store) => Store) {
	const world = await createTestWorld({wrap});
	await reserve(world, {requester: alice, count: 2, durationSeconds: 2 * hour, note: 'notebook'});
	world.pass(2 * hour - seconds);
	return world;
}

test('the owner of a reservation gets one reminder, ten minutes before its end', async () => {
	const world = await withLeft(601);
	expect(await claimReminders(world, own)).toMatchObject({reminders: [], nextSeconds: 1});
	world.pass(1);
	const {reminders} = await claimReminders(world, own);
	expect(reminders).toMatchObject([
		{kind: 'ending', account: 'alice', gpus: [0, 1], remainingSeconds: 600, note: 'notebook'},
	]);
	expect(await claimReminders(world, own)).toEqual({reminders: [], nextSeconds: Infinity});
	expect(await claimReminders(world, root)).toEqual({reminders: [], nextSeconds: Infinity});
});

test('a short reservation leads to no reminder, even if one of its GPUs was held in the queue before', async () => {
	const world = await createTestWorld();
	const lease = {user: 'alice', type: 'manual', leaseId: 'l', expiryTime: world.now() + 300} as const;
	world.memory.state.gpus.set(0, encodeLease({...lease, startTime: world.now() - 640}));
	world.memory.state.gpus.set(1, encodeLease({...lease, startTime: world.now()}));
	expect(await claimReminders(world, own)).toEqual({reminders: [], nextSeconds: Infinity});
});

test('only one of many concurrent senders sends a reminder', async () => {
	const world = await withLeft(300);
	const all = await Promise.all(Array.from({length: 20}, async () => claimReminders(world, own)));
	expect(all.flatMap(({reminders}) => reminders)).toHaveLength(1);
});

test('extending a reservation leads to another reminder before the new end', async () => {
	const world = await withLeft(300);
	await claimReminders(world, own);
	await extend(world, alice, {by: 'label', label: 'alice'}, {by: hour});
	expect((await claimReminders(world, own)).reminders).toEqual([]);
	world.pass(hour - 100);
	expect((await claimReminders(world, own)).reminders).toHaveLength(1);
});

test.each<[string, ReminderSender, number, number]>([
	['the holder sends a reminder', own, 599, 1],
	['root sends no reminder while the holder can', root, 541, 0],
	['root sends a reminder that nobody else has sent', root, 540, 1],
	['another account that cannot notify others sends no reminder', stranger, 1, 0],
	['another account with a webhook sends no reminder while the holder can', strangerWithWebhook, 541, 0],
	['another account with a webhook sends a reminder that nobody else has sent', strangerWithWebhook, 540, 1],
])('%s', async (_, sender, left, count) => {
	const world = await withLeft(left);
	expect((await claimReminders(world, sender)).reminders).toHaveLength(count);
});

test('a reminder about one of two own shares of a GPU names that share in its command', async () => {
	const world = await createTestWorld();
	const now = world.now();
	const share = {user: 'alice', type: 'manual', startTime: now - hour, memoryMiB: 8192} as const;
	const shares = [
		{...share, leaseId: 'a', expiryTime: now + 300},
		{...share, leaseId: 'b', expiryTime: now + hour},
	];
	await world.memory.commit({...emptyPlan, writes: [{kind: 'shares', index: 2, shares, capacityMiB: 80_000}]});
	const [reminder] = (await claimReminders(world, own)).reminders;
	expect(reminderText(reminder!, 'box')).toContain('canhazgpu extend --gpu-ids 2 --lease a --duration 1h');
});

test('a reminder about two MIG instances of one GPU names the GPU once', async () => {
	const world = await createTestWorld();
	const now = world.now();
	const lease = {user: 'alice', type: 'manual', startTime: now - hour, expiryTime: now + 300, leaseId: 'a'} as const;
	const shares = ['MIG-1', 'MIG-2'].map((uuid) => ({...lease, mig: {uuid}}));
	await world.memory.commit({...emptyPlan, writes: [{kind: 'shares', index: 2, shares}]});
	expect((await claimReminders(world, own)).reminders).toMatchObject([{kind: 'ending', gpus: [2]}]);
	expect(await world.store.audit()).toMatchObject([
		{kind: 'pool'},
		{gpus: [2], reason: 'alice was reminded that the reservation of GPU 2 ends soon'},
	]);
});

test('jobs and reservations of ten minutes or less get no reminder', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: alice, count: 1, durationSeconds: 600});
	await world.memory.commit({
		...planReminders(await world.store.read(), own).plan,
		writes: [{kind: 'lease', index: 1, lease: {user: 'alice', type: 'run', startTime: 0, endsBy: world.now() + 60}}],
	});
	expect(planReminders(await world.store.read(), own)).toMatchObject({reminders: [], nextSeconds: Infinity});
});

test('root sends a reminder that the holder has disabled', async () => {
	const world = await withLeft(300);
	expect((await claimReminders(world, {...own, own: {events: ['granted']}})).reminders).toEqual([]);
	expect((await claimReminders(world, {...root, others: {events: ['granted']}})).reminders).toEqual([]);
	expect((await claimReminders(world, root)).reminders).toHaveLength(1);
});

/** Returns a quiet time that starts at this store time and ends some minutes later. */
function quietFrom(seconds: number, minutes: number): NoticePreferences {
	const date = new Date(seconds * 1000);
	const from = date.getHours() * 60 + date.getMinutes();
	return {events: usualEvents, quiet: {from, until: (from + minutes) % 1440}};
}

test('a reminder waits for the end of the quiet time', async () => {
	const world = await withLeft(600);
	const now = world.now();
	const quiet = {...own, own: quietFrom(now, 3)};
	const waiting = await claimReminders(world, quiet);
	expect(waiting.reminders).toEqual([]);
	expect(waiting.nextSeconds).toBeGreaterThan(60);
	expect(waiting.nextSeconds).toBeLessThanOrEqual(180);
	world.pass(waiting.nextSeconds);
	const all = await Promise.all(Array.from({length: 5}, async () => claimReminders(world, quiet)));
	expect(all.flatMap(({reminders}) => reminders)).toHaveLength(1);
});

test('a reminder is sent during the quiet time if less than five minutes would be left afterwards', async () => {
	const world = await withLeft(600);
	const quiet = {...own, own: quietFrom(world.now(), 6)};
	expect((await claimReminders(world, quiet)).reminders).toMatchObject([{kind: 'ending', remainingSeconds: 600}]);
});

/** Creates a pool in which a scan has found processes without a reservation. */
async function withSquatters(alerts: readonly Alert[]) {
	const world = await createTestWorld();
	await world.memory.commit({
		...emptyPlan,
		writes: [{kind: 'alerts', alerts, dataLoss: undefined, baselines: new Map(), overuse: []}],
	});
	return world;
}

test('an account that wants the event `squatter` is notified once of its unreserved use', async () => {
	const since = 1_700_000_000;
	const world = await withSquatters([
		{kind: 'unreserved', gpu: 1, account: 'alice', since},
		{kind: 'unreserved', gpu: 2, account: 'alice', since},
		{kind: 'squatter', gpu: 3, account: 'alice', owner: 'bob', since},
		{kind: 'unreserved', gpu: 4, since},
		{kind: 'health', gpu: 5, problem: 'xid', since},
	]);
	const wanting: ReminderSender = {...own, own: {events: ['squatter']}};
	expect((await claimReminders(world, own)).reminders).toEqual([]);
	expect((await claimReminders(world, {...wanting, account: 'bob'})).reminders).toEqual([]);
	const all = await Promise.all(Array.from({length: 5}, async () => claimReminders(world, wanting)));
	expect(all.flatMap(({reminders}) => reminders)).toEqual([
		{kind: 'squatter', account: 'alice', gpus: [1, 2]},
		{kind: 'squatter', account: 'alice', gpus: [3], owner: 'bob'},
	]);
	expect((await claimReminders(world, wanting)).reminders).toEqual([]);
	expect(await world.store.audit()).toContainEqual(
		expect.objectContaining({reason: 'alice was told that a process uses GPUs 1,2 without a reservation'}),
	);
});

test('a reminder is not sent if its claim was stored but reported as a conflict', async () => {
	let isLost = false;
	const world = await withLeft(300, (store) => ({
		...store,
		async commit(plan) {
			const outcome = await store.commit(plan);
			return isLost ? 'conflict' : outcome;
		},
	}));
	isLost = true;
	expect((await claimReminders(world, own)).reminders).toEqual([]);
	isLost = false;
	expect((await claimReminders(world, own)).reminders).toEqual([]);
});

test('several senders in a random order send at most one reminder of an end', async () => {
	const scanStep = fc.record({
		after: fc.integer({min: 1, max: 900}),
		sender: fc.constantFrom(own, root, stranger, strangerWithWebhook),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(scanStep, {maxLength: 12}), async (scanSteps) => {
			const world = await withLeft(1200);
			let left = 1200;
			let reminded = 0;
			let canRemind = false;
			for (const {after, sender} of scanSteps) {
				world.pass(after);
				left -= after;
				reminded += (await claimReminders(world, sender)).reminders.length;
				canRemind ||= left > 0 && left <= (sender === own ? 600 : 540) && sender !== stranger;
			}

			expect(reminded).toBe(canRemind ? 1 : 0);
		}),
		{numRuns: 50},
	);
});
