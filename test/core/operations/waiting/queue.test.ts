import fc from 'fast-check';
import {expect, test} from 'vitest';
import {groupsOf, isPossible} from '../../../../source/core/rules/queue/eligible.js';
import {claimsOf, instanceClaimsOf} from '../../../../source/core/rules/queue/queue.js';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import type {GpuRecord, QueueEntry, QueueRecord} from '../../../../source/core/model/types.js';
import {entryRecord as entry, snapshotWith} from '../../../_helpers/world.js';

const claimed = (queue: readonly QueueRecord[], gpuCount = 4, isAwake: (entry: QueueEntry) => boolean = () => true) =>
	Object.fromEntries(
		[...claimsOf(queue, gpuCount, (one) => (isAwake(one) ? groupsOf(one, gpuCount) : []))].map(([index, {id}]) => [
			index,
			id,
		]),
	);

test('a queue entry for any GPU has a claim on every GPU, and an entry with GPU ids only on these GPUs', () => {
	expect(claimed([entry('a', {requestedCount: 2})])).toEqual({0: 'a', 1: 'a', 2: 'a', 3: 'a'});
	expect(claimed([entry('a', {requestedCount: 1, requestedIds: [3]})])).toEqual({3: 'a'});
});

test('the next queue entry has a claim on the GPUs that the first entry did not request', () => {
	expect(claimed([entry('a', {requestedIds: [3]}), entry('b', {requestedCount: 1})])).toEqual({
		0: 'b',
		1: 'b',
		2: 'b',
		3: 'a',
	});
});

test('a queue entry that the pool can never serve has no claim on any GPU', () => {
	const impossible: ReadonlyArray<Partial<QueueEntry>> = [
		{requestedCount: 5},
		{requestedCount: 0},
		{requestedCount: 1.5},
		{requestedIds: [4]},
		{requestedIds: [-1]},
		{requestedIds: [1, 1]},
	];
	for (const wants of impossible) {
		expect(claimed([entry('a', wants)])).toEqual({});
		expect(isPossible(entry('a', wants).entry, 4)).toBe(false);
	}
});

test('stopped, missing and unreadable queue entries have no claim on any GPU', () => {
	const queue: readonly QueueRecord[] = [
		entry('asleep', {}),
		{kind: 'orphan', id: 'orphan'},
		{kind: 'garbage', id: 'garbage', raw: '!', problem: 'not JSON'},
		entry('b', {requestedIds: [1]}),
	];
	expect(claimed(queue, 4, ({id}) => id !== 'asleep')).toEqual({1: 'b'});
});

test('a new entry at the end of the queue takes no claim away from earlier entries', () => {
	const wants = fc.oneof(
		fc.record({requestedCount: fc.integer({min: 1, max: 9})}),
		fc.record({requestedIds: fc.uniqueArray(fc.integer({min: 0, max: 9}), {minLength: 1})}),
	);
	fc.assert(
		fc.property(fc.array(wants), wants, fc.integer({min: 1, max: 8}), (line, last, gpuCount) => {
			const queue = line.map((want, position) => entry(String(position), want));
			const before = claimsOf(queue, gpuCount);
			const after = claimsOf([...queue, entry('last', last)], gpuCount);
			for (const [index, {id}] of before) {
				expect(after.get(index)?.id).toBe(id);
			}
		}),
	);
});

/** Entries for a number of GPUs, or for one GPU id. */
const anyOfGpus: fc.Arbitrary<Partial<QueueEntry>> = fc.oneof(
	fc.record({requestedCount: fc.integer({min: 1, max: 3})}),
	fc.record({requestedIds: fc.uniqueArray(fc.nat(3), {minLength: 1, maxLength: 2})}),
);

/** Entries for MIG instances that an earlier scan found eligible. */
const anyOfInstances: fc.Arbitrary<Partial<QueueEntry>> = fc.record({
	requestedCount: fc.integer({min: 1, max: 2}),
	need: fc.constant({mig: {profile: '1g.10gb'}}),
	eligibleInstances: fc.uniqueArray(
		fc.tuple(fc.nat(3), fc.nat(2)).map(([gpu, number]) => ({gpu, uuid: `MIG-${gpu}-${number}`})),
		{selector: ({uuid}) => uuid},
	),
});

test('a queue entry for MIG instances does not change what an entry for whole GPUs can get', () => {
	const anyQueue = fc.array(fc.oneof(anyOfGpus, anyOfInstances), {minLength: 1, maxLength: 6});
	const gpus = [0, 1, 2, 3].map((index): GpuRecord => ({kind: 'free', index, raw: undefined}));
	/** Returns what each entry could take on a free machine. */
	const grants = (queue: readonly QueueRecord[]) =>
		new Map(
			queue.map(({id}) => {
				const {kind, ...grant} = planQueueGrant(snapshotWith({gpus, queue}), id, {
					lease: {user: id, type: 'manual', startTime: 0, leaseId: id},
					isUsable: () => true,
					outOfService: new Map(),
					isAnswering: () => true,
					host: 'box',
				});
				return [id, {kind, gpus: grant.gpus, instances: 'instances' in grant ? grant.instances : undefined}];
			}),
		);
	fc.assert(
		fc.property(anyQueue, (wanted) => {
			const queue = wanted.map((wants, position) => entry(String(position), wants));
			const [ofInstances, ofGpus] = [true, false].map((isMig) =>
				queue.filter((record) => record.kind === 'entry' && (record.entry.need?.mig !== undefined) === isMig),
			);
			expect(claimsOf(queue, 4)).toEqual(claimsOf(ofGpus!, 4));
			expect(instanceClaimsOf(queue, 4)).toEqual(instanceClaimsOf(ofInstances!, 4));
			expect(grants(queue)).toEqual(new Map([...grants(ofGpus!), ...grants(ofInstances!)]));
		}),
		{numRuns: 500},
	);
});
