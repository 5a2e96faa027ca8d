/** A row that gets another holder between the key and the commit. Each command acts on what was shown, or on nothing. */
import {afterEach, expect, test} from 'vitest';
import type {Write} from '../../../source/core/model/plan.js';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {alice, busy, createBox, gpuReading, lease, waiter, type Box} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const view = async (box: Box): Promise<unknown> => {
	const {gpus, queue} = await box.store.read();
	return {gpus: gpus.map((record) => (record.kind === 'leased' ? record.lease : record.kind)), queue};
};

/** Writes without an event, so the monitor does not notice. */
const writeSilently = async (box: Box, ...writes: readonly Write[]): Promise<void> => {
	await box.store.commit({expect: [], writes, usage: [], audit: [], event: undefined, grants: false});
};

const taken: Write = {kind: 'lease', index: 0, lease: lease('bob', {leaseId: 'of-bob'})};
const renewed: Write = {kind: 'lease', index: 0, lease: lease('alice', {leaseId: 'a later one'})};

test.each([
	['that of another account', taken, ['x'], ['y'], 'ERR Nothing released: that reservation of GPU 0 has already ended'],
	['a later one', renewed, ['x'], ['y'], 'ERR Nothing released: that reservation of GPU 0 has already ended'],
	[
		'that of another account',
		taken,
		['e'],
		[keys.enter],
		'ERR Nothing extended: that reservation of GPU 0 has already ended',
	],
	['a later one', renewed, ['e'], [keys.enter], 'ERR Nothing extended: that reservation of GPU 0 has already ended'],
])('keys x and e do nothing if the reservation was replaced by %s (case %#)', async (_, change, open, commit, text) => {
	const box = await createBox(2, {leases: {0: lease('alice'), 1: lease('alice', {leaseId: 'other'})}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press(...open);
	await writeSilently(box, change);
	const before = await view(box);
	await session.press(...commit);
	await session.shows(text);
	expect(await view(box)).toEqual(before);
});

test('the key R reserves no other GPU if another account took the selected GPU first', async () => {
	const box = await createBox(2);
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press('R');
	await writeSilently(box, taken);
	const before = await view(box);
	await session.press(keys.enter);
	await session.shows('Not enough GPUs available. Requested: 1, Available: 0');
	expect(await view(box)).toEqual(before);
});

test('the key R reserves nothing if the index of the selected GPU now belongs to another GPU', async () => {
	const box = await createBox(2);
	session = startMonitor(box, {scanIntervalMs: 200});
	await session.shows(/> 0 +Free/v);
	await session.press('R');
	await session.shows('Reserve GPU 0');
	const [first, second] = box.readings;
	box.readings = [
		{...second!, index: 0},
		{...first!, index: 1},
	];
	await expect.poll(() => session!.store.getState().observation?.gpus[0]?.uuid).toBe(second!.uuid);
	const before = await view(box);
	await session.press(keys.enter);
	await session.shows('GPU 0 is a different GPU now');
	expect(await view(box)).toEqual(before);
});

test('the key R does not reserve a GPU for a process that has ended, even if its pid is reused', async () => {
	const started = (startTicks: number) => {
		const reading = busy(0, 'alice', 'python train.py', {gibibytes: 10, percent: 50});
		return [{...reading, processes: reading.processes!.map((process) => ({...process, startTicks}))}];
	};

	const box = await createBox(1, {readings: started(1)});
	session = startMonitor(box, {scanIntervalMs: 60_000});
	await session.shows(/> 0 +Unreserved/v);
	await session.press('R');
	await session.shows('$ canhazgpu reserve --pid 81234');
	box.readings = started(2);
	await session.press('y');
	await session.shows('ERR Process 81234 has ended, and another process has its pid now');
	expect(await view(box)).toMatchObject({gpus: ['free']});
});

test('the key K signals the process that the dialog showed, whatever the table shows now', async () => {
	const readings = (pid: number) => [
		{
			...gpuReading(0),
			memoryUsedMiB: 9000,
			processes: [{pid, startTicks: pid, user: 'alice', name: 'python3', memoryUsedMiB: 9000}],
		},
	];
	const box = await createBox(1, {readings: readings(11)});
	const sent: unknown[] = [];
	session = startMonitor(box, {
		scanIntervalMs: 200,
		ports: {
			sendSignal(process) {
				sent.push(process);
				return 'gone';
			},
		},
	});
	await session.shows(/> 0 +Unreserved/v);
	await session.press('K');
	await session.shows('Send SIGTERM to process 11? y/N');
	box.readings = readings(22);
	await expect.poll(() => session!.store.getState().observation?.gpus[0]?.processes?.[0]?.pid).toBe(22);
	await session.press('y');
	await session.shows('ERR Nothing sent: process 11 has already ended');
	expect(sent).toEqual([]);
});

test('the key x removes the queue entry that the dialog showed, not an entry that moved into its place', async () => {
	const mine = waiter('alice');
	const behind = waiter('alice', {id: 'entry-behind'});
	const box = await createBox(1, {leases: {0: lease('bob')}, waiting: [mine, behind]});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows('Queue 2');
	await session.press('3', 'x');
	await session.shows('canhazgpu queue --leave entry-alice');
	await box.write({kind: 'leave', id: 'entry-alice'});
	await session.shows('Queue 1');
	await session.press('y');
	await session.shows('ERR Did not leave: that queue entry is already gone');
	expect((await box.store.read()).queue.map(({id}) => id)).toEqual(['entry-behind']);
});

test('the key z restores the released GPU although another GPU is selected', async () => {
	const box = await createBox(2, {leases: {0: lease('alice'), 1: lease('bob')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x', 'y');
	await session.shows('z Undo');
	await session.press('j', 'I', 'z');
	await session.shows('OK reserved GPU 0 again');
	const {gpus} = await box.store.read();
	expect(gpus.map((record) => record.kind === 'leased' && record.lease.user)).toEqual([alice.account, 'bob']);
});

test('the key x releases the GPUs of its dialog although rows move while the dialog is open', async () => {
	const loads = (...percents: readonly number[]) =>
		percents.map((percent, index) => busy(index, 'carol', 'train', {gibibytes: 40, percent}));
	const leases = {
		0: lease('alice', {leaseId: 'a'}),
		1: lease('alice', {leaseId: 'b'}),
		2: lease('alice', {leaseId: 'c'}),
	};
	const box = await createBox(3, {leases, readings: loads(10, 50, 90)});
	session = startMonitor(box, {scanIntervalMs: 200, size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	while (!session.screen().includes('sort UTIL')) {
		await session.press('>');
	}

	const order = (): readonly string[] => session!.screen().match(/(?<=^│[ >] )\d(?= +Mine)/gmv) ?? [];
	const before = order();
	await session.press('/', 'gpu1', keys.enter, 'x');
	await session.shows('Release GPU 1 now?');
	box.readings = loads(90, 10, 50);
	await expect.poll(() => session!.store.getState().observation?.gpus[1]?.utilizationPercent).toBe(10);
	await session.press('y');
	await session.shows('OK released GPU 1');
	const {gpus} = await box.store.read();
	expect(gpus.map((record) => record.kind === 'leased' && record.lease.leaseId)).toEqual(['a', false, 'c']);
	await session.press(keys.escape);
	await session.hides('filter');
	expect(before).toHaveLength(3);
	expect(order()).not.toEqual(before.filter((gpu) => gpu !== '1'));
});
