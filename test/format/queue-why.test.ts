import {expect, test} from 'vitest';
import {queueRows} from '../../source/core/rules/queue/queue-rows.js';
import {readCurrent} from '../../source/core/operations/transact.js';
import {createPaint} from '../../source/format/text/paint.js';
import {clockTime} from '../../source/format/text/days.js';
import {estimateText, queueWhy} from '../../source/format/queue/why.js';
import {createBox, lease, run, sceneTime, waiter, type Box} from '../tui/_world.js';

async function whyIn(box: Box): Promise<readonly string[]> {
	const snapshot = await readCurrent(box.world);
	return queueWhy(queueRows(snapshot), createPaint(false, {}), snapshot.now).split('\n');
}

const at = (time: number): string => clockTime(time, sceneTime);

test('queue --why lists all requests and reservations that block an entry, and when they end', async () => {
	const box = await createBox(4, {
		leases: {
			0: lease('bob', {expiryTime: sceneTime + 600, note: 'eval \u{1B}[31m70B'}),
			1: run('carol', {leaseId: 'c'}),
			2: lease('team', {actualUser: 'dave', expiryTime: sceneTime + 1200}),
			3: run('eve', {leaseId: 'e', job: {pid: 7}, expiryTime: sceneTime + 1800}),
		},
		waiting: [
			waiter('erin', {requestedIds: [0], timeLimitSeconds: 60}),
			waiter('lab', {actualUser: 'frank', requestedCount: 4}),
			waiter('gus', {requestedIds: [0]}),
		],
	});
	expect(await whyIn(box)).toEqual([
		'#1 erin waits for GPU 0, 0h 3m 0s so far; expected: in about 0h 10m 0s',
		`   bob has GPU 0 until ${at(sceneTime + 600)}, note "eval 70B"`,
		'#2 frank (lab) waits for 4 GPUs, 0h 3m 0s so far; expected: when a job ends',
		`   bob has GPU 0 until ${at(sceneTime + 600)}, note "eval 70B"`,
		`   #1 erin is ahead in the queue for GPU 0 until ${at(sceneTime + 660)}`,
		`   dave (team) has GPU 2 until ${at(sceneTime + 1200)}`,
		expect.stringMatching(/^ {3}(?:carol has GPU 1 until its job ends|eve has GPU 3 until .*)$/v),
		expect.stringMatching(/^ {3}(?:carol has GPU 1 until its job ends|eve has GPU 3 until .*)$/v),
		expect.stringContaining('#3 gus waits for GPU 0'),
		`   bob has GPU 0 until ${at(sceneTime + 600)}, note "eval 70B"`,
		expect.stringContaining('   #2 frank (lab) is ahead in the queue for GPU 0'),
	]);
});

test('queue --why uses the singular for one GPU and the plural for several', async () => {
	const box = await createBox(3, {
		leases: {
			0: lease('bob', {expiryTime: sceneTime + 600}),
			1: lease('bob', {expiryTime: sceneTime + 600}),
			2: run('erin', {partialQueueId: 'entry-erin'}),
		},
		waiting: [waiter('erin', {requestedIds: [0, 1, 2], requestedCount: 3}), waiter('gus', {requestedIds: [0, 1]})],
	});
	expect(await whyIn(box)).toEqual([
		'#1 erin waits for GPUs 0 1 2 and has GPU 2 already, 0h 3m 0s so far; expected: in about 0h 10m 0s',
		`   bob has GPUs 0,1 until ${at(sceneTime + 600)}`,
		expect.stringContaining('#2 gus waits for GPUs 0 1, 0h 3m 0s so far'),
		`   bob has GPUs 0,1 until ${at(sceneTime + 600)}`,
		expect.stringContaining('   #1 erin is ahead in the queue for GPUs 0,1'),
	]);
});

test('queue --why explains waiting for a drained GPU, for too many GPUs and for a free GPU', async () => {
	const unavailable = [{gpu: 1, kind: 'broken', detail: 'GPU has fallen off the bus', since: sceneTime - 60}] as const;
	const box = await createBox(2, {
		waiting: [
			waiter('erin', {requestedCount: 2, unavailable}),
			waiter('frank', {requestedCount: 9}),
			waiter('gus', {requestedIds: [0]}),
		],
	});
	expect(await whyIn(box)).toEqual([
		expect.stringContaining('#1 erin waits for 2 GPUs, 0h 3m 0s so far; expected: when GPU 1 is back in service'),
		expect.stringContaining('   waits for GPU 1, which is out of service: GPU has fallen off the bus'),
		'#2 frank waits for 9 GPUs, 0h 3m 0s so far; expected: never: impossible in this pool',
		expect.stringContaining('#3 gus waits for GPU 0, 0h 3m 0s so far'),
		'   no reservation blocks it: GPUs are in use without a reservation, or it is about to get them',
	]);
});

test('queue --why shows the estimate "when a job ends" only if the end of a job can start the entry', async () => {
	const snapshot = await readCurrent((await createBox(1)).world);
	const expected = (reason: string): string => {
		const entry = {...waiter('bob'), verdict: {reason, startsAt: undefined}};
		return estimateText(queueRows({...snapshot, queue: [{kind: 'entry', id: '9', raw: '', entry}]})[0]!);
	};

	expect(['Resources', 'Priority', 'Dependency', 'AssocGrpGRES'].map((reason) => expected(reason))).toEqual(
		Array.from({length: 4}, () => 'when a job ends'),
	);
	expect(['JobHeldUser', 'JobHeldAdmin', 'PartitionDown', 'BadConstraints'].map((reason) => expected(reason))).toEqual(
		Array.from({length: 4}, () => 'unknown'),
	);
});
