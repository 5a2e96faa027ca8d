import {expect, onTestFinished, test} from 'vitest';
import {
	startLiveView,
	type LiveChange,
	type LiveView,
	type LiveViewOptions,
} from '../../../source/core/live/live-view.js';
import type {StoreListener} from '../../../source/core/model/ports.js';
import type {AuditEntry} from '../../../source/core/model/types.js';
import {reserve} from '../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {eventually} from '../../_helpers/eventually.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';
import {createLiveWorld, liveViewOptions, type LiveWorld} from '../../_helpers/live-world.js';
import {idleReading, observationOf, person} from '../../_helpers/world.js';

const fail = (error: unknown): void => {
	throw error;
};

function follow(world: LiveWorld, more: Partial<LiveViewOptions> = {}) {
	const changes: LiveChange[] = [];
	const view: LiveView = startLiveView(world, {...liveViewOptions(fail), ...more});
	onTestFinished(view.stop);
	view.subscribe((_, change) => {
		changes.push(change);
	});
	return {view, changes};
}

const reserveOne = async (world: LiveWorld, name: string) =>
	reserve(world, {requester: person(name), count: 1, durationSeconds: 60});

const kindsOf = (events: readonly AuditEntry[]) => events.map(({kind}) => kind);

test('the live view reacts to a new reservation with new rows, an event and a scan', async () => {
	const world = await createLiveWorld(2);
	const {view} = follow(world, {intervals: {watchedMs: 60_000, unwatchedMs: 60_000}});
	await eventually(() => view.current().rows.length === 2 && world.scans() === 1);
	await reserveOne(world, 'alice');
	await eventually(() => view.current().rows[0]?.state === 'in-use' && view.current().events.length > 0);
	await eventually(() => world.scans() === 2);
	expect(kindsOf(view.current().events)).toContain('granted');
	expect(view.counts.get('granted')).toBe(1);
});

test('the live view replaces its events if the store returns with a different audit log', async () => {
	const world = await createLiveWorld(2);
	let listener: StoreListener | undefined;
	let entries: readonly AuditEntry[] = [{id: '5', time: 5, kind: 'granted', account: 'alice', gpus: [0]}];
	let isAway = false;
	const store = {
		...world.store,
		async subscribe(given: StoreListener) {
			listener = given;
			return world.store.subscribe(given);
		},
		async read() {
			if (isAway) {
				throw new CanhazgpuError('store-unreachable', 'Redis does not answer');
			}

			return world.store.read();
		},
		audit: async () => entries,
	};
	const {view, changes} = follow({...world, store});
	await eventually(() => view.current().events.length === 1);
	isAway = true;
	listener!.lost!('connection closed');
	expect(view.current().lost).toMatchObject({reason: 'connection closed'});
	expect(changes.at(-1)).toBe('store-lost');
	entries = [{id: '2', time: 2, kind: 'released', account: 'bob', gpus: [1]}];
	isAway = false;
	listener!.restored!();
	await eventually(() => view.current().events[0]?.id === '2');
	expect(view.current().events).toEqual(entries);
	expect(view.current().lost).toBeUndefined();
});

test('the live view reports a lost store after five seconds without an answer', async () => {
	const clock = createVirtualClock();
	const world = await createLiveWorld(2);
	const hanging = Promise.withResolvers<void>();
	let isHanging = false;
	const store = {
		...world.store,
		async read() {
			if (isHanging) {
				await hanging.promise;
			}

			return world.store.read();
		},
	};
	const {view} = follow({...world, store, clock}, {intervals: {watchedMs: 600_000, unwatchedMs: 600_000}});
	await clock.pass(1);
	expect(view.current()).toMatchObject({rows: [{}, {}], lost: undefined});
	isHanging = true;
	view.refresh();
	await clock.pass(4.5);
	expect(view.current().lost).toBeUndefined();
	await clock.pass(1);
	const {lost, now} = view.current();
	expect(lost?.reason).toBe('no answer within 5 s');
	expect(now - lost!.since).toBeCloseTo(5);
	hanging.resolve();
	await clock.pass(0);
	expect(view.current().lost).toBeUndefined();
});

test('the live view counts the time without the store from the start of the failed request', async () => {
	const clock = createVirtualClock();
	const world = await createLiveWorld(2);
	let isAway = false;
	const store = {
		...world.store,
		async read() {
			if (isAway) {
				await clock.sleep(3000);
				throw new CanhazgpuError('store-unreachable', 'Redis does not answer');
			}

			return world.store.read();
		},
	};
	const {view} = follow({...world, store, clock}, {intervals: {watchedMs: 600_000, unwatchedMs: 600_000}});
	await clock.pass(1);
	isAway = true;
	view.refresh();
	await clock.pass(3.1);
	const {lost, now} = view.current();
	expect(lost?.reason).toBe('Redis does not answer');
	expect(now - lost!.since).toBeCloseTo(3);
});

test('the live view still shows the GPUs if the audit log cannot be read', async () => {
	const world = await createLiveWorld(2);
	let isBroken = true;
	const store = {
		...world.store,
		async audit() {
			if (isBroken) {
				throw new CanhazgpuError('store-refused', 'this store keeps no events');
			}

			return [];
		},
	};
	const {view} = follow({...world, store});
	await eventually(() => view.current().eventsProblem === 'this store keeps no events');
	expect(view.current().rows).toHaveLength(2);
	isBroken = false;
	await reserveOne({...world}, 'alice');
	await eventually(() => view.current().eventsProblem === undefined);
});

test('the live view records a new alert in the audit log, but a read-only live view does not', async () => {
	for (const recordsAlerts of [true, false]) {
		const world = await createLiveWorld(2);
		const {view} = follow(world, {recordsAlerts, intervals: {watchedMs: 10, unwatchedMs: 10}});
		await eventually(() => view.current().rows.length === 2);
		const busy = {
			...idleReading(0),
			memoryUsedMiB: 9000,
			processes: [{pid: 77, user: 'dave', name: 'python3', memoryUsedMiB: 9000}],
		};
		world.see(() => observationOf([busy, idleReading(1)]));
		const scansBefore = world.scans();
		await eventually(() => view.current().rows[0]?.state === 'unreserved' && world.scans() > scansBefore + 5);
		const audit = await world.store.audit();
		expect(audit.some(({kind}) => kind === 'unreserved')).toBe(recordsAlerts);
		view.stop();
	}
});

test('a stopped live view neither scans GPUs nor reads the store', async () => {
	const world = await createLiveWorld(1);
	const counts = {reads: 0, scans: 0};
	const store = {
		...world.store,
		async read() {
			counts.reads++;
			return world.store.read();
		},
	};
	const gpus = {
		...world.gpus,
		async observe() {
			counts.scans++;
			return world.gpus.observe();
		},
	};
	const watched = {gpus, clock: world.clock};
	const {view} = follow({...world, store}, {watched, intervals: {watchedMs: 5, unwatchedMs: 5}});
	await eventually(() => counts.scans > 3);
	view.stop();
	const before = {...counts};
	view.refresh();
	await reserveOne(world, 'bob');
	const endMs = performance.now() + 100;
	await eventually(() => performance.now() > endMs);
	expect(counts).toEqual(before);
});
