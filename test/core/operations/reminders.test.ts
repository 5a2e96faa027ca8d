import fc from 'fast-check';
import {expect, test} from 'vitest';
import {claimReminders, planReminders, type ReminderSender} from '../../../source/core/operations/reminders.js';
import {extend, reserve} from '../../../source/core/operations/reservations.js';
import {emptyPlan} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';
import {createTestWorld, person} from '../../_helpers/world.js';

const hour = 3600;
const alice = person('alice');
const own: ReminderSender = {account: 'alice', uid: 1000, reachesAll: false};
const root: ReminderSender = {account: 'root', uid: 0, reachesAll: false};
const stranger: ReminderSender = {account: 'bob', uid: 1001, reachesAll: false};
const strangerWithWebhook: ReminderSender = {...stranger, reachesAll: true};

/** A reservation of two GPUs for two hours by alice, with this much time left. */
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

test('only one of many concurrent senders sends a reminder', async () => {
	const world = await withLeft(300);
	const all = await Promise.all(Array.from({length: 20}, async () => claimReminders(world, own)));
	expect(all.flatMap(({reminders}) => reminders)).toHaveLength(1);
});

test('extending a reservation causes another reminder before the new end', async () => {
	const world = await withLeft(300);
	await claimReminders(world, own);
	await extend(world, alice, {by: 'label', label: 'alice'}, {by: hour});
	expect((await claimReminders(world, own)).reminders).toEqual([]);
	world.pass(hour - 100);
	expect((await claimReminders(world, own)).reminders).toHaveLength(1);
});

test.each<[string, ReminderSender, number, number]>([
	['the holder sends a reminder', own, 599, 1],
	['root sends a reminder', root, 599, 1],
	['another account that cannot notify others sends no reminder', stranger, 1, 0],
	['another account with a webhook sends no reminder while the holder can', strangerWithWebhook, 541, 0],
	['another account with a webhook sends a reminder that nobody else has sent', strangerWithWebhook, 540, 1],
])('%s', async (_, sender, left, count) => {
	const world = await withLeft(left);
	expect((await claimReminders(world, sender)).reminders).toHaveLength(count);
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

test('a reminder is not sent again after its answer was lost', async () => {
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

test('random senders send at most one reminder for each end', async () => {
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
				canRemind ||= left > 0 && left <= (sender === strangerWithWebhook ? 540 : 600) && sender !== stranger;
			}

			expect(reminded).toBe(canRemind ? 1 : 0);
		}),
		{numRuns: 50},
	);
});
