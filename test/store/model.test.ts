/** Compares a real store with the reference store. After the same random plans, both must return and contain the same. */
import fc from 'fast-check';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Expectation, Plan, Write} from '../../source/core/model/plan.js';
import type {Store} from '../../source/core/model/ports.js';
import type {Snapshot} from '../../source/core/model/types.js';
import {createMemoryStore} from '../../source/store/memory/index.js';
import {isLong} from '../_helpers/slow.js';
import {
	anyAudit,
	anyDrains,
	anyEnded,
	anyBaselines,
	anyOveruse,
	anyEntry,
	anyLease,
	anyAlerts,
	anyPolicy,
	anyShares,
	anyUsage,
} from './records/arbitraries.js';
import {harnesses, type Harness} from './harness.js';
import {collect, lineOf, plan, pool} from './samples.js';

const histories = isLong ? 30 : 5;
const longest = 30;

const gpu = fc.nat(3);
const id = fc.constantFrom('a', 'b', 'c', 'd');

/** An expectation of a plan, which is derived from the current state and is true or false. */
type Guess = {
	readonly what: 'gpu' | 'entry' | 'whole' | 'prefix' | 'pool' | 'machine' | 'drains' | 'alerts' | 'policy';
	readonly isTrue: boolean;
	readonly index: number;
	readonly id: string;
};

const anyGuess: fc.Arbitrary<Guess> = fc.record({
	what: fc.constantFrom('gpu', 'entry', 'whole', 'prefix', 'pool', 'machine', 'drains', 'alerts', 'policy'),
	isTrue: fc.oneof({arbitrary: fc.constant(true), weight: 6}, {arbitrary: fc.constant(false), weight: 1}),
	index: gpu,
	id,
});

const anyWrite: fc.Arbitrary<Write> = fc.oneof(
	fc.record({kind: fc.constant('lease' as const), index: gpu, lease: anyLease}),
	fc.tuple(gpu, anyShares).map(([index, shared]) => ({kind: 'shares' as const, index, ...shared})),
	fc.record({
		kind: fc.constant('free' as const),
		index: gpu,
		lastReleased: fc.option(fc.integer({min: 1, max: 2_000_000_000}), {nil: undefined}),
		ended: fc.option(anyEnded, {nil: undefined}),
	}),
	fc.record({kind: fc.constant('pool' as const), pool: fc.integer({min: 1, max: 4}).map((count) => pool(count))}),
	fc
		.tuple(id, anyEntry, fc.option(fc.integer({min: 1_700_000_000, max: 1_700_000_009}), {nil: undefined}))
		.map(([own, entry, at]) => ({kind: 'join' as const, entry: {...entry, id: own}, at})),
	fc.tuple(id, anyEntry).map(([own, entry]) => ({kind: 'entry' as const, entry: {...entry, id: own}})),
	fc.record({kind: fc.constant('leave' as const), id}),
	fc.record({kind: fc.constant('drains' as const), drains: anyDrains}),
	fc.record({kind: fc.constant('policy' as const), policy: anyPolicy}),
	fc.record({
		kind: fc.constant('alerts' as const),
		alerts: anyAlerts,
		baselines: anyBaselines,
		overuse: anyOveruse,
	}),
	fc.record({kind: fc.constant('restored' as const), count: fc.integer({min: 0, max: 20})}),
);

/** Identifies what a write changes. A plan of the core changes each queue entry in only one way. */
const subjectOf = (write: Write): unknown =>
	'entry' in write ? write.entry.id : 'id' in write ? write.id : 'index' in write ? write.index : write.kind;

const recent = Math.floor(Date.now() / 1000) - 86_400;
const old = recent - 200 * 86_400;
const anyStep = fc.record({
	guesses: fc.array(anyGuess, {maxLength: 3}),
	writes: fc.uniqueArray(anyWrite, {maxLength: 4, selector: subjectOf}),
	usage: fc.array(
		fc
			.tuple(anyUsage, fc.constantFrom('a', 'b'), fc.constantFrom(recent, recent + 1.5, recent + 2, old, old + 1))
			.map(([usage, user, endTime]) => ({...usage, user, endTime})),
		{maxLength: 3},
	),
	audit: fc.array(anyAudit, {maxLength: 2}),
});

type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the stored string, or a slightly different one. */
const guessed = (raw: string | undefined, isTrue: boolean): string | undefined => (isTrue ? raw : `${raw} `);

function expectationFor({what, isTrue, index, id: entryId}: Guess, snapshot: Snapshot): Expectation {
	switch (what) {
		case 'gpu': {
			const raw = snapshot.gpus[index]?.raw;
			return {kind: 'gpu', index, raw: isTrue ? raw : raw === undefined ? '{}' : undefined};
		}

		case 'entry': {
			const record = snapshot.queue.find((waiting) => waiting.id === entryId);
			const raw = record?.kind === 'entry' ? record.raw : undefined;
			return {kind: 'entry', id: entryId, raw: guessed(raw, isTrue)};
		}

		case 'whole':
		case 'prefix': {
			const ids = lineOf(snapshot).slice(0, what === 'prefix' ? index : undefined);
			return {kind: 'queue', ids: isTrue ? ids : [...ids, 'nobody'], scope: what};
		}

		case 'pool': {
			const gpuCount = snapshot.pool?.gpuCount;
			return {kind: 'pool', gpuCount: isTrue ? gpuCount : (gpuCount ?? 0) + 1};
		}

		case 'machine':
		case 'drains':
		case 'alerts':
		case 'policy': {
			const raw = snapshot.stored[what];
			return {kind: what, raw: guessed(raw, isTrue)};
		}
	}
}

const planFor = ({guesses, writes, usage, audit}: Step, snapshot: Snapshot): Plan =>
	plan({expect: guesses.map((guess) => expectationFor(guess, snapshot)), writes, usage, audit});

const stateOf = async (store: Store) => {
	const {now: _, storeUptimeSeconds: __, revision, ...state} = await store.read({user: 'a'});
	const log = await store.audit();
	return {
		...state,
		revision: {count: revision.count, base: revision.base},
		history: await collect(store.history(0, 4_000_000_000)),
		log: log.map((record) => ({...record, id: undefined})),
	};
};

const isReference = ([kind]: readonly [string, unknown]): boolean => kind === 'memory';

describe.each(Object.entries(harnesses).filter((entry) => !isReference(entry)))('the %s store', (_, makeHarness) => {
	let harness: Harness;
	let store: Store;
	beforeAll(async () => {
		harness = await makeHarness();
		store = await harness.open();
	});
	afterAll(async () => {
		await harness.close();
	});

	test('returns and stores the same as the reference store after random plans', async () => {
		const outcomes = new Map<string, number>();
		await fc.assert(
			fc.asyncProperty(fc.array(anyStep, {minLength: 1, maxLength: longest, size: 'max'}), async (steps) => {
				await harness.clear();
				const model = createMemoryStore();
				for (const step of steps) {
					const next = planFor(step, await model.read());
					const outcome = await model.commit(next);
					outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
					expect(await store.commit(next)).toBe(outcome);
					expect(await stateOf(store)).toEqual(await stateOf(model));
				}
			}),
			{numRuns: histories},
		);
		// The test proves nothing if every commit conflicts.
		expect(outcomes.get('done')).toBeGreaterThan(histories);
		expect(outcomes.get('conflict')).toBeGreaterThan(histories / 2);
	});
});
