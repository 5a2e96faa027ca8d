/** Read -> plan -> commit -> again on conflict: the one way in which anything changes. Design section 3. */
import {CanhazgpuError} from '../errors.js';
import {planExpiry} from './lifecycle.js';
import {isEmpty, type Plan} from './plan.js';
import {requirePool} from './pool.js';
import type {World} from './ports.js';
import type {Snapshot} from './types.js';

/** After this long a conflict is reported as "busy". */
const patienceMs = 10_000;
/** After this long without a store, a change is given up. Verbs promise an answer within 6 s. */
const outageMs = 5000;
const lockedWaitMs = 20;
const shortestWaitMs = 2;
const longestWaitMs = 250;

export type Attempt<Result> = {readonly plan: Plan; readonly result: Result};

export type Transaction<Result> = {
	/** Label for which `snapshot.lastUsed` is filled in. */
	readonly user?: string;
	/**
	Makes the plan from what was read. It is called again after a conflict. An empty plan ends it without a commit.
	*/
	readonly attempt: (snapshot: Snapshot) => Attempt<Result> | Promise<Attempt<Result>>;
	/** Whether what `attempt` planned is there: asked when the answer to a commit was lost. */
	readonly happened: (snapshot: Snapshot, result: Result) => boolean;
};

const isUnreachable = (error: unknown): boolean =>
	error instanceof CanhazgpuError && error.code === 'store-unreachable';

/** Doubles from 2 ms to 250 ms, each a random share of it: so that many who collide spread out. */
const backoffMs = (tries: number, random: number): number =>
	Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(tries, 10)) * (0.25 + 0.75 * random);

/** Reads, planning away whatever is dead until nothing is. */
export async function readLiving(
	{store, host, clock}: Pick<World, 'store' | 'host' | 'clock'>,
	user?: string,
): Promise<Snapshot> {
	const until = clock.monotonicMs() + patienceMs;
	for (let tries = 0; ; tries++) {
		const snapshot = await store.read({user});
		requirePool(snapshot, host, store.location);
		const expiry = planExpiry(snapshot, host);
		if (isEmpty(expiry)) {
			return snapshot;
		}

		// Whether it was done or somebody else was first, the next read tells.
		const outcome = await store.commit(expiry);
		if (clock.monotonicMs() > until) {
			throw busy();
		}

		if (outcome !== 'done') {
			await clock.sleep(backoffMs(tries, clock.random()));
		}
	}
}

/**
Reads for those who only look: a store that takes no changes now, for its disk is full or it is a replica, can still be shown, with the dead.
*/
export async function readToShow(world: World): Promise<Snapshot> {
	try {
		return await readLiving(world);
	} catch (error) {
		if (error instanceof CanhazgpuError && error.code === 'store-refused') {
			return world.store.read();
		}

		throw error;
	}
}

const busy = (): CanhazgpuError =>
	new CanhazgpuError('busy', 'The GPU pool is too busy: others kept changing it for 10 seconds', {
		hint: 'Nothing was changed. Try again.',
	});

/** Reads until the store answers, for at most 5 s; then the first error stands. */
async function readAfterOutage(world: World, user: string | undefined, error: unknown): Promise<Snapshot> {
	const until = world.clock.monotonicMs() + outageMs;
	for (let tries = 4; world.clock.monotonicMs() < until; tries++) {
		try {
			return await readLiving(world, user);
		} catch (readError) {
			if (!isUnreachable(readError)) {
				throw readError;
			}
		}

		await world.clock.sleep(backoffMs(tries, world.clock.random()));
	}

	throw error;
}

/**
Carries out one change of state, atomically against what was read.

@returns What the attempt that was committed said.
@throws CanhazgpuError `busy`, `store-unreachable`, `no-pool`, or whatever `attempt` throws.
*/
export async function transact<Result>(world: World, transaction: Transaction<Result>): Promise<Result> {
	const {store, clock} = world;
	const startMs = clock.monotonicMs();
	let lostAnswers = 0;
	let snapshot = await readLiving(world, transaction.user);
	for (let tries = 0; ; tries++) {
		const {plan, result} = await transaction.attempt(snapshot);
		if (isEmpty(plan)) {
			return result;
		}

		try {
			const outcome = await store.commit(plan);
			if (outcome === 'done') {
				return result;
			}

			if (clock.monotonicMs() - startMs > patienceMs) {
				throw busy();
			}

			await clock.sleep(
				outcome === 'locked' ? lockedWaitMs * (0.5 + clock.random()) : backoffMs(tries, clock.random()),
			);
			snapshot = await readLiving(world, transaction.user);
		} catch (error) {
			if (!isUnreachable(error)) {
				throw error;
			}

			// The change may have been made and only its answer lost: the records tell.
			snapshot = await readAfterOutage(world, transaction.user, error);
			if (transaction.happened(snapshot, result)) {
				return result;
			}

			// A store that can be read and takes no changes is as good as away. One that is merely slow gets as long as one that is busy.
			lostAnswers++;
			if (lostAnswers > 1 && clock.monotonicMs() - startMs > patienceMs) {
				throw error;
			}

			await clock.sleep(backoffMs(lostAnswers, clock.random()));
		}
	}
}
