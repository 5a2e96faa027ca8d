import {sendHeartbeat, findJobLease, endJobLease, withJob} from '../core/operations/job-lease.js';
import {leaseHeartbeatSeconds} from '../core/rules/leases/liveness.js';
import {requesterOf} from '../core/rules/leases/ownership.js';
import type {World} from '../core/model/ports.js';
import {checkWanted, type AcquireRequest, type Grant} from '../core/rules/request/request.js';
import {release} from '../core/operations/reservations.js';
import {acquire} from '../core/operations/waiting/acquire.js';
import {CanhazgpuError} from '../errors.js';
import type {Person} from '../gpu/simulated/scenario.js';

/** Returns a Park-Miller random number generator. The same seed gives the same sequence. */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 48_271) % 2_147_483_647;
		return state / 2_147_483_647;
	};
}

/** The first pid of simulated people. It is larger than any pid of the kernel, so that no real process is ever signaled. */
const firstPid = 2 ** 22 + 500_000;

export type Actor = {
	readonly person: Person;
	readonly world: World;
	readonly request: AcquireRequest;
	readonly signal: AbortSignal;
};

type Stage = {
	readonly world: World;
	readonly signal: AbortSignal;
	readonly seed: number;
	readonly gpuCount: number;
};

/** Creates a simulated person. Throws `impossible` for a request that the pool can never grant. */
export function createActor(person: Person, position: number, {world, signal, seed, gpuCount}: Stage): Actor {
	const account = {name: person.user, uid: 50_000 + position};
	const requester = requesterOf(account);
	const {host, clock} = world;
	const need = person.share === undefined ? undefined : {shareMiB: person.share};
	const {count, ids} = checkWanted({count: person.gpus ?? 1, ids: person.ids, need}, gpuCount);
	return {
		person,
		signal,
		world: {
			...world,
			// The pids are in a separate pid namespace, so that they are not looked up among the processes of this machine.
			host: {...host, account, self: {pid: firstPid + position, startTicks: 1, namespace: 'demo'}},
			clock: {...clock, random: randomFrom(seed * 1009 + position)},
		},
		request: {
			requester,
			count,
			ids,
			need,
			note: person.note,
			tenure:
				person.kind === 'manual'
					? {type: 'manual', durationSeconds: person.hold ?? 86_400}
					: {type: 'run', timeLimitSeconds: person.limit},
		},
	};
}

const varied = (seconds: number, {world}: Actor): number => seconds * (0.67 + 0.66 * world.clock.random());

/** Simulates a job: sends heartbeats until the job's time is up, then ends its lease. */
async function work({world, signal}: Actor, {leaseId}: Grant, seconds: number): Promise<void> {
	let jobLease = withJob(await findJobLease(world, leaseId), world.host.self);
	const endMs = world.clock.monotonicMs() + seconds * 1000;
	for (;;) {
		const answer = await sendHeartbeat(world, jobLease);
		jobLease = answer.jobLease;
		const leftMs = endMs - world.clock.monotonicMs();
		if (answer.kind === 'lost' || leftMs <= 0) {
			break;
		}

		await world.clock.sleep(Math.min(leftMs, (leaseHeartbeatSeconds / 2) * 1000), signal);
	}

	await endJobLease(world, jobLease, 'exited');
}

async function keep(actor: Actor, grant: Grant, seconds: number): Promise<void> {
	const {world, request, signal} = actor;
	const {tenure, requester} = request;
	if (tenure.type === 'run') {
		await work(actor, grant, seconds);
		return;
	}

	await world.clock.sleep(seconds * 1000, signal);
	// If the lease has already ended by itself, this release does nothing.
	await release(world, requester, {by: 'lease', leaseId: grant.leaseId});
}

async function visit(actor: Actor, arrived: () => void): Promise<void> {
	const {world, request, signal, person} = actor;
	const answer = await acquire(world, request, {waitSeconds: undefined, signal, onProgress: arrived});
	arrived();
	if (answer.kind === 'granted') {
		await keep(actor, answer, person.hold === undefined ? Infinity : varied(person.hold, actor));
	}
}

/**
Simulates a person until `signal` is aborted.

@param first - The lease that the person has at the start, if any.
@param arrived - Called when the person has joined the queue, or got GPUs without waiting.
*/
export async function live(actor: Actor, first: Grant | undefined, arrived: () => void): Promise<void> {
	const {person, world, signal} = actor;
	let isThere = person.waits !== undefined;
	const once = async (): Promise<void> => {
		if (first !== undefined) {
			const {hold = Infinity, since = 0} = person;
			const grant = first;
			first = undefined;
			await keep(actor, grant, Math.max(1, hold - since));
		}

		if (!isThere) {
			await world.clock.sleep(1000 * varied(person.pause ?? 60, actor), signal);
		}

		isThere = false;
		await visit(actor, arrived);
	};

	while (!signal.aborted) {
		try {
			await once();
		} catch (error) {
			// A person whose request is refused comes back later.
			if (!signal.aborted && !(error instanceof CanhazgpuError)) {
				throw error;
			}
		}
	}
}
