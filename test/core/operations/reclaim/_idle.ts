/** A pool in which alice holds GPUs and whose policy reclaims idle reservations. */
import {changePolicy} from '../../../../source/core/operations/pool/policy.js';
import {policyKeyNames, type PolicyKeyName} from '../../../../source/core/rules/policy/keys.js';
import {createReclaimer, type Reclaimer} from '../../../../source/core/operations/reclaim.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import type {Store} from '../../../../source/core/model/ports.js';
import type {GpuReading, Observation} from '../../../../source/core/model/types.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../../_helpers/world.js';

export const alice = person('alice');
export const bob = person('bob', 'bob', 1001);
export const root = person('root', 'root', 0);

export const minute = 60;
export const hour = 3600;

export const usedReading = (index: number): GpuReading => ({
	...idleReading(index),
	memoryUsedMiB: 20_000,
	utilizationPercent: 90,
	processes: [{pid: 7, user: 'alice', memoryUsedMiB: 19_000}],
});

/** A loaded model that does nothing. */
export const parkedReading = (index: number): GpuReading => ({...usedReading(index), utilizationPercent: 0});

export const setPolicy = async (
	world: TestWorld,
	settings: Readonly<Partial<Record<PolicyKeyName, string>>>,
): Promise<void> => {
	await changePolicy(
		world,
		root,
		policyKeyNames.flatMap((key) => (settings[key] === undefined ? [] : [{key, value: settings[key]}])),
	);
};

/** Adds a queue entry of bob for these GPUs, or for any GPUs of the same model. */
export const joinAs = async (
	world: TestWorld,
	{
		requester = bob,
		ids,
		id = 'waiter',
		count = 1,
		readings = allIdle,
	}: {
		readonly requester?: typeof bob;
		readonly ids?: readonly number[];
		readonly id?: string;
		readonly count?: number;
		readonly readings?: readonly GpuReading[];
	},
): Promise<void> => {
	await joinQueue(world, {
		id,
		request: {requester, count, ids, tenure: {type: 'manual', durationSeconds: hour}},
		waitSeconds: undefined,
		observation: observationOf(readings),
	});
};

type IdleBox = {
	readonly world: TestWorld;
	readonly reclaimer: Reclaimer;
	/** Passes this many seconds, scans the GPUs and calls `look` of the reclaimer. Returns what `look` returns. */
	readonly lookAfter: (
		seconds: number,
		gpus?: readonly GpuReading[],
		changes?: Partial<Observation>,
	) => Promise<number>;
	/** Calls `lookAfter` every minute, for this many minutes. */
	readonly lookFor: (minutes: number, gpus?: readonly GpuReading[]) => Promise<void>;
	readonly holders: () => Promise<ReadonlyArray<string | undefined>>;
	readonly idleOf: (index: number) => Promise<unknown>;
	readonly kinds: () => Promise<readonly string[]>;
};

export const allIdle = [0, 1, 2, 3].map((index) => idleReading(index));

const idleAfterHalfAnHour = {'idle.after': '30m'} as const;

/** Creates a pool in which alice holds GPUs 0 and 1 for a day. */
export async function createIdleBox(
	settings: Parameters<typeof setPolicy>[1] = idleAfterHalfAnHour,
	wrap?: (store: Store) => Store,
): Promise<IdleBox> {
	const world = await createTestWorld({gpuCount: 4, ...(wrap && {wrap})});
	await setPolicy(world, settings);
	await reserve(world, {requester: alice, count: 2, ids: [0, 1], durationSeconds: 24 * hour});
	const reclaimer = createReclaimer(world);
	const lookAfter: IdleBox['lookAfter'] = async (seconds, gpus = allIdle, changes = {}) => {
		world.pass(seconds);
		const observation = observationOf(gpus, {takenAtMs: world.clock.monotonicMs(), ...changes});
		return reclaimer.look(await world.memory.read(), observation);
	};

	const leases = async () =>
		(await world.memory.read()).gpus.map((record) => (record.kind === 'leased' ? record.lease : undefined));
	return {
		world,
		reclaimer,
		lookAfter,
		async lookFor(minutes, gpus) {
			for (let passed = 0; passed < minutes; passed++) {
				await lookAfter(minute, gpus);
			}
		},
		holders: async () => (await leases()).map((lease) => lease?.user),
		idleOf: async (index) => (await leases())[index]?.idle,
		kinds: async () =>
			(await world.memory.audit())
				.filter(({kind}) => kind === 'idle' || kind === 'ended')
				.map(({kind, reason}) => [kind, reason].filter((word) => word !== undefined).join(' ')),
	};
}
