/** Random commands of 50 accounts that may exceed their limit while nobody else waits. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {limitsFor} from '../../../../source/core/operations/limits.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {createReclaimer, type Reclaimer} from '../../../../source/core/operations/reclaim.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {quitQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import type {World} from '../../../../source/core/model/ports.js';
import type {Lease, Snapshot} from '../../../../source/core/model/types.js';
import {holdingsIn} from '../../../../source/core/rules/leases/holdings.js';
import {ownerOf} from '../../../../source/core/rules/leases/ownership.js';
import {slackLeasesIn} from '../../../../source/core/rules/limits/slack.js';
import {accountLimitsSeen} from '../../../../source/core/rules/queue/account-limits.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {isLong} from '../../../_helpers/slow.js';
import {createTestWorld, person, type TestWorld} from '../../../_helpers/world.js';
import {beatAll, entriesOf, requestOf, settle} from './_settle.js';

const gpuCount = 8;
const accounts = Array.from({length: 50}, (_, number) => `user${number}`);
const graceSeconds = 300;

const anyAccount = fc.oneof(
	{weight: 3, arbitrary: fc.constantFrom(...accounts.slice(0, 4))},
	{weight: 1, arbitrary: fc.constantFrom(...accounts)},
);

const anyWanted = fc.oneof(
	{weight: 4, arbitrary: fc.record({count: fc.integer({min: 1, max: 5})})},
	{
		weight: 1,
		arbitrary: fc
			.uniqueArray(fc.nat(gpuCount - 1), {minLength: 1, maxLength: 2})
			.map((ids) => ({count: ids.length, ids: ids.toSorted((a, b) => a - b)})),
	},
	{weight: 1, arbitrary: fc.constant({count: 1, need: {shareMiB: 20_000}})},
);

const anyAsk = fc.record({
	do: fc.constantFrom('take', 'join'),
	who: anyAccount,
	wanted: anyWanted,
	type: fc.constantFrom('manual', 'manual', 'run'),
});

const anyStep = fc.oneof(
	{weight: 8, arbitrary: anyAsk},
	{weight: 2, arbitrary: fc.record({do: fc.constant('release'), who: anyAccount})},
	{weight: 1, arbitrary: fc.record({do: fc.constant('leave'), position: fc.nat(3)})},
	{weight: 3, arbitrary: fc.record({do: fc.constant('settle')})},
	{weight: 3, arbitrary: fc.record({do: fc.constant('look'), minutes: fc.nat(7)})},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant('limit'),
			key: fc.constantFrom('limits.max-gpus', 'limits.slack', 'limits.user.user1.max-gpus'),
			value: fc.constantFrom('1', '2', '3', 'on', 'off', undefined),
		}),
	},
);

type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

/** During each step, another one can happen between its read and its commit. */
const anyHistory = fc.array(fc.record({step: anyStep, intruder: fc.option(anyAsk, {freq: 2, nil: undefined})}), {
	minLength: 10,
	maxLength: 40,
});

const root = {...person('root'), uid: 0};

const heldIn = ({gpus}: Snapshot, account: string): readonly Lease[] =>
	holdingsIn(gpus)
		.map(({lease}) => lease)
		.filter((lease) => ownerOf(lease) === account);

const limitIn = (world: World, snapshot: Snapshot, account: string): number =>
	limitsFor(world, snapshot, person(account))['max-gpus']?.value ?? Infinity;

/** Returns the accounts of requests that wait although their limit allows what they want. */
const entitledIn = (snapshot: Snapshot): readonly string[] => {
	const {overLimitOf} = accountLimitsSeen(snapshot);
	return entriesOf(snapshot)
		.filter(({entry}) => overLimitOf(entry) === undefined)
		.map(({entry}) => ownerOf(entry));
};

/** Counts what happened, because the test proves nothing if it never happens. */
const seen = {granted: 0, ended: 0};

class Game {
	readonly #world: TestWorld;
	readonly #guarded: TestWorld;
	readonly #reclaimer: Reclaimer;
	readonly #warnedAt = new Map<string, number>();
	#joined = 0;
	#intruder: Step | undefined;

	constructor(world: TestWorld) {
		this.#world = world;
		this.#guarded = {
			...world,
			store: {
				...world.store,
				commit: async (plan) => {
					const intruder = this.#intruder;
					this.#intruder = undefined;
					if (intruder !== undefined) {
						await this.#do(intruder);
					}

					const before = await world.memory.read();
					const outcome = await world.store.commit(plan);
					this.#check(before, await world.memory.read());
					return outcome;
				},
			},
		};
		this.#reclaimer = createReclaimer(this.#guarded);
	}

	#check(before: Snapshot, after: Snapshot): void {
		for (const account of accounts) {
			const old = heldIn(before, account);
			const held = heldIn(after, account);
			const unmarked = (leases: readonly Lease[]): number => leases.filter(({slack}) => slack === undefined).length;
			// Jobs, shares and reservations within the limit never exceed it.
			expect(unmarked(held)).toBeLessThanOrEqual(Math.max(limitIn(this.#world, after, account), unmarked(old)));
			const granted = held.filter(({leaseId, slack}) => slack && old.every((lease) => lease.leaseId !== leaseId));
			if (granted.length > 0) {
				seen.granted++;
				expect(granted.every(({type, memoryMiB}) => type === 'manual' && memoryMiB === undefined)).toBe(true);
				expect(entitledIn(before).filter((other) => other !== account)).toEqual([]);
			}

			for (const {leaseId, slack} of held) {
				if (slack?.deadline === undefined) {
					this.#warnedAt.delete(leaseId!);
				} else if (!this.#warnedAt.has(leaseId!)) {
					this.#warnedAt.set(leaseId!, after.now);
				}
			}
		}

		for (const record of after.gpus) {
			const old = before.gpus[record.index]!;
			if (record.kind !== 'free' || record.ended?.reason !== 'beyond-limit' || old.kind !== 'leased') {
				continue;
			}

			seen.ended++;
			const {lease} = old;
			expect(before.now - this.#warnedAt.get(lease.leaseId!)!).toBeGreaterThanOrEqual(graceSeconds);
			expect(slackLeasesIn(before).find((one) => one.lease.leaseId === lease.leaseId)?.limit).toBeDefined();
			expect(entitledIn(before).some((other) => other !== ownerOf(lease))).toBe(true);
		}
	}

	async play(step: Step, intruder: Step | undefined): Promise<void> {
		// `settle` must be the only one to change the pool, because its requests do not expect a conflict.
		this.#intruder = step.do === 'settle' ? undefined : intruder;
		await this.#do(step);
		this.#intruder = undefined;
	}

	/** Releases all reservations within the limits until every request is served. Reservations beyond a limit end by themselves. */
	async finish(): Promise<void> {
		for (let rounds = 0; ; rounds++) {
			expect(rounds).toBeLessThan(60);
			await this.#look(6);
			await settle(this.#guarded, {canBecomeImpossible: true});
			await this.#look(6);
			await settle(this.#guarded, {canBecomeImpossible: true});
			const snapshot = await this.#world.memory.read();
			if (snapshot.queue.length === 0) {
				return;
			}

			this.#expectNobodyHeldUp(snapshot);
			for (const account of accounts) {
				const leases = holdingsIn(snapshot.gpus).filter(
					({lease}) => ownerOf(lease) === account && lease.partialQueueId === undefined,
				);
				if (leases.length > 0) {
					await release(this.#guarded, person(account), {by: 'leases', leases});
				}
			}
		}
	}

	/** Checks that no other account stays beyond its limit while a request within its own limit waits. */
	#expectNobodyHeldUp(snapshot: Snapshot): void {
		const {overLimitOf} = accountLimitsSeen(snapshot);
		const first = entriesOf(snapshot).find(({entry}) => overLimitOf(entry) === undefined)?.entry;
		if (first === undefined || first.requestedIds.length > 0 || first.need !== undefined) {
			return;
		}

		const beyond = slackLeasesIn(snapshot).filter(({limit, lease}) => limit && ownerOf(lease) !== ownerOf(first));
		expect(beyond).toEqual([]);
	}

	async #look(minutes: number): Promise<void> {
		await this.#reclaimer.endBeyondLimit(await this.#world.memory.read());
		for (let passed = 0; passed < minutes; passed++) {
			this.#world.pass(60);
			await beatAll(this.#world);
			await this.#reclaimer.endBeyondLimit(await this.#world.memory.read());
		}
	}

	async #do(step: Step): Promise<void> {
		const world = this.#guarded;
		switch (step.do) {
			case 'take':
			case 'join': {
				const request = requestOf(step.who, step.wanted, false, step.type);
				const id = `entry-${++this.#joined}`;
				try {
					await (step.do === 'take'
						? acquireNow(world, request, `taken-${id}`)
						: joinQueue(world, {id, request, waitSeconds: undefined}));
				} catch (error) {
					// A request for more than the limit fails at once if it may not exceed the limit.
					expect(error).toBeInstanceOf(CanhazgpuError);
					expect(error).toMatchObject({code: 'impossible'});
				}

				break;
			}

			case 'release': {
				const {gpus} = await this.#world.memory.read();
				const leases = holdingsIn(gpus).filter(
					({lease}) => ownerOf(lease) === step.who && lease.partialQueueId === undefined,
				);
				await release(world, person(step.who), {by: 'leases', leases});
				break;
			}

			case 'leave': {
				const {id, entry} = entriesOf(await this.#world.memory.read())[step.position] ?? {};
				if (id !== undefined) {
					await quitQueue(world, {id, leaseId: `lease-${id}`, account: ownerOf(entry!), reason: 'aborted'});
				}

				break;
			}

			case 'limit': {
				const isWord = step.value === undefined || ['on', 'off'].includes(step.value);
				const isSlack = step.key === 'limits.slack';
				if (isSlack === isWord || step.value === 'off' || step.value === undefined) {
					await changePolicy(world, root, [{key: step.key, value: step.value}]);
				}

				break;
			}

			case 'look': {
				await this.#look(step.minutes);
				break;
			}

			case 'settle': {
				await beatAll(this.#world);
				await settle(world, {canBecomeImpossible: true});
				break;
			}
		}

		world.pass(0.01);
	}
}

test('with limits.slack, random commands exceed a limit only while nobody else waits', async () => {
	await fc.assert(
		fc.asyncProperty(anyHistory, async (history) => {
			const world = await createTestWorld({gpuCount});
			await changePolicy(world, root, [
				{key: 'share', value: 'on'},
				{key: 'idle.grace', value: '5m'},
				{key: 'limits.max-gpus', value: '2'},
				{key: 'limits.slack', value: 'on'},
			]);
			const game = new Game(world);
			for (const {step, intruder} of history) {
				await game.play(step, intruder);
			}

			await game.finish();
		}),
		{numRuns: isLong ? 2000 : 50},
	);
	expect(seen.granted).toBeGreaterThan(0);
	expect(seen.ended).toBeGreaterThan(0);
}, 600_000);
