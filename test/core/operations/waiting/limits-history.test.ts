/** Random histories of people and agents whose accounts have limits. Nobody ever exceeds a limit, and every request that can be served is. */
import process from 'node:process';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {limitsFor} from '../../../../source/core/operations/limits.js';
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {quitQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import type {World} from '../../../../source/core/model/ports.js';
import type {Snapshot} from '../../../../source/core/model/types.js';
import {holdingsIn} from '../../../../source/core/rules/leases/holdings.js';
import {ownerOf} from '../../../../source/core/rules/leases/ownership.js';
import {isOfAgent} from '../../../../source/core/rules/leases/via.js';
import {policyValue} from '../../../../source/core/rules/policy/policy.js';
import {wantedCountOf} from '../../../../source/core/rules/queue/eligible.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {testHost} from '../../../_helpers/machine/host.js';
import {isLong} from '../../../_helpers/slow.js';
import {createTestWorld, person, type TestWorld} from '../../../_helpers/world.js';
import {beatAll, entriesOf, requestOf, settle} from './_settle.js';

const people = ['ada', 'bob', 'cy'] as const;
const gpuCount = 4;

const anyWanted = fc.oneof(
	{weight: 3, arbitrary: fc.record({count: fc.integer({min: 1, max: 4})})},
	{
		weight: 1,
		arbitrary: fc
			.uniqueArray(fc.nat(gpuCount - 1), {minLength: 1, maxLength: 2})
			.map((ids) => ({count: ids.length, ids: ids.toSorted((a, b) => a - b)})),
	},
	{weight: 1, arbitrary: fc.record({count: fc.integer({min: 1, max: 2}), need: fc.constant({shareMiB: 20_000})})},
);

const anyAsk = fc.record({
	do: fc.constantFrom('take', 'join'),
	who: fc.constantFrom(...people),
	wanted: anyWanted,
	via: fc.constantFrom(undefined, 'mcp claude-code'),
});

const anyStep = fc.oneof(
	{weight: 6, arbitrary: anyAsk},
	{weight: 2, arbitrary: fc.record({do: fc.constant('release'), who: fc.constantFrom(...people)})},
	{weight: 2, arbitrary: fc.record({do: fc.constantFrom('leave', 'sleep', 'sleep'), position: fc.nat(3)})},
	{weight: 5, arbitrary: fc.record({do: fc.constantFrom('settle', 'settle', 'wake')})},
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant('limit'),
			key: fc.constantFrom(
				'limits.max-gpus',
				'agents.max-gpus',
				...people.map((name) => `limits.user.${name}.max-gpus`),
			),
			value: fc.constantFrom('1', '2', '3', '4', 'off', undefined),
		}),
	},
);

type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

/** During each step, another one can happen between its read and its commit. */
const anyHistory = fc.array(fc.record({step: anyStep, intruder: fc.option(anyAsk, {freq: 2, nil: undefined})}), {
	minLength: 8,
	maxLength: 30,
});

const heldBy = ({gpus}: Pick<Snapshot, 'gpus'>, account: string): number =>
	holdingsIn(gpus).filter(({lease}) => ownerOf(lease) === account).length;

const heldByAgents = ({gpus}: Pick<Snapshot, 'gpus'>): number =>
	holdingsIn(gpus).filter(({lease}) => isOfAgent(lease)).length;

const mostOfAgentsIn = (snapshot: Snapshot): number => {
	const most = policyValue(snapshot, 'agents.max-gpus');
	return most === 'off' ? Infinity : most;
};

const limitIn = (world: World, snapshot: Snapshot, account: string): number =>
	limitsFor(world, snapshot, person(account))['max-gpus']?.value ?? Infinity;

/** Returns a world that fails if a commit lets an account, or all agents together, exceed their limit. They may keep what they held before the limit was lowered. */
const guarded = (world: TestWorld, before: () => Promise<void>): TestWorld => ({
	...world,
	store: {
		...world.store,
		async commit(plan) {
			if (plan.grants) {
				await before();
			}

			const old = await world.memory.read();
			const outcome = await world.store.commit(plan);
			const now = await world.memory.read();
			for (const account of people) {
				expect(heldBy(now, account)).toBeLessThanOrEqual(Math.max(limitIn(world, now, account), heldBy(old, account)));
			}

			expect(heldByAgents(now)).toBeLessThanOrEqual(Math.max(mostOfAgentsIn(now), heldByAgents(old)));
			return outcome;
		},
	},
});

const root = {...person('root'), uid: 0};

class Game {
	readonly #world: TestWorld;
	readonly #guarded: TestWorld;
	readonly #asleep = new Set<number>();
	readonly #pids = new Map<string, number>();
	#joined = 0;
	#intruder: Step | undefined;

	constructor(world: TestWorld) {
		this.#world = world;
		this.#guarded = guarded(world, async () => {
			const intruder = this.#intruder;
			this.#intruder = undefined;
			if (intruder !== undefined) {
				await this.#do(intruder);
			}
		});
	}

	async play(step: Step, intruder: Step | undefined): Promise<void> {
		// `settle` must be the only one to change the pool, because its requests do not expect a conflict.
		this.#intruder = step.do === 'settle' || intruder?.do === 'settle' ? undefined : intruder;
		await this.#do(step);
		this.#intruder = undefined;
	}

	/** Releases all reservations repeatedly until every request is served. */
	async finish(): Promise<void> {
		this.#wake();
		for (let rounds = 0; ; rounds++) {
			expect(rounds).toBeLessThan(60);
			await this.#settle();
			const snapshot = await this.#world.memory.read();
			if (snapshot.queue.length === 0) {
				return;
			}

			this.#expectNobodyHeldUp(snapshot);
			for (const account of people) {
				await this.#releaseAll(account);
			}
		}
	}

	/** Checks that the first request that its limits allow has taken every GPU that it can use. */
	#expectNobodyHeldUp(snapshot: Snapshot): void {
		const seen = new Set<string>();
		const grantedToAgents = holdingsIn(snapshot.gpus).filter(
			({lease}) => isOfAgent(lease) && lease.partialQueueId === undefined,
		).length;
		for (const {entry} of entriesOf(snapshot)) {
			const account = ownerOf(entry);
			const granted = holdingsIn(snapshot.gpus).filter(
				({lease}) => ownerOf(lease) === account && lease.partialQueueId === undefined,
			).length;
			const limits = isOfAgent(entry) ? [account, 'agents'] : [account];
			const isAllowed =
				granted + wantedCountOf(entry) <= limitIn(this.#world, snapshot, account) &&
				(!isOfAgent(entry) || grantedToAgents + wantedCountOf(entry) <= mostOfAgentsIn(snapshot));
			if (limits.every((limit) => !seen.has(limit)) && isAllowed) {
				if (entry.requestedIds.length === 0 && entry.need === undefined) {
					expect(snapshot.gpus.filter(({kind}) => kind === 'free')).toEqual([]);
				}

				return;
			}

			for (const limit of limits) {
				seen.add(limit);
			}
		}
	}

	async #releaseAll(account: string): Promise<void> {
		const snapshot = await this.#world.memory.read();
		const leases = holdingsIn(snapshot.gpus).filter(
			({lease}) => ownerOf(lease) === account && lease.partialQueueId === undefined,
		);
		await release(this.#guarded, person(account), {by: 'leases', leases});
	}

	#wake(): void {
		for (const pid of this.#asleep) {
			this.#world.processes.delete(pid);
		}

		this.#asleep.clear();
	}

	async #settle(): Promise<void> {
		const isAwake = (id: string): boolean => !this.#asleep.has(this.#pids.get(id)!);
		await beatAll(this.#guarded, isAwake);
		await settle(this.#guarded, {canBecomeImpossible: true, isAwake});
	}

	async #do(step: Step): Promise<void> {
		const world = this.#guarded;
		switch (step.do) {
			case 'take':
			case 'join': {
				const request = {...requestOf(step.who, step.wanted), via: step.via};
				const id = `entry-${++this.#joined}`;
				const pid = 100 + this.#joined;
				this.#pids.set(id, pid);
				const own = {...world, host: testHost({...world.host, self: {pid}})};
				try {
					await (step.do === 'take'
						? acquireNow(own, request, `taken-${id}`)
						: joinQueue(own, {id, request, waitSeconds: undefined}));
				} catch (error) {
					// A request for more than the limit fails at once.
					expect(error).toBeInstanceOf(CanhazgpuError);
					expect(error).toMatchObject({code: 'impossible'});
				}

				break;
			}

			case 'release': {
				await this.#releaseAll(step.who);
				break;
			}

			case 'leave':
			case 'sleep': {
				const {id, entry} = entriesOf(await readCurrent(world))[step.position] ?? {};
				if (id !== undefined && step.do === 'leave') {
					await quitQueue(world, {id, leaseId: `lease-${id}`, account: ownerOf(entry!), reason: 'aborted'});
				} else if (id !== undefined) {
					this.#asleep.add(this.#pids.get(id)!);
					this.#world.processes.set(this.#pids.get(id)!, 'stopped');
				}

				break;
			}

			case 'wake': {
				this.#wake();
				break;
			}

			case 'limit': {
				await changePolicy(world, root, [{key: step.key, value: step.value}]);
				break;
			}

			case 'settle': {
				await this.#settle();
				break;
			}
		}

		world.pass(0.01);
	}
}

test('random commands never let an account or the agents exceed their limit', async () => {
	await fc.assert(
		fc.asyncProperty(anyHistory, async (history) => {
			const world = await createTestWorld({gpuCount});
			await changePolicy(world, root, [
				{key: 'share', value: 'on'},
				{key: 'limits.max-gpus', value: '3'},
				{key: 'limits.user.ada.max-gpus', value: '2'},
				{key: 'agents.max-gpus', value: '3'},
			]);
			const game = new Game(world);
			for (const {step, intruder} of history) {
				await game.play(step, intruder);
			}

			await game.finish();
		}),
		{numRuns: Number(process.env['LIMITS_RUNS'] ?? (isLong ? 20_000 : 300))},
	);
}, 600_000);
