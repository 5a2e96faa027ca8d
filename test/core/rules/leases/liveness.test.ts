import {describe, expect, test} from 'vitest';
import {
	cloneIn,
	endingOf,
	judge,
	judgeEntry,
	judgeLease,
	secondsToNextEnd,
} from '../../../../source/core/rules/leases/liveness.js';
import type {Host} from '../../../../source/core/model/ports.js';
import {judgedByWaiter} from '../../../../source/core/rules/leases/lease-changes.js';
import type {EndReason, Lease, Liveness, QueueEntry, Silence, Snapshot} from '../../../../source/core/model/types.js';
import {testHost} from '../../../_helpers/machine/host.js';
import {entryRecord, snapshotWith} from '../../../_helpers/world.js';

/** The uptime of the machine, which was never suspended. */
const upSeconds = 50_000;
const clock = 'b/time';
const host = (answers: Readonly<Record<number, Liveness>> = {}, changes: Partial<Host> = {}): Host =>
	testHost({
		machineId: 'm',
		bootId: 'b',
		monotonic: {id: clock, seconds: () => upSeconds},
		uptimeSeconds: () => upSeconds,
		liveness: (processes) => processes.map(({pid}) => answers[pid] ?? 'dead'),
		...changes,
	});
const here = {machine: 'm', bootId: 'b'};
const snapshot = (changes: Partial<Snapshot> = {}): Snapshot =>
	snapshotWith({
		now: 100_000,
		pool: {gpuCount: 1, provider: 'fake'},
		gpus: [],
		...changes,
	});
const entry = (changes: Partial<QueueEntry>): QueueEntry => ({
	id: 'q',
	user: 'alice',
	requestedCount: 1,
	requestedIds: [],
	allocatedGpus: [],
	reservationType: 'run',
	enqueueTime: 0,
	lastHeartbeat: 0,
	...changes,
});
const run = (changes: Partial<Lease> = {}): Lease => ({user: 'alice', type: 'run', startTime: 90_000, ...changes});

test('judge reports a lease as alive if any of its processes is alive, and as unknown if no process can be seen', () => {
	const held = {...here, holder: {pid: 10}, job: {pid: 11}};
	expect(judge(held, host({10: 'alive', 11: 'dead'}))).toBe('alive');
	expect(judge(held, host({10: 'dead', 11: 'stopped'}))).toBe('stopped');
	expect(judge(held, host({10: 'dead', 11: 'unknown'}))).toBe('unknown');
	expect(judge(held, host({10: 'dead', 11: 'dead'}))).toBe('dead');
	const children = [{pid: 12, startTicks: 1}];
	expect(judge({...held, children}, host({12: 'alive'}))).toBe('alive');
	expect(judge({...held, children}, host())).toBe('dead');
});

test('judge returns unknown for another machine, an unknown boot and a lease without processes', () => {
	expect(judge({holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge({machine: 'other', bootId: 'b', holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge({machine: 'm', holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge(here, host())).toBe('unknown');
	expect(judge({machine: 'm', bootId: 'before', holder: {pid: 10}}, host({10: 'alive'}))).toBe('other-boot');
});

test('judge without a readable boot id can report a process as alive, but never as dead', () => {
	const holder = {pid: 10, startTicks: 7};
	const unread = (answers: Readonly<Record<number, Liveness>> = {}): Host => host(answers, {bootId: undefined});
	for (const [held, viewer] of [
		[{machine: 'm', bootId: 'b', holder}, unread],
		[{machine: 'm', holder}, host],
		[{machine: 'm', holder}, unread],
	] as const) {
		expect(judge(held, viewer())).toBe('unknown');
		expect(judge(held, viewer({10: 'alive'}))).toBe('alive');
		expect(judge(held, viewer({10: 'stopped'}))).toBe('stopped');
		// A pid without a start time could belong to any process.
		expect(judge({...held, holder: {pid: 10}}, viewer({10: 'alive'}))).toBe('unknown');
	}
});

test('a run lease ends at once when its processes are dead', () => {
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host())).toEqual({
		reason: 'holder-died',
		endTime: 100_000,
	});
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host({10: 'alive'}))).toBeUndefined();
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host({10: 'stopped'}))).toBeUndefined();
});

test('if the wrapper has died, a lease lasts while leftover processes live', () => {
	const unnamed = run({...here, holder: {pid: 10, group: 9}, lastHeartbeat: 99_990});
	const left = (orphans: 'alive' | 'dead' | 'unknown'): Host => ({...host(), orphansOf: () => orphans});
	expect(endingOf(unnamed, snapshot(), left('alive'))).toBeUndefined();
	expect(endingOf(unnamed, snapshot(), left('dead'))).toMatchObject({reason: 'holder-died'});
	expect(endingOf(unnamed, snapshot(), left('unknown'))).toBeUndefined();
	expect(judgeLease({...unnamed, lastHeartbeat: 90_000}, snapshot(), left('unknown'))).toMatchObject({kind: 'watch'});
	// If the job's process was recorded, leftover processes do not matter.
	expect(endingOf({...unnamed, job: {pid: 11}}, snapshot(), left('alive'))).toMatchObject({reason: 'holder-died'});
});

test('the usage record of a dead job ends at most a minute after its last heartbeat', () => {
	const dead = (lastHeartbeat: number | undefined) =>
		endingOf(run({...here, holder: {pid: 10}, lastHeartbeat}), snapshot(), host())?.endTime;
	expect(dead(99_000)).toBe(99_060);
	expect(dead(99_990)).toBe(100_000);
	// The store's clock was set back.
	expect(dead(200_000)).toBe(100_000);
	expect(dead(undefined)).toBe(100_000);
});

test('a reader renews the heartbeat of a live job whose wrapper is silent, at most once a minute', () => {
	const orphaned = (changes: Partial<Lease> = {}) =>
		judgeLease(run({...here, holder: {pid: 10}, job: {pid: 11}, ...changes}), snapshot(), host({11: 'alive'})).kind;
	expect(orphaned({lastHeartbeat: 99_929})).toBe('vouch');
	expect(orphaned({lastHeartbeat: 99_930})).toBe('holds');
	expect(orphaned({lastHeartbeat: 100_071})).toBe('vouch');
	expect(judgeLease(run({...here, holder: {pid: 10}}), snapshot(), host({10: 'stopped'})).kind).toBe('vouch');
	expect(orphaned({holder: undefined})).toBe('holds');
});

describe('a lease from another boot of a machine with this machine-id', () => {
	const bootTime = 100_000 - upSeconds;
	const before = (lastHeartbeat: number): Lease => run({machine: 'm', bootId: 'before', startTime: 1, lastHeartbeat});

	test('ends at its last heartbeat if that heartbeat is older than the boot of this machine', () => {
		expect(endingOf(before(bootTime - 1), snapshot(), host())).toEqual({reason: 'reboot', endTime: bootTime - 1});
	});

	test('ends at the boot of this machine if its process sent no heartbeats', () => {
		const adopted = run({machine: 'm', bootId: 'before', startTime: 1, job: {pid: 11, startTicks: 7}});
		expect(endingOf(adopted, snapshot(), host())).toEqual({reason: 'reboot', endTime: bootTime});
	});

	test('is kept and reported as a clone if it has recent heartbeats', () => {
		expect(judgeLease(before(99_950), snapshot(), host()).kind).toBe('holds');
		expect(judgeLease(before(bootTime), snapshot(), host()).kind).toBe('watch');
		const withLease = (lease: Lease, changes: Partial<Snapshot> = {}) =>
			snapshot({gpus: [{kind: 'leased', index: 0, raw: '', lease}], ...changes});
		expect(cloneIn(withLease(before(99_950)), host())?.lastHeartbeat).toBe(99_950);
		// Not a clone: long silent, a heartbeat in the future, an unknown boot, or this boot.
		expect(cloneIn(withLease(before(99_000)), host())).toBeUndefined();
		expect(cloneIn(withLease(before(100_100)), host())).toBeUndefined();
		expect(cloneIn(withLease(before(99_950)), host({}, {bootId: undefined}))).toBeUndefined();
		expect(cloneIn(withLease({...before(99_950), bootId: undefined}), host())).toBeUndefined();
		expect(cloneIn(withLease({...before(99_950), bootId: 'b'}), host())).toBeUndefined();
		expect(cloneIn(withLease({...before(99_950), machine: 'other'}), host())).toBeUndefined();
	});

	test('is not reported as a clone in the first minutes after a boot', () => {
		const fresh = host({}, {uptimeSeconds: () => 20});
		expect(judgeLease(before(99_970), snapshot(), fresh).kind).toBe('holds');
		expect(endingOf(before(99_929), snapshot(), fresh)).toMatchObject({reason: 'reboot'});
		const withLease = snapshot({gpus: [{kind: 'leased', index: 0, raw: '', lease: before(99_990)}]});
		expect(cloneIn(withLease, fresh)).toBeUndefined();
	});
});

describe('a lease whose process is not visible', () => {
	const silent = (seconds: number, changes: Partial<Lease> = {}): Lease =>
		run({lastHeartbeat: 100_000 - seconds, ...changes});
	const watchSince = (seconds: number, changes: Partial<Silence> = {}): Silence => ({
		clock,
		seconds: upSeconds - seconds,
		since: 100_000 - seconds,
		lastHeartbeat: 99_000,
		...changes,
	});
	const watched = (seconds: number, changes: Partial<Silence> = {}, looked: Partial<Snapshot> = {}) =>
		judgeLease(silent(1000, {silence: watchSince(seconds, changes)}), snapshot(looked), host());

	test('is marked as silent after 15 minutes without a heartbeat, but does not end yet', () => {
		expect(judgeLease(silent(900), snapshot(), host())).toEqual({kind: 'holds'});
		expect(judgeLease(silent(901), snapshot(), host())).toEqual({
			kind: 'watch',
			silence: {clock, seconds: upSeconds, since: 100_000, lastHeartbeat: 99_099},
		});
		expect(judgeLease(run(), snapshot(), host())).toMatchObject({kind: 'watch', silence: {lastHeartbeat: undefined}});
		expect(judgeLease(silent(-70), snapshot(), host())).toEqual({kind: 'holds'});
		expect(judgeLease(silent(-71), snapshot(), host())).toMatchObject({kind: 'watch'});
	});

	test('ends at its last heartbeat if it stays silent for a heartbeat interval after it was marked as silent', () => {
		expect(watched(69)).toEqual({kind: 'holds'});
		expect(watched(70)).toEqual({kind: 'ended', ending: {reason: 'heartbeat-lost', endTime: 99_000}});
	});

	test('does not end if the store was down or a heartbeat arrived after it was marked as silent', () => {
		expect(watched(5000, {}, {storeUptimeSeconds: 60})).toEqual({kind: 'holds'});
		expect(watched(5000, {lastHeartbeat: 98_940})).toMatchObject({kind: 'watch', silence: {lastHeartbeat: 99_000}});
		expect(watched(5000, {lastHeartbeat: undefined})).toMatchObject({kind: 'watch'});
	});

	test('gets a new mark as silent if the earlier mark was made with another clock', () => {
		expect(watched(140, {clock: 'other'})).toEqual({kind: 'holds'});
		expect(watched(141, {clock: 'other'})).toMatchObject({kind: 'watch', silence: {clock, seconds: upSeconds}});
		expect(watched(10, {clock: 'other', since: 100_141})).toMatchObject({kind: 'watch'});
		expect(watched(-5)).toMatchObject({kind: 'watch', silence: {seconds: upSeconds}});
	});

	test('is neither marked as silent nor ended by a process that cannot read the monotonic clock', () => {
		const viewer = host({}, {monotonic: {id: clock, seconds: () => undefined}});
		expect(judgeLease(silent(5000), snapshot(), viewer)).toEqual({kind: 'holds'});
		expect(judgeLease(silent(1000, {silence: watchSince(5000)}), snapshot(), viewer)).toEqual({kind: 'holds'});
	});

	test('is checked next when it can end or can be marked as silent', () => {
		const next = (lease: Lease) =>
			secondsToNextEnd(snapshot({gpus: [{kind: 'leased', index: 0, raw: '', lease}]}), host());
		expect(next(silent(1000, {silence: watchSince(30)}))).toBe(40);
		expect(next(silent(1000, {silence: watchSince(30, {clock: 'other'})}))).toBe(110);
		expect(next(silent(800))).toBe(100);
		expect(next(silent(901))).toBe(Infinity);
		expect(next(run({type: 'manual', expiryTime: 100_007}))).toBe(7);
		expect(next(run({type: 'manual', expiryTime: 100_007, partialQueueId: 'q'}))).toBe(Infinity);
		const waiting = entry({lastHeartbeat: 99_900});
		expect(secondsToNextEnd(snapshot({queue: [{kind: 'entry', id: 'q', raw: '', entry: waiting}]}), host())).toBe(20);
	});
});

test('a manual lease ends at its expiry', () => {
	const manual: Lease = {user: 'alice', type: 'manual', startTime: 90_000, expiryTime: 99_000};
	expect(endingOf(manual, snapshot(), host())).toEqual({reason: 'expired', endTime: 99_000});
	expect(endingOf({...manual, expiryTime: 100_001}, snapshot(), host())).toBeUndefined();
	expect(endingOf({...manual, expiryTime: undefined}, snapshot(), host())).toBeUndefined();
});

test('a GPU that a waiting request holds stays held as long as the queue entry lives', () => {
	const held: Lease = {user: 'alice', type: 'manual', startTime: 0, expiryTime: 1, partialQueueId: 'q'};
	expect(
		endingOf(held, snapshot({queue: [{kind: 'garbage', id: 'q', raw: '!', problem: '?'}]}), host()),
	).toBeUndefined();
	expect(endingOf(held, snapshot(), host())).toEqual({reason: 'queue-left', endTime: 100_000});
	expect(endingOf(held, snapshot({queue: [{kind: 'orphan', id: 'q'}]}), host())).toEqual({
		reason: 'queue-left',
		endTime: 100_000,
	});
});

test('a queue entry ends with its process, or after two minutes of silence if its process is not visible', () => {
	const waiting = entry({...here, holder: {pid: 10}});
	const ended = (ending: EndReason) => ({kind: 'ended', ending});
	expect(judgeEntry(waiting, snapshot(), host({10: 'stopped'}))).toEqual({kind: 'holds'});
	expect(judgeEntry(waiting, snapshot(), host())).toEqual(ended('holder-died'));
	expect(judgeEntry(entry({machine: 'm', bootId: 'before'}), snapshot(), host())).toEqual(ended('reboot'));
	expect(judgeEntry(entry({lastHeartbeat: 99_960}), snapshot(), host())).toEqual({kind: 'holds'});
	expect(judgeEntry(entry({lastHeartbeat: 99_959}), snapshot(), host())).toMatchObject({kind: 'watch'});
	const silent = entry({lastHeartbeat: 99_879});
	expect(judgeEntry(silent, snapshot(), host())).toMatchObject({kind: 'watch', silence: {lastHeartbeat: 99_879}});
	const watched = (seconds: number): QueueEntry => ({
		...silent,
		silence: {clock, seconds: upSeconds - seconds, since: 100_000 - seconds, lastHeartbeat: 99_879},
	});
	expect(judgeEntry(watched(39), snapshot(), host())).toEqual({kind: 'holds'});
	expect(judgeEntry(watched(40), snapshot(), host())).toEqual(ended('heartbeat-lost'));
	expect(judgeEntry(watched(40), snapshot({storeUptimeSeconds: 30}), host())).toEqual({kind: 'holds'});
});

test('a waiting request in a long queue checks only the first entries and the entries that hold GPUs', () => {
	const queue = Array.from({length: 40}, (_, index) => entryRecord(`entry-${index}`));
	const held: Lease = {user: 'bob', type: 'run', startTime: 0, leaseId: 'l', partialQueueId: 'entry-30'};
	const gpus: Snapshot['gpus'] = [{kind: 'leased', index: 0, raw: '{}', lease: held}];
	const isJudged = judgedByWaiter(snapshot({gpus, queue}), () => 0.99);
	expect(queue.filter((record) => isJudged(record)).map(({id}) => id)).toEqual(
		[0, 1, 2, 3, 4, 5, 6, 7, 30].map((index) => `entry-${index}`),
	);
	const isJudgedByChance = judgedByWaiter(snapshot({gpus, queue}), () => 0);
	expect(queue.every((record) => isJudgedByChance(record))).toBe(true);
});
