import {expect, test} from 'vitest';
import {endingOf, endingOfEntry, judge} from '../../source/core/liveness.js';
import type {Host} from '../../source/core/ports.js';
import type {Lease, Liveness, QueueEntry, Snapshot} from '../../source/core/types.js';

const host = (answers: Readonly<Record<number, Liveness>> = {}): Host => ({
	hostname: 'box',
	machineId: 'm',
	bootId: 'b',
	self: {pid: 1},
	account: {name: 'alice', uid: 1000},
	liveness: (processes) => processes.map(({pid}) => answers[pid] ?? 'dead'),
	orphansOf: () => 'dead',
});
const here = {machine: 'm', bootId: 'b'};
const snapshot = (changes: Partial<Snapshot> = {}): Snapshot => ({
	now: 100_000,
	storeUptimeSeconds: Infinity,
	pool: {gpuCount: 1, provider: 'fake'},
	gpus: [],
	queue: [],
	drains: new Map(),
	notices: [],
	stored: {drains: undefined, notices: undefined},
	lastUsed: new Map(),
	...changes,
});
const run = (changes: Partial<Lease> = {}): Lease => ({user: 'alice', type: 'run', startTime: 90_000, ...changes});

test('any process that lives keeps a lease; one that is unknown leaves it open', () => {
	const held = {...here, holder: {pid: 10}, job: {pid: 11}};
	expect(judge(held, host({10: 'alive', 11: 'dead'}))).toBe('alive');
	expect(judge(held, host({10: 'dead', 11: 'stopped'}))).toBe('stopped');
	expect(judge(held, host({10: 'dead', 11: 'unknown'}))).toBe('unknown');
	expect(judge(held, host({10: 'dead', 11: 'dead'}))).toBe('dead');
});

test('other machines, unknown boots and nameless processes cannot be judged; an earlier boot can', () => {
	expect(judge({holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge({machine: 'other', bootId: 'b', holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge({machine: 'm', holder: {pid: 10}}, host())).toBe('unknown');
	expect(judge(here, host())).toBe('unknown');
	expect(judge({machine: 'm', bootId: 'before', holder: {pid: 10}}, host({10: 'alive'}))).toBe('rebooted');
});

test('a run lease ends when its processes are dead, at once', () => {
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host())).toEqual({
		reason: 'holder-died',
		endTime: 100_000,
	});
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host({10: 'alive'}))).toBeUndefined();
	expect(endingOf(run({...here, holder: {pid: 10}}), snapshot(), host({10: 'stopped'}))).toBeUndefined();
});

test('what a wrapper left behind that never said what it started keeps the lease; where that cannot be seen, its heartbeat tells', () => {
	const unnamed = run({...here, holder: {pid: 10, group: 9}, lastHeartbeat: 99_990});
	const left = (orphans: 'alive' | 'dead' | 'unknown'): Host => ({...host(), orphansOf: () => orphans});
	expect(endingOf(unnamed, snapshot(), left('alive'))).toBeUndefined();
	expect(endingOf(unnamed, snapshot(), left('dead'))).toMatchObject({reason: 'holder-died'});
	expect(endingOf(unnamed, snapshot(), left('unknown'))).toBeUndefined();
	expect(endingOf({...unnamed, lastHeartbeat: 90_000}, snapshot(), left('unknown'))).toMatchObject({
		reason: 'heartbeat-lost',
	});
	// A job that was named speaks for itself.
	expect(endingOf({...unnamed, job: {pid: 11}}, snapshot(), left('alive'))).toMatchObject({reason: 'holder-died'});
});

test('a reboot ends it at its last sign of life', () => {
	expect(endingOf(run({machine: 'm', bootId: 'before', lastHeartbeat: 99_000}), snapshot(), host())).toEqual({
		reason: 'reboot',
		endTime: 99_000,
	});
});

test('without a process to judge, 15 minutes of silence end it, and only once the store has been up that long', () => {
	const silent = (seconds: number): Lease => run({lastHeartbeat: 100_000 - seconds});
	expect(endingOf(silent(900), snapshot(), host())).toBeUndefined();
	expect(endingOf(silent(901), snapshot(), host())).toEqual({reason: 'heartbeat-lost', endTime: 99_099});
	expect(endingOf(silent(5000), snapshot({storeUptimeSeconds: 60}), host())).toBeUndefined();
	expect(endingOf(run(), snapshot(), host())).toEqual({reason: 'heartbeat-lost', endTime: 90_000});
});

test('a manual lease ends at its time, and then its record says that time', () => {
	const manual: Lease = {user: 'alice', type: 'manual', startTime: 90_000, expiryTime: 99_000};
	expect(endingOf(manual, snapshot(), host())).toEqual({reason: 'expired', endTime: 99_000});
	expect(endingOf({...manual, expiryTime: 100_001}, snapshot(), host())).toBeUndefined();
	expect(endingOf({...manual, expiryTime: undefined}, snapshot(), host())).toBeUndefined();
});

test('a partial holding lives with its entry alone, whatever its times say', () => {
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

test('an entry lives with its process, stopped or not; unjudged, for two minutes after its heartbeat', () => {
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
	const waiting = entry({...here, holder: {pid: 10}});
	expect(endingOfEntry(waiting, snapshot(), host({10: 'stopped'}))).toBeUndefined();
	expect(endingOfEntry(waiting, snapshot(), host())).toBe('holder-died');
	expect(endingOfEntry(entry({machine: 'm', bootId: 'before'}), snapshot(), host())).toBe('reboot');
	expect(endingOfEntry(entry({lastHeartbeat: 99_880}), snapshot(), host())).toBeUndefined();
	expect(endingOfEntry(entry({lastHeartbeat: 99_879}), snapshot(), host())).toBe('heartbeat-lost');
	expect(endingOfEntry(entry({lastHeartbeat: 0}), snapshot({storeUptimeSeconds: 30}), host())).toBeUndefined();
});
