/** The keys `x`, `e` and `z` for all tagged GPUs: the dialog, the commit, and the message. */
import {afterEach, expect, test} from 'vitest';
import type {Action} from '../../../source/tui/state/actions.js';
import {extend} from '../../../source/tui/commands/reservations/extend.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {frameOf, keys, pressing, startMonitor, stateOf, type Session} from '../_harness.js';
import {createBox, lease, run, sceneTime, waiter, type Box} from '../_world.js';

let session: Session | undefined;

afterEach(() => {
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
	session = undefined;
});

/** Two reservations and a job of alice's, one of bob's, a GPU that is held for a waiting request, and two free GPUs. */
const createTaggedBox = async (): Promise<Box> =>
	createBox(8, {
		leases: {
			0: lease('alice', {leaseId: 'pair'}),
			1: lease('alice', {leaseId: 'pair'}),
			2: run('alice', {leaseId: 'job', startTime: sceneTime - 4330}),
			3: lease('bob'),
			4: lease('alice', {leaseId: 'single', note: 'eval', user: 'team', expiryTime: sceneTime + 725}),
			5: run('alice', {leaseId: 'part', partialQueueId: 'entry-alice'}),
		},
		waiting: [waiter('alice', {requestedCount: 2, requestedIds: [3, 5]})],
	});

const tagAll = (count: number): readonly Action[] => Array.from({length: count}, () => ({kind: 'toggle-tag'}));

const owners = async ({store}: Box): Promise<readonly string[]> => {
	const {gpus} = await store.read();
	return gpus.map((record) => (record.kind === 'leased' ? (record.lease.leaseId ?? '?') : '-'));
};

test.each([
	['80x24', 'release'],
	['120x32', 'release'],
	['60x15', 'release'],
	['80x24', 'extend'],
	['60x15', 'extend'],
] as const)(
	'the dialog for tagged GPUs at %s lists the included and the excluded GPUs (key: %s)',
	async (name, command) => {
		const [columns = 0, rows = 0] = name.split('x').map(Number);
		const box = await createBox(8, {
			leases: {
				0: lease('alice', {leaseId: 'pair'}),
				1: lease('alice', {leaseId: 'pair'}),
				2: run('alice', {leaseId: 'job', startTime: sceneTime - 4330}),
				3: lease('bob'),
				4: lease('alice', {leaseId: 'single', user: 'team', expiryTime: sceneTime + 725}),
			},
		});
		const state = await stateOf(box, {columns, rows}, {}, [...tagAll(7), pressing({release, extend}[command])]);
		await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot(`../frames/${name}/dialogs/${command}-tagged.txt`);
	},
);

test('the release dialog for 64 tagged GPUs still shows its question on the smallest screen', async () => {
	const leases = Object.fromEntries(
		Array.from({length: 64}, (_, index) => [index, lease('alice', {startTime: sceneTime - 60 * (index % 16)})]),
	);
	const state = await stateOf(await createBox(64, {leases}), {columns: 60, rows: 15}, {}, [
		...tagAll(64),
		pressing(release),
	]);
	expect(frameOf(state)).toContain('Release 64 GPUs now? y/N');
	expect(frameOf(state)).toMatch(/and 60 GPUs more[\s\S]*\$ canhazgpu release --gpu-ids/v);
});

test("the key x releases all of the user's tagged GPUs in one commit, and the key z restores them together", async () => {
	const box = await createTaggedBox();
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press(' ', ' ', 'j', ' ', ' ', ' ', 'x');
	await session.shows('Release GPUs 0,1,4 now? y/N');
	await session.shows('Left out: 3 held by bob; 5 held for a waiting request');
	await session.shows('$ canhazgpu release --gpu-ids 0,1,4');
	const commits: unknown[] = [];
	const {commit} = box.store;
	Object.assign(box.store, {
		async commit(plan: {writes: unknown}) {
			commits.push(plan.writes);
			return commit(plan as never);
		},
	});
	await session.press('y');
	await session.shows(/OK released GPUs 0,1,4 .*\$ canhazgpu release --gpu-ids 0,1,4 .*z Undo/v);
	expect(await owners(box)).toEqual(['-', '-', 'job', 'lease-bob', '-', 'part', '-', '-']);
	expect(commits).toHaveLength(1);
	await session.press('z');
	await session.shows('OK reserved GPUs 0,1,4 again, until the same time as before');
	expect(commits).toHaveLength(2);
	const {gpus} = await box.store.read();
	expect(gpus[4]).toMatchObject({lease: {user: 'team', note: 'eval', expiryTime: sceneTime + 725}});
	const [first, second] = await owners(box);
	expect(first).toBe(second);
	expect(first).not.toBe('pair');
});

test('the key x skips and names a tagged reservation that has changed since its dialog opened', async () => {
	const box = await createTaggedBox();
	session = startMonitor(box, {size: {columns: 100, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press(' ', ' ', ' ', 'x');
	await session.shows('The job on GPU 2 keeps running; others may get its GPU. No undo.');
	await box.write({kind: 'lease', index: 0, lease: lease('alice', {leaseId: 'a later one'})});
	await session.press('y');
	// The whole message is shown instead of the command if there is no room for both.
	await session.shows('WARN released GPUs 1,2, but that reservation of GPU 0 has already ended  ');
	await session.hides('$ canhazgpu release');
	expect((await owners(box)).slice(0, 4)).toEqual(['a later one', '-', '-', 'lease-bob']);
	// The GPU of the job cannot be restored.
	await session.press('z');
	await session.shows('OK reserved GPU 1 again');
	expect((await owners(box))[2]).toBe('-');
});

test('the key z restores the released GPUs that are still free, and names those that are not', async () => {
	const box = await createTaggedBox();
	session = startMonitor(box, {size: {columns: 160, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press(' ', ' ', 'j', 'j', ' ', 'x', 'y');
	await session.shows('OK released GPUs 0,1,4');
	const faster = lease('bob', {leaseId: 'faster', expiryTime: undefined});
	await box.write({kind: 'lease', index: 4, lease: faster});
	await session.press('z');
	await session.shows('WARN reserved GPUs 0,1 again, until the same time as before, but GPU 4 is held by bob');
	expect((await owners(box))[4]).toBe('faster');
	// The table shows the restored leases, and the tags are still set.
	await session.shows('Mine 4');
	await session.press('x', 'y');
	await session.shows('OK released GPUs 0,1');
	await box.write({kind: 'lease', index: 0, lease: faster}, {kind: 'lease', index: 1, lease: faster});
	await session.press('z');
	await session.shows('ERR Not undone: GPU 0,1 is held by bob');
});

test('the key e extends all tagged reservations that have an end', async () => {
	const box = await createTaggedBox();
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press(' ', 'j', ' ', 'j', ' ', 'e');
	await session.shows('Left out: 2 held by a running job');
	await session.press('2h');
	await session.shows('$ canhazgpu extend --gpu-ids 0,4 --duration 2h');
	await session.press(keys.enter);
	await session.shows(/OK extended GPUs 0,4 by 2h 0m 0s .*\$ canhazgpu extend --gpu-ids 0,4 --duration 2h/v);
	const {gpus} = await box.store.read();
	const ends = gpus.map((record) => record.kind === 'leased' && record.lease.expiryTime);
	// The other GPU of the same reservation keeps its end.
	expect(ends.slice(0, 5)).toEqual([
		sceneTime + 6 * 3600,
		sceneTime + 4 * 3600,
		undefined,
		sceneTime + 4 * 3600,
		sceneTime + 725 + 7200,
	]);
});

test('the keys x and e open no dialog if none of the tagged GPUs is reserved by the user', async () => {
	session = startMonitor(await createTaggedBox(), {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press('j', 'j', 'j', ' ', 'j', 'j', ' ', ' ', 'x');
	await session.shows('WARN None of the tagged GPUs can be released: 3 held by bob; 6,7 not reserved');
	await session.press('e');
	await session.shows('WARN None of the tagged GPUs can be extended: 3 held by bob; 6,7 not reserved');
	expect(session.store.getState().dialog).toBeUndefined();
});
