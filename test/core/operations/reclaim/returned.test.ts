/** The notice about a reservation that went back to the pool. */
import {expect, test} from 'vitest';
import {claimReminders} from '../../../../source/core/operations/reminders.js';
import type {ReminderSender} from '../../../../source/core/rules/notices/reminder.js';
import {noteReturns} from '../../../../source/core/rules/reclaim/returns.js';
import {messageOf} from '../../../../source/format/notices/notice.js';
import {reminderText} from '../../../../source/format/reminder-text.js';
import {hour, minute, createIdleBox} from './_idle.js';

const always = {'idle.after': '30m', 'idle.when': 'always'} as const;
const own: ReminderSender = {account: 'alice', uid: 1000, reachesAll: false};
const root: ReminderSender = {account: 'root', uid: 0, reachesAll: true};
const stranger: ReminderSender = {account: 'bob', uid: 1001, reachesAll: false};

/** A pool whose idle reservation of alice has just gone back, after a warning that she got. */
async function afterReturn(): Promise<Awaited<ReturnType<typeof createIdleBox>>> {
	const box = await createIdleBox(always);
	await box.lookFor(31);
	await claimReminders(box.world, own);
	await box.lookFor(20);
	expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	return box;
}

test('only one of many programs notifies the owner of GPUs that were returned to the pool', async () => {
	const {world} = await afterReturn();
	const claims = await Promise.all(Array.from({length: 10}, async () => claimReminders(world, own)));
	const reminders = claims.flatMap((claim) => claim.reminders);
	expect(reminders.map((reminder) => reminderText(reminder, 'box').replaceAll(/\d\d:\d\d/gv, 'HH:MM'))).toEqual([
		'canhazgpu on box: your reservation of GPUs 0,1 went back to the pool at HH:MM, because it was idle. No process was ended. To reserve again: canhazgpu reserve --gpus 2',
	]);
	expect((await claimReminders(world, own)).reminders).toEqual([]);
	expect((await world.memory.read()).stored.alerts).toBeUndefined();
	expect((await world.store.audit()).map(({reason}) => reason)).toContain(
		'alice was told that GPUs 0,1 went back to the pool',
	);
});

test("root sends the notice if the owner's programs have not within a minute, and other accounts send none", async () => {
	const {world} = await afterReturn();
	expect((await claimReminders(world, stranger)).reminders).toEqual([]);
	expect((await claimReminders(world, root)).reminders).toEqual([]);
	world.pass(minute);
	expect((await claimReminders(world, stranger)).reminders).toEqual([]);
	expect((await claimReminders(world, root)).reminders).toMatchObject([{kind: 'reclaimed', account: 'alice'}]);
	expect((await claimReminders(world, own)).reminders).toEqual([]);
});

test('the notice about returned GPUs waits for the end of the quiet time', async () => {
	const {world} = await afterReturn();
	const date = new Date(world.now() * 1000);
	const from = date.getHours() * 60 + date.getMinutes();
	const quiet: ReminderSender = {...own, own: {events: ['idle'], quiet: {from, until: (from + 3) % 1440}}};
	expect((await claimReminders(world, quiet)).reminders).toEqual([]);
	world.pass(3 * minute);
	expect((await claimReminders(world, quiet)).reminders).toHaveLength(1);
});

test('an owner who does not want the event `idle` gets no notice', async () => {
	const {world} = await afterReturn();
	expect((await claimReminders(world, {...own, own: {events: ['granted']}})).reminders).toEqual([]);
});

test('a notice has the reason and the time as JSON, and a text without the control characters of the note', async () => {
	const reminder = {
		kind: 'reclaimed',
		account: 'alice',
		gpus: [3],
		leaseId: 'a',
		reclaimed: {reason: 'beyond-limit', endedAt: 1_800_000_000, now: 1_800_000_060},
		note: 'eval\u{1B}[2J',
	} as const;
	const {text, json} = messageOf(reminder, 'box');
	expect(text).toMatch(/eval.*because it was beyond your limit and somebody else waited\. No process was ended/v);
	expect(text).not.toContain('\u{1B}');
	expect(JSON.parse(json)).toMatchObject({
		kind: 'reclaimed',
		gpu_ids: [3],
		reason: 'beyond-limit',
		ended_at: '2027-01-15T08:00:00Z',
	});
});

test('noteReturns writes nothing if the record of alerts cannot be read', async () => {
	const {world} = await afterReturn();
	const snapshot = await world.memory.read();
	const lease = {user: 'alice', type: 'manual', startTime: 0, leaseId: 'a'} as const;
	const ended = [{index: 0, raw: '', lease}];
	expect(noteReturns({...snapshot, alertsProblem: 'it is not a string'}, ended, 'reclaimed')).toEqual({
		expect: [],
		writes: [],
	});
});

test('noteReturns drops a notice that nobody has sent within a day', async () => {
	const {world} = await afterReturn();
	world.pass(25 * hour);
	const snapshot = await world.memory.read();
	const lease = {user: 'bob', type: 'manual', startTime: 0, leaseId: 'b'} as const;
	const {writes} = noteReturns(snapshot, [{index: 2, raw: '', lease}], 'reclaimed');
	expect(writes).toMatchObject([{returned: [{account: 'bob'}]}]);
});
