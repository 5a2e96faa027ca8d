import {setImmediate as nextTurn} from 'node:timers/promises';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import {createAlertRecorder, type AlertRecorder} from '../../../../source/core/operations/record-alerts.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {readStatus, release, reserve} from '../../../../source/core/operations/reservations.js';
import type {GpuReading, HealthProblem, Observation} from '../../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {eventText} from '../../../../source/format/events.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';

const alice = person('alice');

const usedBy = (index: number, ...users: ReadonlyArray<string | undefined>): GpuReading => ({
	...idleReading(index),
	memoryUsedMiB: 5000,
	processes: users.map((user, position) => ({pid: 100 + position, user})),
});

/** Scans and reads like a viewer, and records alerts. */
async function scan(world: TestWorld, recordAlerts: AlertRecorder, ...readings: readonly GpuReading[]): Promise<void> {
	world.see(() =>
		observationOf([0, 1].map((index) => readings.find((gpu) => gpu.index === index) ?? idleReading(index))),
	);
	const {snapshot, observation} = await readStatus(world);
	await recordAlerts(snapshot, observation);
}

const recorded = async (world: TestWorld): Promise<readonly string[]> =>
	(await world.store.audit())
		.filter(({kind}) => ['unreserved', 'squatter', 'health'].includes(kind))
		.map((record) => eventText(record));

test('an alert about leftover processes names the job and the time at which the job ended', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 9000});
	await release(world, alice, {by: 'gpus', ids: [0]});
	const snapshot = await world.store.read();
	const record = snapshot.gpus[0]!;
	await world.store.commit({
		...emptyPlan,
		expect: [{kind: 'gpu', index: 0, raw: record.raw}],
		writes: [
			{
				kind: 'free',
				index: 0,
				lastReleased: snapshot.now,
				ended: {reason: 'exited', leaseId: 'l', account: 'alice', left: [{pid: 100, startTicks: 5}]},
			},
		],
	});
	world.pass(61);
	const recordAlerts = createAlertRecorder(world);
	await scan(world, recordAlerts, {
		...usedBy(0),
		processes: [
			{pid: 100, startTicks: 5, user: 'alice'},
			{pid: 101, startTicks: 6, user: 'bob'},
		],
	});
	expect(await recorded(world)).toEqual([
		expect.stringMatching(
			/^alice uses GPU 0 without a reservation: left by a job of alice that ended at (?:\S+ )?\d\d:\d\d$/v,
		),
		'bob uses GPU 0 without a reservation',
	]);
});

test('unreserved use is recorded once, by the first monitor that sees the use', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const recorders = [createAlertRecorder(world), createAlertRecorder(world), createAlertRecorder(world)];
	await reserve(world, {requester: alice, count: 1, ids: [1], durationSeconds: 9000});
	world.pass(61);
	for (let round = 0; round < 3; round++) {
		for (const recordAlerts of recorders) {
			await scan(world, recordAlerts, usedBy(0, 'bob', 'bob'), usedBy(1, 'alice', 'eve'));
		}
	}

	expect(await recorded(world)).toEqual([
		'bob uses GPU 0 without a reservation',
		'eve uses GPU 1, which alice has reserved',
	]);
	await scan(world, recorders[0]!, usedBy(0, 'bob', 'carol'), usedBy(1, 'alice'));
	expect((await recorded(world)).slice(2)).toEqual(['carol uses GPU 0 without a reservation']);
});

test('ten concurrent viewers record an alert once', async () => {
	const world = await createTestWorld({gpuCount: 2});
	world.see(() => observationOf([usedBy(0, 'bob'), idleReading(1)]));
	const {snapshot, observation} = await readStatus(world);
	const recorders = Array.from({length: 10}, () => createAlertRecorder(world));
	await Promise.all(recorders.map(async (recordAlerts) => recordAlerts(snapshot, observation)));
	expect(await recorded(world)).toEqual(['bob uses GPU 0 without a reservation']);
});

test('a reservation during a scan belongs to the job that the scan sees', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const {gpus} = world;
	const busy = {
		...world,
		gpus: {
			...gpus,
			async observe() {
				// The other reads of the status happen first.
				await nextTurn();
				await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 9000});
				world.see(() => observationOf([usedBy(0, 'alice'), idleReading(1)]));
				return gpus.observe();
			},
		},
	};
	const {rows, snapshot, observation} = await readStatus(busy);
	expect(rows[0]).toMatchObject({state: 'in-use', owner: 'alice'});
	await createAlertRecorder(world)(snapshot, observation);
	expect(await recorded(world)).toEqual([]);
});

test('no alert is recorded about a GPU that was reserved after the read', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const snapshot = await world.store.read();
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 9000});
	const recordAlerts = createAlertRecorder(world);
	await recordAlerts(snapshot, observationOf([usedBy(0, 'alice'), idleReading(1)]));
	expect(await recorded(world)).toEqual([]);
	await recordAlerts(snapshot, observationOf([idleReading(0), usedBy(1, 'bob')]));
	expect(await recorded(world)).toEqual(['bob uses GPU 1 without a reservation']);
});

test('a recurring alert is recorded again only after ten minutes', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const recordAlerts = createAlertRecorder(world);
	for (let minute = 0; minute < 25; minute++) {
		await scan(world, recordAlerts, ...(minute % 2 === 0 ? [usedBy(0, 'bob')] : []));
		world.pass(60);
	}

	expect(await recorded(world)).toHaveLength(3);
});

test('an unknown reading neither ends an alert nor raises one', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const recordAlerts = createAlertRecorder(world);
	const sick: GpuReading = {...usedBy(0, 'bob'), health: [{kind: 'ecc', words: '3 memory errors'}]};
	await scan(world, recordAlerts, sick);
	world.pass(3600);
	const unknown: readonly GpuReading[] = [
		{...idleReading(0), failure: 'GPU is lost'},
		{...usedBy(0, undefined), health: sick.health},
		{...usedBy(0), processes: undefined, health: sick.health},
		{...idleReading(0), memoryUsedMiB: undefined, processes: [], health: sick.health},
	];
	for (const reading of unknown) {
		await scan(world, recordAlerts, reading);
	}

	world.see(() => observationOf([], {failure: {message: 'no driver'}}));
	const {snapshot, observation} = await readStatus(world);
	await recordAlerts(snapshot, observation);
	await scan(world, recordAlerts, sick);
	expect(await recorded(world)).toEqual([
		'bob uses GPU 0 without a reservation',
		'GPU 0 is unhealthy (3 memory errors) and will not be handed out',
	]);
	await scan(world, recordAlerts);
	expect((await recorded(world)).slice(2)).toEqual(['GPU 0 is healthy again']);
	expect((await readStatus(world)).snapshot.alerts).toEqual([]);
});

test('an alert from the kernel log ends only after a scan that read the log', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const recordAlerts = createAlertRecorder({...world, host: {...world.host, account: {name: 'root', uid: 0}}});
	const logged: readonly HealthProblem[] = [
		{kind: 'xid', words: 'Xid 119'},
		{kind: 'ecc', words: 'Xid 48'},
	];
	const scanWith = async (health: readonly HealthProblem[], changes: Partial<Observation> = {}) => {
		world.see(() => observationOf([{...idleReading(0), health}, idleReading(1)], changes));
		const {snapshot, observation} = await readStatus(world);
		await recordAlerts(snapshot, observation);
		return (await world.store.read()).alerts.map(({problem}) => problem);
	};

	await scanWith([...logged, {kind: 'temperature', words: 'hot'}]);
	world.pass(900);
	expect(await scanWith([], {lacksKernelLog: true})).toEqual(['xid', 'ecc']);
	expect(await scanWith([], {isPosted: true})).toEqual(['xid', 'ecc']);
	expect(await recorded(world)).not.toContain('GPU 0 is healthy again');
	expect(await scanWith([])).toEqual([]);
	expect(await recorded(world)).toContain('GPU 0 is healthy again');

	await scanWith(logged);
	world.pass(86_400);
	// The log shows no problem for longer than a day, so only the Xid can still be there.
	expect(await scanWith([], {lacksKernelLog: true})).toEqual(['xid']);
});

test('leftover processes of the previous holder raise no alert for the first minute', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const recordAlerts = createAlertRecorder(world);
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 9000});
	world.pass(600);
	await release(world, alice, {by: 'gpus', ids: [0]});
	await scan(world, recordAlerts, usedBy(0, 'alice'));
	await reserve(world, {requester: person('bob'), count: 1, ids: [0], durationSeconds: 9000, force: true});
	await scan(world, recordAlerts, usedBy(0, 'alice'));
	expect(await recorded(world)).toEqual([]);
	world.pass(60);
	await scan(world, recordAlerts, usedBy(0, 'alice'));
	expect(await recorded(world)).toEqual(['alice uses GPU 0, which bob has reserved']);
});

test('leftover processes of an ended share raise no alert for the first minute, and the alert then names a holder', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await changePolicy(world, person('root', 'root', 0), [{key: 'share', value: 'on'}]);
	const recordAlerts = createAlertRecorder(world);
	const share = async (name: string) =>
		reserve(world, {requester: person(name), count: 1, ids: [0], need: {shareMiB: 2000}, durationSeconds: 9000});
	await scan(world, recordAlerts);
	await share('alice');
	await share('bob');
	world.pass(600);
	await release(world, person('bob'), {by: 'gpus', ids: [0]});
	const {snapshot} = await readStatus(world);
	expect(snapshot.gpus[0]).toMatchObject({kind: 'shared', shareEnded: snapshot.now});
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	world.pass(50);
	await share('carol');
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	expect(await recorded(world)).toEqual([]);
	world.pass(10);
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	expect(await recorded(world)).toEqual(['bob uses GPU 0, which alice has reserved']);
});

test('leftover processes on a GPU that has just become shared raise no alert for the first minute', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await changePolicy(world, person('root', 'root', 0), [{key: 'share', value: 'on'}]);
	const recordAlerts = createAlertRecorder(world);
	await scan(world, recordAlerts);
	await reserve(world, {requester: alice, count: 1, ids: [0], need: {shareMiB: 2000}, durationSeconds: 9000});
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	expect(await recorded(world)).toEqual([]);
	world.pass(60);
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	expect(await recorded(world)).toEqual(['bob uses GPU 0, which alice has reserved']);
});

test('a monitor continues if the store is down or refuses to record an alert', async () => {
	const errors = [new CanhazgpuError('store-unreachable', 'gone'), new CanhazgpuError('store-refused', 'full')];
	const world = await createTestWorld({
		gpuCount: 2,
		wrap: (store) => ({
			...store,
			async commit(plan) {
				throw errors.shift() ?? (plan.writes.length > 0 ? new TypeError('bug') : new Error('?'));
			},
		}),
	});
	const recordAlerts = createAlertRecorder(world);
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	await scan(world, recordAlerts, usedBy(0, 'bob'));
	await expect(scan(world, recordAlerts, usedBy(0, 'bob'))).rejects.toThrow('bug');
});

const anyUsers = fc.array(fc.constantFrom('bob', 'eve', undefined), {maxLength: 3});
const anyHealth = fc.array(
	fc.record({kind: fc.constantFrom<HealthProblem['kind']>('ecc', 'xid', 'temperature'), words: fc.constant('bad')}),
	{maxLength: 2},
);

test('every active alert is recorded exactly once, for any sequence of scans', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.record({users: anyUsers, health: anyHealth, seconds: fc.nat(400)}), {maxLength: 25, size: 'max'}),
			async (scans) => {
				const world = await createTestWorld({gpuCount: 2});
				const recordAlerts = createAlertRecorder(world);
				for (const {users, health, seconds} of scans) {
					world.pass(seconds);
					await scan(world, recordAlerts, {...(users.length === 0 ? idleReading(0) : usedBy(0, ...users)), health});
				}

				const records = await world.store.audit();
				const {alerts} = (await readStatus(world)).snapshot;
				const keys = alerts.map(({kind, account, problem}) => `${kind} ${account} ${problem}`);
				expect(new Set(keys).size).toBe(keys.length);
				for (const {kind, account, since} of alerts) {
					expect(
						records.some((record) => record.kind === kind && record.account === account && record.time === since),
					).toBe(true);
				}

				// Unreserved use by one account is recorded at most once in ten minutes.
				for (const user of ['bob', 'eve', undefined]) {
					const times = records.filter(({kind, account}) => kind === 'unreserved' && account === user);
					for (const [index, {time}] of times.entries()) {
						expect(time - (times[index - 1]?.time ?? -Infinity)).toBeGreaterThanOrEqual(600);
					}
				}
			},
		),
		{numRuns: 150},
	);
});
