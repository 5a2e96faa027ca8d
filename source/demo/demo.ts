/** A pool in memory for demonstrations. Simulated people reserve, wait and release with the same operations as real users. Nothing is saved. */
import {createPool} from '../core/operations/pool/create-pool.js';
import {holdingsIn} from '../core/rules/leases/holdings.js';
import {planChange} from '../core/rules/leases/lease-changes.js';
import {emptyPlan} from '../core/model/plan.js';
import type {Clock, GpuProvider, Host, Store, World} from '../core/model/ports.js';
import type {LeaseIdle, UsageRecord} from '../core/model/types.js';
import {changePolicy} from '../core/operations/pool/policy.js';
import {acquire} from '../core/operations/waiting/acquire.js';
import {requesterOf} from '../core/rules/leases/ownership.js';
import type {Person, Scenario} from '../gpu/simulated/scenario.js';
import {createMemoryStore} from '../store/memory/index.js';
import type {Grant} from '../core/rules/request/request.js';
import {withNight} from './night.js';
import {createActor, live, randomFrom} from './people.js';

type Options = {
	readonly host: Host;
	readonly clock: Clock;
	readonly scenario: Scenario;
	/** Returns the time of the store's clock, in seconds. */
	readonly now: () => number;
	/** Returns a provider of simulated GPUs, whose load follows the leases in the store. */
	readonly gpusOver: (store: Store) => GpuProvider;
	readonly memoryThresholdMiB: number;
};

export type Demo = {
	readonly store: Store;
	readonly close: () => Promise<void>;
};

const usualCount = 8;

const idleOf = ({idle, back}: Person, now: number): LeaseIdle | undefined =>
	idle === undefined
		? undefined
		: {
				since: Math.round(now - idle),
				seen: Math.floor(now),
				...(back !== undefined && {warned: Math.floor(now), deadline: Math.round(now + back)}),
			};

async function backdate({store}: World, {leaseId}: Grant, person: Person): Promise<void> {
	const {gpus, now} = await store.read();
	const seconds = person.since ?? 0;
	const holdings = holdingsIn(gpus).filter(({lease}) => lease.leaseId === leaseId);
	await store.commit(
		planChange(
			holdings,
			(lease) => ({
				...lease,
				startTime: lease.startTime - Math.round(seconds),
				expiryTime: lease.expiryTime === undefined ? undefined : lease.expiryTime - Math.round(seconds),
				endsBy: lease.endsBy === undefined ? undefined : lease.endsBy - Math.round(seconds),
				idle: idleOf(person, now),
			}),
			undefined,
		),
	);
}

/** Moves the queue entries of waiting people into the past, by the number of seconds that each person has already waited. */
async function backdateQueue(store: Store, people: readonly Person[]): Promise<void> {
	const {queue} = await store.read();
	const entries = queue.filter((record) => record.kind === 'entry');
	for (const {id, raw, entry} of entries) {
		const {waits = 0} = people.find(({user}) => user === entry.user) ?? {};
		await store.commit({
			...emptyPlan,
			expect: [{kind: 'entry', id, raw}],
			writes: [{kind: 'entry', entry: {...entry, enqueueTime: entry.enqueueTime - Math.round(waits)}}],
		});
	}
}

const isTaken = (
	{gpuId, startTime, endTime}: UsageRecord,
	people: readonly Person[],
	kept: readonly UsageRecord[],
	now: number,
): boolean =>
	people.some(
		({ids = [], since}) => since !== undefined && gpuId !== undefined && ids.includes(gpuId) && endTime > now - since,
	) || kept.some((other) => other.gpuId === gpuId && other.startTime < endTime && other.endTime > startTime);

const usageOf = (
	{user, kind = 'run', note}: Person,
	gpuId: number,
	startTime: number,
	endTime: number,
): UsageRecord => ({
	user,
	actualUser: user,
	gpuId,
	startTime,
	endTime,
	durationSeconds: endTime - startTime,
	reservationType: kind,
	note,
	endReason: kind === 'run' ? 'exited' : 'released',
});

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

/** Returns long jobs of the last night on most GPUs, so that the graphs of the night are not empty. */
const nightOf = (people: readonly Person[], gpuCount: number, now: number): readonly UsageRecord[] =>
	Array.from({length: Math.max(0, gpuCount - 2)}, (_, gpuId) => ({
		person: people.filter(({kind}) => kind !== 'manual')[(gpuId + 1) % 3],
		gpuId,
		start: Math.round(now - (19 - ((gpuId * 5) % 7)) * hourSeconds),
		end: Math.round(now - (6.7 - ((gpuId * 3) % 5)) * hourSeconds),
	})).flatMap(({person, gpuId, start, end}) => (person === undefined ? [] : [usageOf(person, gpuId, start, end)]));

/** Returns usage of the last 30 days, for the reports. */
function pastOf(
	people: readonly Person[],
	gpuCount: number,
	now: number,
	random: () => number,
): readonly UsageRecord[] {
	const days = Array.from({length: 30}, (_, ago) =>
		people.flatMap((person): readonly UsageRecord[] => {
			const durationSeconds = Math.round(random() ** 2 * 9 * hourSeconds);
			const endTime = Math.round(now - ago * daySeconds - random() * daySeconds * 0.9 - 60);
			const gpuId = Math.floor(random() * gpuCount);
			return durationSeconds < 600 ? [] : [usageOf(person, gpuId, endTime - durationSeconds, endTime)];
		}),
	).flat();
	const kept: UsageRecord[] = [];
	for (const record of [...nightOf(people, gpuCount, now), ...days]) {
		if (!isTaken(record, people, kept, now)) {
			kept.push(record);
		}
	}

	return kept.toSorted((a, b) => a.endTime - b.endTime);
}

export async function createDemo({host, clock, scenario, now, gpusOver, memoryThresholdMiB}: Options): Promise<Demo> {
	const gpuCount = scenario.gpus ?? usualCount;
	const seed = scenario.seed ?? 1;
	const memory = createMemoryStore({now, since: now() - daySeconds});
	const store: Store = {...memory, loads: withNight(memory, {seed, gpuCount, mig: scenario.mig, begin: now()})};
	const people = scenario.people ?? [];
	await createPool({store, host, clock}, {gpuCount, provider: 'fake', force: false});
	await store.commit({...emptyPlan, usage: pastOf(people, gpuCount, now(), randomFrom(seed))});

	const closing = new AbortController();
	const {signal} = closing;
	const world: World = {store, gpus: gpusOver(store), host, clock, memoryThresholdMiB};
	await changePolicy(
		world,
		requesterOf({name: 'root', uid: 0}),
		Object.entries(scenario.policy ?? {}).map(([key, value]) => ({key, value})),
	);
	const lives: Array<Promise<void>> = [];
	const actors = people.map((person, position) => createActor(person, position, {world, signal, seed, gpuCount}));
	for (const actor of actors) {
		const {person, request} = actor;
		const options = {waitSeconds: 0, signal, onProgress: () => undefined};
		const answer = person.since === undefined ? undefined : await acquire(actor.world, request, options);
		const first = answer?.kind === 'granted' ? answer : undefined;
		if (first !== undefined) {
			await backdate(world, first, person);
		}

		const {promise: arrived, resolve} = Promise.withResolvers<void>();
		const life = live(actor, first, resolve);
		lives.push(life);
		if (person.waits !== undefined) {
			await Promise.race([arrived, life]);
		}
	}

	await backdateQueue(store, people);
	return {
		store,
		async close() {
			closing.abort();
			await Promise.all(lives);
		},
	};
}
