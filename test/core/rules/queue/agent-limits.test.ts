import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {GpuRecord, Lease, QueueEntry, QueueRecord, Snapshot} from '../../../../source/core/model/types.js';
import {allocate} from '../../../../source/core/rules/grants/newcomer-grant.js';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import {anyGpus} from '../../../../source/core/rules/allocation/need.js';
import {holdingsIn} from '../../../../source/core/rules/leases/holdings.js';
import {limitOf} from '../../../../source/core/rules/limits/limits.js';
import {accountLimitsOf, accountLimitsSeen} from '../../../../source/core/rules/queue/account-limits.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {endsLimit, snapshotAfterEvent} from '../../../../source/core/rules/queue/wake-up.js';
import {queueJson} from '../../../../source/format/tables/queue-table.js';
import {queueWhy} from '../../../../source/format/queue/why.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {entryRecord, idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';

const now = 100_000;
const via = 'mcp claude-code';

const leased = (index: number, user: string, changes: Partial<Lease> = {}): GpuRecord => ({
	kind: 'leased',
	index,
	raw: `${index}`,
	lease: {user, type: 'run', startTime: 0, leaseId: `lease-${index}`, ...changes},
});

const free = (index: number): GpuRecord => ({kind: 'free', index, raw: undefined});

/** A waiting request of an agent. */
const agent = (id: string, changes: Partial<QueueEntry> = {}) =>
	entryRecord(id, {user: id, lastHeartbeat: now, reservationType: 'run', via, ...changes});

/** A GPU that a waiting agent has collected. */
const collected = (index: number, id: string): GpuRecord => leased(index, id, {via, partialQueueId: id});

const twoForAgents = {'agents.max-gpus': '2'};

const box = (
	gpus: readonly GpuRecord[],
	queue: readonly QueueRecord[],
	settings: Readonly<Record<string, string>> = twoForAgents,
): Snapshot =>
	snapshotWith({
		now,
		gpus,
		queue,
		policy: new Map(Object.entries(settings).map(([key, value]) => [key, {value, since: 5}])),
	});

/** The ids of the entries that wait for other agents. */
const heldBackIn = (snapshot: Snapshot): readonly string[] => {
	const {agentLimitOf} = accountLimitsSeen(snapshot);
	return snapshot.queue.flatMap((record) =>
		record.kind === 'entry' && agentLimitOf(record.entry) !== undefined ? [record.id] : [],
	);
};

const silence = {clock: 'c', seconds: 0, since: now - 300, lastHeartbeat: now};

describe('an agent waits for other agents', () => {
	test.each([
		['but not while agents hold fewer GPUs than the limit', [leased(0, 'a', {via}), free(1)], [agent('b')], []],
		['when agents hold as many GPUs as allowed', [leased(0, 'a', {via}), leased(1, 'a', {via})], [agent('b')], ['b']],
		['but not for GPUs that people hold', [leased(0, 'a'), leased(1, 'a')], [agent('b')], []],
		[
			'while earlier agents may take the rest of the limit',
			[free(0), free(1)],
			[agent('a', {requestedCount: 2}), agent('b')],
			['b'],
		],
		[
			'if an earlier agent waits, so that small requests cannot overtake a large request forever',
			[leased(0, 'x', {via}), free(1)],
			[agent('a', {requestedCount: 2}), agent('b')],
			['a', 'b'],
		],
		[
			'but not behind a request that can never be served',
			[free(0), free(1), free(2)],
			[agent('a', {requestedCount: 3}), agent('b')],
			['a'],
		],
		[
			'but not behind a request whose process is silent',
			[free(0), free(1)],
			[agent('a', {requestedCount: 2, silence}), agent('b')],
			[],
		],
		[
			'but not for GPUs that a later agent has collected',
			[collected(0, 'b'), collected(1, 'b'), free(2)],
			[agent('a', {requestedCount: 2}), agent('b', {requestedCount: 2})],
			['b'],
		],
		['but a person does not', [leased(0, 'a', {via}), leased(1, 'a', {via})], [agent('b', {via: undefined})], []],
	] as const)('%s', (_, gpus, queue, heldBack) => {
		expect(heldBackIn(box(gpus, queue))).toEqual(heldBack);
	});

	test('but blocks no other agent while it waits for the limit of its account', () => {
		const settings = {'agents.max-gpus': '2', 'limits.user.ada.max-gpus': '1'};
		const queue = [agent('a', {user: 'ada'}), agent('b')];
		expect(heldBackIn(box([leased(0, 'ada'), leased(1, 'x', {via}), free(2)], queue, settings))).toEqual([]);
		// Over both limits, it blocks neither the agents nor its account.
		const both = [agent('a', {user: 'ada', requestedCount: 2}), agent('b')];
		const twoForAda = {...settings, 'limits.user.ada.max-gpus': '2'};
		expect(heldBackIn(box([leased(0, 'ada'), leased(1, 'x', {via}), free(2)], both, twoForAda))).toEqual(['a']);
	});
});

const anyEntry = fc.record({
	count: fc.integer({min: 1, max: 4}),
	isAgent: fc.boolean(),
	isServable: fc.boolean(),
	gives: fc.boolean(),
	account: fc.constantFrom('ada', 'bob', 'cy'),
});

/** Each GPU is free, held by a person or an agent, or collected by an entry of the queue. */
const anyGpu = fc.oneof(fc.constantFrom('free', 'person', 'agent'), fc.nat(4));

test('the first agent that can be served waits only for reservations, not for other entries of the queue', () => {
	fc.assert(
		fc.property(
			fc.array(anyEntry, {maxLength: 5}),
			fc.array(anyGpu, {maxLength: 6}),
			fc.nat(5),
			fc.option(fc.integer({min: 1, max: 4})),
			(entries, states, most, mostOfAccount) => {
				const entryOf = (id: string) => entries[Number(id)]!;
				const queue = entries.map(({count, isAgent, account}, index) =>
					agent(String(index), {requestedCount: count, user: account, via: isAgent ? via : undefined}),
				);
				// No entry has collected more GPUs than it wants.
				const isTooMany = (state: number, index: number): boolean =>
					states.slice(0, index).filter((other) => other === state).length >= (entries[state]?.count ?? 0);
				const gpus = states.map((state, index) =>
					state === 'free' || (typeof state === 'number' && isTooMany(state, index))
						? free(index)
						: typeof state === 'number'
							? leased(index, entries[state]!.account, {
									partialQueueId: String(state),
									via: entries[state]!.isAgent ? via : undefined,
								})
							: leased(index, 'dan', {via: state === 'agent' ? via : undefined}),
				);
				const snapshot = box(gpus, queue, {
					'agents.max-gpus': String(most),
					...(mostOfAccount !== null && {'limits.max-gpus': String(mostOfAccount)}),
				});
				const state = {
					isServable: ({id}: QueueEntry) => entryOf(id).isServable,
					givesHoldings: ({id}: QueueEntry) => !entryOf(id).isServable && entryOf(id).gives,
				};
				const ofAgents = holdingsIn(gpus).filter(({lease}) => lease.via !== undefined);
				const granted = ofAgents.filter(({lease}) => lease.partialQueueId === undefined).length;
				const keptByOthers = ofAgents.filter(({lease: {partialQueueId}}) => {
					const holder = partialQueueId === undefined ? undefined : entryOf(partialQueueId);
					return holder !== undefined && !holder.isServable && !holder.gives;
				}).length;
				const limits = accountLimitsOf(snapshot, state);
				const first = queue.find(
					({id, entry}) =>
						entry.via !== undefined &&
						entryOf(id).isServable &&
						entry.requestedCount <= most &&
						limits.overLimitOf(entry) === undefined,
				);
				if (first !== undefined && granted + keptByOthers + first.entry.requestedCount <= most) {
					expect(limits.agentLimitOf(first.entry)).toBeUndefined();
				}

				for (const {id, entry} of queue.filter(
					(record) => record.entry.via !== undefined && limits.agentLimitOf(record.entry) === undefined,
				)) {
					if (!entryOf(id).isServable || limits.overLimitOf(entry) !== undefined) {
						continue;
					}

					const own = {account: entry.user, via, limit: limitOf(snapshot, 'max-gpus', {account: entry.user})};

					// After the grant, agents hold what they held, without the surplus, and what the entry lacked.
					const surplus = accountLimitsOf(snapshot, {...state, own}).surplus(0);
					const lost = new Set(surplus.map(({index}) => index));
					const left = ofAgents.filter(({index, lease}) => !lost.has(index) && lease.partialQueueId !== id).length;
					expect(left + entry.requestedCount).toBeLessThanOrEqual(most);
				}
			},
		),
		{numRuns: 2000},
	);
});

const grantNew = (snapshot: Snapshot, asked: Pick<Lease, 'via'>) =>
	allocate(snapshot, observationOf(snapshot.gpus.map(({index}) => idleReading(index))), {
		wanted: {count: 1},
		eligibility: anyGpus,
		lease: {user: 'new', type: 'run', startTime: now, leaseId: 'new', ...asked},
		force: false,
		memoryThresholdMiB: 1024,
		isAnswering: () => true,
		grant: {host: 'box'},
	});

test('a new request of an agent is refused if an earlier agent may use up the limit, and a person is served', () => {
	const queue = [agent('a', {requestedIds: [0, 1], requestedCount: 2})];
	const snapshot = box([leased(0, 'bob'), collected(1, 'a'), free(2)], queue);
	expect(grantNew(snapshot, {via})).toMatchObject({kind: 'refused', agentLimit: {most: 2, held: 0, ahead: 2}});
	expect(grantNew(snapshot, {})).toMatchObject({kind: 'allocated', gpus: [2]});
	expect(grantNew(box(snapshot.gpus, queue, {'agents.max-gpus': '3'}), {via})).toMatchObject({kind: 'allocated'});
});

test('after the limit is lowered, the earlier of two agents is served, and the GPUs of the later agent are released', () => {
	const queue = [
		agent('a', {requestedIds: [0, 1, 2], requestedCount: 3}),
		agent('b', {requestedIds: [3, 4, 5], requestedCount: 3}),
	];
	const gpus = [collected(0, 'a'), collected(1, 'a'), free(2), collected(3, 'b'), collected(4, 'b'), leased(5, 'bob')];
	const snapshot = box(gpus, queue, {'agents.max-gpus': '3'});
	const grantTo = (id: string) =>
		planQueueGrant(snapshot, id, {
			lease: {user: id, type: 'run', startTime: now, leaseId: `lease of ${id}`, via},
			isUsable: () => true,
			outOfService: new Map(),
			isAnswering: () => true,
			host: 'box',
		});
	expect(grantTo('b')).toEqual({kind: 'nothing', gpus: [3, 4], agentLimit: {most: 3, held: 0, ahead: 3}});
	const grant = grantTo('a');
	expect(grant).toMatchObject({kind: 'complete', gpus: [0, 1, 2]});
	expect(grant.kind === 'complete' && grant.plan.writes.filter(({kind}) => kind === 'free')).toMatchObject([
		{index: 3, ended: {reason: 'taken-by-earlier'}},
		{index: 4, ended: {reason: 'taken-by-earlier'}},
	]);
});

test('queue --why names the limit for agents, the agents that hold GPUs and the earlier entry, and queue --json the limit', () => {
	const queue = [agent('erin', {requestedIds: [1], requestedCount: 1}), agent('zoe')];
	const snapshot = box([leased(0, 'ada', {via}), leased(1, 'bob'), free(2)], queue);
	const rows = queueRows(snapshot);
	const why = queueWhy(rows, createPaint(false, {}), now).split('\n');
	expect(why.slice(-4)).toEqual([
		'#2 zoe waits for 1 GPU, 27h 46m 40s so far; expected: when agents hold fewer GPUs',
		'   waits: agents hold 1 of at most 2 GPUs together, and their earlier requests want 1 (agents.max-gpus); people go first',
		'   ada has GPU 0 until its job ends, via mcp claude-code',
		'   #1 erin is ahead in the queue for GPU 1',
	]);
	expect(queueJson(rows).entries[1]).toMatchObject({
		reason: 'agents-max-gpus',
		reason_words: 'agents hold 1 of at most 2 GPUs together, and their earlier requests want 1',
	});
});

test('a release by an agent wakes only the first agent that can now be served, and the grant wakes no other agent', () => {
	const queue = [
		agent('a', {requestedIds: [2], requestedCount: 1}),
		agent('b', {requestedIds: [2], requestedCount: 1}),
	];
	const before = box([leased(0, 'x', {via}), leased(1, 'x', {via}), leased(2, 'bob')], queue);
	const released = {kind: 'released', gpus: [0]} as const;
	const after = snapshotAfterEvent(before, released)!;
	expect(['a', 'b'].map((id) => endsLimit(before, after, id))).toEqual([true, false]);
	const granted = {kind: 'granted', gpus: [2], user: 'a', left: ['a']} as const;
	expect(endsLimit(after, snapshotAfterEvent(after, granted), 'b')).toBe(false);
});
