/** A share that exceeds its requested memory, from the scan to the reminder of its owner. */
import {expect, test} from 'vitest';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {createAlertRecorder} from '../../../source/core/operations/record-alerts.js';
import {claimReminders} from '../../../source/core/operations/reminders.js';
import type {ReminderSender} from '../../../source/core/rules/notices/reminder.js';
import {readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import {eventText} from '../../../source/format/events.js';
import {reminderText} from '../../../source/format/reminder-text.js';
import {sharesText} from '../../../source/format/shares.js';
import {statusJson} from '../../../source/format/json/status-json.js';
import {createTestWorld, idleReading, observationOf, person} from '../../_helpers/world.js';

const ann = person('ann');
const owner: ReminderSender = {account: 'ann', uid: 1000, reachesAll: false};
const stranger: ReminderSender = {account: 'bob', uid: 1001, reachesAll: false};
const webhook: ReminderSender = {account: 'bob', uid: 1001, reachesAll: true};

/** Creates a pool in which ann has 8 GiB of a GPU and uses `usedMiB`. Two monitors get every scan at the same time. */
async function createBox() {
	const world = await createTestWorld({gpuCount: 1});
	await changePolicy(world, person('root', 'root', 0), [{key: 'share', value: 'on'}]);
	const need = {shareMiB: 8192};
	await reserve(world, {requester: ann, count: 1, need, durationSeconds: 86_400, note: 'eval'});
	await reserve(world, {requester: person('bob'), count: 1, need, durationSeconds: 86_400});
	const monitors = [createAlertRecorder(world), createAlertRecorder(world)];
	return {
		world,
		async scan(usedMiB: number) {
			world.see(() =>
				observationOf([
					{
						...idleReading(0),
						memoryTotalMiB: 81_920,
						memoryUsedMiB: usedMiB,
						processes: [{pid: 7, user: 'ann', memoryUsedMiB: usedMiB}],
					},
				]),
			);
			world.pass(5);
			const view = await readStatus(world);
			await Promise.all(monitors.map(async (record) => record(view.snapshot, view.observation)));
			return readStatus(world);
		},
		recorded: async () =>
			(await world.store.audit())
				.filter(({kind}) => kind === 'overuse' || kind === 'notice')
				.map((entry) => eventText(entry)),
	};
}

test('a share that exceeds its memory is shown with the duration, and its owner is reminded once', async () => {
	const {world, scan, recorded} = await createBox();
	await scan(16_384);
	const second = await scan(16_384);
	expect(sharesText(second.rows[0]!)).toBe('16/79.6G ann 16/8G!, bob 8G');
	expect(await claimReminders(world, owner)).toMatchObject({reminders: []});
	const third = await scan(16_384);
	expect(sharesText(third.rows[0]!)).toBe('16/79.6G ann 16/8G! for 10s, bob 8G');
	expect(statusJson(third.rows, third.observation)[0]?.shares?.map((share) => share.over_seconds)).toEqual([
		10,
		undefined,
	]);
	const words = 'ann uses 16G of GPU 0, more than its share of 8G';
	expect(await recorded()).toEqual([words]);

	// Other senders leave the reminder to the owner for a minute. Then those that can notify other accounts send it.
	expect((await claimReminders(world, stranger)).reminders).toEqual([]);
	expect(await claimReminders(world, webhook)).toMatchObject({reminders: [], nextSeconds: 60});
	const claims = await Promise.all([owner, owner, owner].map(async (sender) => claimReminders(world, sender)));
	const reminders = claims.flatMap((claim) => claim.reminders);
	expect(reminders.map((reminder) => reminderText(reminder, 'box'))).toEqual([
		'canhazgpu on box: your share of GPU 0 (eval) uses 16G of its memory, but reserved 8G. Others share the GPU: use less, or restart with --share 16G',
	]);
	const reminded = 'ann was told that the share of GPU 0 uses more memory than it reserved';
	await scan(16_384);
	await scan(8192);
	await scan(8192);
	world.pass(3600);
	expect((await claimReminders(world, webhook)).reminders).toEqual([]);
	expect(await recorded()).toEqual([words, reminded]);
	const last = await scan(8192);
	expect(sharesText(last.rows[0]!)).toBe('16/79.6G ann 8G, bob 8G');
	expect(await recorded()).toEqual([words, reminded, 'ann is back within the share of 8G of GPU 0']);
	expect((await world.store.read()).overuse).toEqual([]);
});

test('a share that exceeded its memory causes no reminder after the share has ended', async () => {
	const {world, scan, recorded} = await createBox();
	for (let scans = 0; scans < 3; scans++) {
		await scan(9000);
	}

	await release(world, ann, {by: 'gpus', ids: [0]});
	expect((await claimReminders(world, owner)).reminders).toEqual([]);
	await scan(9000);
	expect((await world.store.read()).overuse).toEqual([]);
	expect(await recorded()).toHaveLength(1);
});
