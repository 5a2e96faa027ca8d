import {describe, expect, test} from 'vitest';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import {planEntryNote} from '../../../../source/core/rules/queue/queue.js';
import type {
	EntryRecord,
	GpuRecord,
	InstanceOfGpu,
	Lease,
	QueueEntry,
	Snapshot,
} from '../../../../source/core/model/types.js';
import {entryRecord as entry, snapshotWith} from '../../../_helpers/world.js';

const now = 100_000;

const heldFor = (id: string, part: Partial<Lease> = {}): Lease => ({
	user: id,
	type: 'manual',
	startTime: now - 500,
	leaseId: id,
	partialQueueId: id,
	...part,
});

const leased = (index: number, lease: Lease): GpuRecord => ({kind: 'leased', index, raw: '{}', lease});

/** GPU 0, whose MIG instances waiting requests hold. */
const split = (...shares: readonly Lease[]): GpuRecord => ({kind: 'shared', index: 0, raw: '{}', shares});

const free = (index: number): GpuRecord => ({kind: 'free', index, raw: undefined});

const somebody: Lease = {user: 'dave', type: 'manual', startTime: 0, expiryTime: 2 * now, leaseId: 'dave'};

const instances = [0, 1, 2].map((number): InstanceOfGpu => ({
	gpu: 0,
	number,
	uuid: `MIG-${number}`,
	profile: '1g.10gb',
}));

const wantsInstances = (requestedCount: number, eligible = instances): Partial<QueueEntry> => ({
	requestedCount,
	need: {mig: {profile: '1g.10gb'}},
	eligibleInstances: eligible.map(({gpu, uuid}) => ({gpu, uuid})),
});

/** Plans the grant of the entry `first`, with an expiry and a time limit. */
function takenIn(snapshot: Snapshot) {
	const {queue} = snapshot;
	const wanted = queue.find((record): record is EntryRecord => record.id === 'first')!;
	const grant = planQueueGrant(snapshot, 'first', {
		lease: {user: 'first', type: 'run', startTime: now, expiryTime: now + 60, endsBy: now + 60, leaseId: 'first'},
		isUsable: () => true,
		outOfService: new Map(),
		isAnswering: () => true,
		host: 'box',
		...(wanted.entry.need?.mig !== undefined && {instances}),
	});
	if (grant.kind === 'nothing') {
		throw new Error('It takes nothing');
	}

	return grant;
}

const written = ({plan}: ReturnType<typeof takenIn>): readonly Lease[] =>
	plan.writes
		.flatMap((write): readonly Lease[] =>
			write.kind === 'lease' ? [write.lease] : write.kind === 'shares' ? write.shares : [],
		)
		.filter(({leaseId}) => leaseId === 'first');

describe('a queue entry that takes over GPUs of later entries', () => {
	test('takes the GPU of the last entry first', () => {
		const queue = [entry('first', {}), entry('second', {requestedIds: [0, 2]}), entry('third', {requestedIds: [1, 2]})];
		const gpus = [leased(0, heldFor('second')), leased(1, heldFor('third')), leased(2, somebody)];
		expect(takenIn(snapshotWith({now, queue, gpus}))).toMatchObject({kind: 'complete', gpus: [1]});
	});

	test('takes the MIG instance of the last entry first', () => {
		const [zero, one] = instances;
		const queue = [
			entry('first', wantsInstances(1)),
			entry('second', wantsInstances(2)),
			entry('third', wantsInstances(2)),
		];
		const gpus = [
			split(
				heldFor('second', {mig: {number: 0, uuid: zero!.uuid}}),
				heldFor('third', {mig: {number: 1, uuid: one!.uuid}}),
				{...somebody, mig: {number: 2, uuid: 'MIG-2'}},
			),
		];
		expect(takenIn(snapshotWith({now, queue, gpus}))).toMatchObject({
			kind: 'complete',
			instances: [{gpu: 0, number: 1}],
		});
	});
});

test('the lease of a GPU starts when the waiting request first held the GPU', () => {
	const queue = [entry('first', {requestedCount: 2})];
	const grant = takenIn(snapshotWith({now, queue, gpus: [leased(0, heldFor('first')), free(1)]}));
	expect(grant.kind).toBe('complete');
	expect(written(grant).map(({startTime}) => startTime)).toEqual([now - 500, now]);
});

test('a GPU that a waiting request holds has no expiry until the grant is complete', () => {
	const queue = [entry('first', {requestedCount: 2, unavailable: [{gpu: 1, kind: 'used', since: 0}]})];
	const grant = takenIn(snapshotWith({now, queue, gpus: [free(0), leased(1, somebody)]}));
	expect(written(grant)).toEqual([
		{...heldFor('first'), type: 'run', startTime: now, lastHeartbeat: now, expiryTime: undefined, endsBy: undefined},
	]);
	// The GPU that was recorded as in use is leased, so nothing is known to be out of service.
	expect(grant.plan.writes.find(({kind}) => kind === 'entry')).toMatchObject({
		entry: {allocatedGpus: [0], unavailable: undefined},
	});
});

test('a queue entry that gives back one of two MIG instances of a GPU still holds the other instance', () => {
	const [zero, one] = instances;
	const own = entry('first', {...wantsInstances(2), allocatedGpus: [0]});
	const gpus = [
		split(
			heldFor('first', {mig: {number: 0, uuid: zero!.uuid}}),
			heldFor('first', {mig: {number: 1, uuid: one!.uuid}}),
		),
	];
	const {writes} = planEntryNote(
		snapshotWith({now, queue: [own], gpus}),
		own,
		{unavailable: undefined, eligible: {eligibleInstances: wantsInstances(1, instances.slice(1)).eligibleInstances}},
		'box',
	);
	expect(writes).toEqual([
		expect.objectContaining({kind: 'shares', shares: [expect.objectContaining({mig: {number: 1, uuid: 'MIG-1'}})]}),
		expect.objectContaining({kind: 'entry', entry: expect.objectContaining({allocatedGpus: [0]}) as unknown}),
	]);
});
