import {expect, test} from 'vitest';
import {drain, undrain} from '../../../../source/core/operations/pool/drain.js';
import type {World} from '../../../../source/core/model/ports.js';
import {extend, release, reserve} from '../../../../source/core/operations/reservations.js';
import {undoRelease} from '../../../../source/core/operations/undo.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {checkAuditLog} from '../../../_helpers/store/audit-log.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../../_helpers/world.js';

const alice = person('alice');

type Fate = 'never arrives' | 'is carried out but its answer is lost';

type TestedCommand = {
	readonly name: string;
	/** Fields of the expected audit record. */
	readonly kind: string;
	/** Runs before any message is lost. Its result is passed to `act`. */
	readonly arrange: (world: World) => Promise<unknown>;
	readonly act: (world: World, arranged: unknown) => Promise<unknown>;
};

const hold = async (world: World) => reserve(world, {requester: alice, count: 2, durationSeconds: 3600});

const commands: readonly TestedCommand[] = [
	{
		name: 'drain',
		kind: 'drained',
		arrange: hold,
		act: async (world) => drain(world, alice, [1, 3], 'fan'),
	},
	{
		name: 'undrain',
		kind: 'undrained',
		arrange: async (world) => drain(world, alice, [1, 3], undefined),
		act: async (world) => undrain(world, alice, [3, 1]),
	},
	{name: 'reserve', kind: 'granted', arrange: async () => undefined, act: hold},
	{
		name: 'extend',
		kind: 'extended',
		arrange: hold,
		act: async (world) => extend(world, alice, {by: 'label', label: 'alice'}, {by: 60}),
	},
	{
		name: 'release',
		kind: 'released',
		arrange: hold,
		act: async (world) => release(world, alice, {by: 'label', label: 'alice'}),
	},
	{
		name: 'undo',
		kind: 'granted',
		async arrange(world) {
			await hold(world);
			const {released} = await release(world, alice, {by: 'label', label: 'alice'});
			return [{gpus: released.map(({index}) => index), lease: released[0]!.lease}];
		},
		act: async (world, released) => undoRelease(world, alice, released as Parameters<typeof undoRelease>[2]),
	},
];

/** Creates a world in which one message is late or lost. Messages are counted from 1, after `begin`. */
async function createLossyWorld(
	lost: number,
	fate: Fate,
): Promise<{world: TestWorld; begin: () => void; sent: () => number}> {
	let sent = -Infinity;
	const meet = async <Result>(work: () => Promise<Result>): Promise<Result> => {
		sent++;
		if (sent !== lost) {
			return work();
		}

		if (fate !== 'never arrives') {
			await work();
		}

		throw new CanhazgpuError('store-unreachable', 'The answer was lost');
	};

	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			read: async (options) => meet(async () => store.read(options)),
			commit: async (plan) => meet(async () => store.commit(plan)),
		}),
	});
	return {
		world,
		begin() {
			sent = 0;
		},
		sent: () => sent,
	};
}

const fates: readonly Fate[] = ['never arrives', 'is carried out but its answer is lost'];

test.each(commands.flatMap((command) => fates.map((fate) => ({...command, fate}))))(
	'if any message of $name $fate, the command takes effect once and is recorded once',
	async ({arrange, act, kind, fate}) => {
		const undisturbed = await createTestWorld();
		const right = await act(undisturbed, await arrange(undisturbed));
		for (let lost = 1; ; lost++) {
			const {world, begin, sent} = await createLossyWorld(lost, fate);
			const arranged = await arrange(world);
			const before = await world.store.audit();
			const usageBefore = await historyOf(world.store);
			begin();
			let error: unknown;
			let answer: unknown;
			try {
				answer = await act(world, arranged);
			} catch (error_) {
				error = error_;
			}

			const isOver = sent() < lost;
			const recordedKinds = (await world.store.audit()).slice(before.length).map((record) => record.kind);
			if (error === undefined) {
				expect(recordedKinds).toEqual([kind]);
				expect(answer).toEqual(right);
			} else {
				// A command whose first read fails has done nothing and reports an error.
				expect(error).toMatchObject({code: 'store-unreachable'});
				expect(lost).toBe(1);
				expect(recordedKinds).toEqual([]);
			}

			const ended = (await historyOf(world.store)).length - usageBefore.length;
			expect(ended).toBe(kind === 'released' && error === undefined ? 2 : 0);
			await checkAuditLog(world, await world.memory.read());
			if (isOver) {
				expect(lost).toBeGreaterThan(2);
				return;
			}
		}
	},
);

test('release retries after a lost request, even if a heartbeat has changed the lease meanwhile', async () => {
	let lost = 0;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async commit(plan) {
				if (plan.event?.kind === 'released' && lost++ === 0) {
					const {gpus} = world.memory.state;
					gpus.set(0, gpus.get(0)!.replace(/"last_heartbeat":\d+/v, '"last_heartbeat":1800000060'));
					throw new CanhazgpuError('store-unreachable', 'The message was lost');
				}

				return store.commit(plan);
			},
		}),
	});
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 3600});
	expect((await release(world, alice, {by: 'gpus', ids: [0]})).released).toMatchObject([{index: 0}]);
	expect((await world.memory.read()).gpus[0]).toMatchObject({kind: 'free'});
});
