/** The reasons why an entry of the queue waits: holders, GPUs and end times. */
import {expect, test} from 'vitest';
import {eventText} from '../../../source/format/events.js';
import {after, frameOf, stateOf} from '../_harness.js';
import {createBox, lease, run, sceneTime, waiter} from '../_world.js';

const blocked = async () =>
	createBox(4, {
		leases: {
			0: lease('bob', {expiryTime: sceneTime + 725}),
			1: run('carol', {endsBy: sceneTime + 3600, leaseId: 'pair'}),
			2: run('carol', {endsBy: sceneTime + 3600, leaseId: 'pair'}),
			3: run('dave', {leaseId: 'open'}),
		},
		waiting: [waiter('erin', {requestedIds: [0]}), waiter('frank', {requestedIds: [1, 2, 3], requestedCount: 3})],
	});

test('the queue panel shows who blocks an entry, next to the entry if there is room, otherwise below', async () => {
	const box = await blocked();
	const narrow = frameOf(await stateOf(box, {columns: 80, rows: 24}));
	expect(narrow).toMatch(/1 +erin +GPU 0 +0\/1 +3m +~12m +bob on GPU 0 until 14:44/v);
	const framed = frameOf(await stateOf(box, {columns: 120, rows: 32}));
	expect(framed).toContain('#1 waits for bob on GPU 0 until 14:44');
	const wide = frameOf(await stateOf(box, {columns: 240, rows: 50}));
	expect(wide).toContain('BLOCKED BY');
	expect(wide).toContain('carol on GPUs 1,2 until 15:32, dave on GPU 3 until its job ends');
});

test('the queue panel divides its width between names and requests according to their lengths', async () => {
	const panelOf = async (user: string, need?: Parameters<typeof waiter>[1]) => {
		const box = await createBox(1, {waiting: [waiter('lab', {user, ...need})]});
		return frameOf(await stateOf(box, {columns: 120, rows: 32}));
	};

	expect(await panelOf('amy')).toMatch(/ 1 {2}lab \(amy\) +1 GPU +0\/1/v);
	expect(await panelOf('lab', {need: {models: ['h100-8']}})).toMatch(/ 1 {2}lab +1 GPU h100-8 +0\/1/v);
});

test('the detail panel lists who waits for the selected GPU and counts the entries that do not fit', async () => {
	expect(frameOf(await stateOf(await blocked(), {columns: 120, rows: 32}))).toContain('in the queue for it: #1 erin');
	const names = ['erin', 'frank', 'grace', 'heidi', 'ivan', 'judy', 'mallory'];
	const box = await createBox(1, {
		leases: {0: lease('bob', {expiryTime: sceneTime + 725})},
		waiting: names.map((name) => waiter(name, {requestedIds: [0]})),
	});
	expect(frameOf(await stateOf(box, {columns: 120, rows: 32}))).toContain(
		'│ in the queue for it: #1 erin, #2 frank, #3 grace and 4 more',
	);
	expect(frameOf(await stateOf(box, {columns: 200, rows: 50}))).toContain('#6 judy, #7 mallory');
	for (let columns = 100; columns < 120; columns++) {
		expect(frameOf(await stateOf(box, {columns, rows: 32}))).toMatch(/in the queue for it: #1 .* and [1-6] more /v);
	}
});

test('the queue panel explains why a GPU without a holder is unavailable', async () => {
	const unavailable = [{gpu: 0, kind: 'used', detail: 'zoe', since: sceneTime - 60}] as const;
	const box = await createBox(1, {waiting: [waiter('erin', {requestedIds: [0], unavailable})]});
	expect(frameOf(await stateOf(box, {columns: 80, rows: 24}))).toMatch(
		/1 +erin +GPU 0 +0\/1 +3m +in use +GPU 0: used by zoe without a res/v,
	);
});

test('the table and the detail panel show the end of a job with a time limit', async () => {
	const box = await createBox(1, {leases: {0: run('alice', {endsBy: sceneTime + 725})}});
	const text = frameOf(await stateOf(box, {columns: 120, rows: 32}));
	expect(text).toMatch(/> 0 +Mine +alice +RUN +5m !12m/v);
	expect(text).toContain('ends in 12m at 14:44, or when 81234 exits');
	const open = await createBox(1, {leases: {0: run('alice', {endsBy: sceneTime + 2 * 86_400 + 725})}});
	expect(frameOf(await stateOf(open, {columns: 120, rows: 32}))).toContain('at 14:44+2d, or when');
});

test('the queue panel never cuts off the number of held GPUs', async () => {
	const held = Object.fromEntries(
		Array.from({length: 19}, (_, index) => [index, run('erin', {partialQueueId: 'entry-erin'})]),
	);
	const box = await createBox(64, {leases: held, waiting: [waiter('erin', {requestedCount: 60})]});
	for (const columns of [60, 80, 100, 120, 200, 300]) {
		const state = await stateOf(box, {columns, rows: 50});
		expect(frameOf({...state, panels: {...state.panels, focus: 'queue', isZoomed: true}})).toContain(' 19/60 ');
		expect(columns < 80 || frameOf(state).includes(' 19/60 ')).toBe(true);
	}
});

test.each([60, 80, 100, 120, 200])(
	'the queue panel never cuts off the position in a long queue at %i columns',
	async (columns) => {
		const names = Array.from({length: 104}, (_, index) => `person-${index}`);
		const box = await createBox(1, {leases: {0: run('bob')}, waiting: names.map((name) => waiter(name))});
		box.store.state.entries.set('entry-person-103', '{');
		const frame = frameOf(after(await stateOf(box, {columns, rows: 30}), 'focus-queue', 'last-line'));
		expect(frame).toMatch(/ 103 +perso/v);
		expect(frame).toMatch(/> 104 /v);
	},
);

test('the queue panel shows a column for notes only if there are notes and enough room', async () => {
	const shownAt = async (columns: number, note?: string) => {
		const waiting = [waiter('erin', {requestedIds: [0], note}), waiter('frank')];
		const box = await createBox(1, {leases: {0: lease('bob', {expiryTime: sceneTime + 725})}, waiting});
		return frameOf(after(await stateOf(box, {columns, rows: 30}), 'focus-queue', 'zoom'));
	};

	const wide = await shownAt(120, 'eval\u{1B} 70B');
	expect(wide).toMatch(/ESTIMATE +NOTE +BLOCKED BY/v);
	expect(wide).toMatch(/~12m +eval 70B +bob on GPU 0 until 14:44/v);
	expect(await shownAt(120, 'a long note '.repeat(20))).toMatch(/a long note a long note a lon… +bob on GPU 0 until/v);
	expect(await shownAt(80, 'eval 70B')).not.toContain('NOTE');
	expect(await shownAt(120)).not.toContain('NOTE');
});

test('eventText shows consecutive GPUs as a range', () => {
	const gpus = [62, 63, ...Array.from({length: 17}, (_, index) => 43 + index), 3];
	expect(eventText({time: 0, kind: 'released', account: 'alice', gpus})).toBe('alice released GPUs 3,43-59,62,63');
});

test('the queue panel distinguishes requests for MIG instances and shares from requests for GPUs', async () => {
	const box = await createBox(4, {
		waiting: [
			waiter('erin', {requestedCount: 2, need: {mig: {profile: '1g.10gb'}}}),
			waiter('frank', {
				requestedCount: 2,
				need: {
					mig: {
						instances: [
							{gpu: 0, number: 1},
							{gpu: 2, number: 0},
						],
					},
				},
			}),
			waiter('grace', {requestedCount: 1, need: {shareMiB: 8192}}),
			waiter('heidi', {requestedIds: [3], need: {shareMiB: 8192}}),
		],
	});
	const text = frameOf(await stateOf(box, {columns: 240, rows: 50}));
	expect(text).toMatch(/1 +erin +2 MIG 1g\.10gb +0\/2/v);
	expect(text).toMatch(/2 +frank +MIG 0:1,2:0 +0\/2/v);
	expect(text).toMatch(/3 +grace +1 GPU 8G share +0\/1/v);
	expect(text).toMatch(/4 +heidi +GPU 3 8G share +0\/1/v);
});

test('the GPU table stays in view while an empty queue has the focus', async () => {
	const text = frameOf(await stateOf(await createBox(4), {columns: 80, rows: 24}, {}, ['focus-queue']));
	expect(text).toMatch(/> 0 +Free/v);
	expect(text).toMatch(/3:Queue [^\n]*\n {2}the queue is empty\n/v);
});

test("the key 3 selects the user's queue entry unless another entry was selected", async () => {
	const box = await createBox(1, {
		leases: {0: lease('bob')},
		waiting: [waiter('erin', {requestedIds: [0]}), waiter('alice', {requestedIds: [0]}), waiter('frank')],
	});
	const size = {columns: 120, rows: 32};
	expect(frameOf(await stateOf(box, size, {}, ['focus-queue']))).toMatch(/> +2 +alice/v);
	const moved = ['focus-queue', 'line-down', 'focus-gpus', 'focus-queue'] as const;
	expect(frameOf(await stateOf(box, size, {}, moved))).toMatch(/> +3 +frank/v);
});

test('the queue panel says that an entry waits because its account is at its limit', async () => {
	const box = await createBox(2, {
		leases: {0: lease('erin', {expiryTime: sceneTime + 725})},
		waiting: [waiter('erin', {requestedIds: [1]})],
	});
	await box.write({kind: 'policy', policy: new Map([['limits.max-gpus', {value: '1', since: sceneTime}]])});
	expect(frameOf(await stateOf(box, {columns: 80, rows: 24}))).toMatch(
		/1 +erin +GPU 1 +0\/1 +3m +at limit +erin holds 1 of at most 1/v,
	);
	expect(frameOf(await stateOf(box, {columns: 120, rows: 32}))).toMatch(
		/#1 waits: erin holds 1 of at most 1 GPU .*\n.*\(limits\.max-gpus\); others go first/v,
	);
});
