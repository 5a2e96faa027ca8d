import {CanhazgpuError, hasCode} from '../../errors.js';
import {isEmpty} from '../model/plan.js';
import type {Observation, Snapshot} from '../model/types.js';
import {requireNoClone, requirePool} from '../rules/pool/pool.js';
import {idleRulesOf} from '../rules/policy/idle-rules.js';
import {hasMarked, planBeyondLimit} from '../rules/reclaim/beyond-limit.js';
import {planReclaim, type ReclaimPlan} from '../rules/reclaim/reclaim.js';
import type {EngineWorld} from './engine.js';
import {ReclaimSight} from './reclaim-sight.js';

/** Maximum age of an observation that can show that a GPU is idle now. */
const freshSeconds = 5;
/** How long this process waits for the process that posts scans to take a due step. After that, this process scans and acts itself. */
const patienceMs = 10_000;
const mostTries = 5;
/** If the store's clock advances this much more than the monotonic clock, the store's clock was set forward. */
const mostDriftSeconds = 30;

export type Reclaimer = {
	/**
	Warns the owners of idle reservations, and returns the GPUs to the pool after the grace period. Ignores errors of the store,
	but then idle times start again.
	`snapshot` must be recent. If it shows that something must change, the pool is read again.
	@returns The seconds until the next step is due, if the GPUs stay idle.
	*/
	readonly look: (snapshot: Snapshot, observation: Observation) => Promise<number>;
	/** Warns the owners of reservations beyond their limit, and ends these reservations. `look` includes this. Returns the seconds until the next step is due. */
	readonly endBeyondLimit: (snapshot: Snapshot) => Promise<number>;
	/** Called instead of `look` if the store cannot be reached, so that the scan could not be recorded. */
	readonly miss: () => void;
};

/** Returns the observation as a failed one, so that idle times start again. */
const unseen = (observation: Observation): Observation => ({
	...observation,
	failure: observation.failure ?? {message: 'there is no earlier observation'},
});

class IdleReclaimer {
	readonly #world: EngineWorld;
	#running: Promise<number> = Promise.resolve(Infinity);
	/** Whether an earlier observation could not be recorded. Idle times then start again, because that observation may have seen use. */
	#hasMissed = false;
	/** Since when this process has waited for the process that posts scans to take a due step. */
	#dueSinceMs: number | undefined;
	#lastRead: {readonly now: number; readonly ms: number} | undefined;
	readonly #sight: ReclaimSight;

	constructor(world: EngineWorld) {
		this.#world = world;
		this.#sight = new ReclaimSight(world);
	}

	miss(): void {
		this.#hasMissed = true;
	}

	async look(snapshot: Snapshot, observation: Observation): Promise<number> {
		const before = this.#running;
		const own = (async () => {
			await before;
			const limitSeconds = await this.endBeyondLimit(snapshot);
			return Math.min(limitSeconds, await this.#lookNow(snapshot, observation));
		})();
		// Later calls wait for this one, but ignore its error, which its own caller handles.
		this.#running = own.catch(() => Infinity);
		return own;
	}

	async endBeyondLimit(snapshot: Snapshot): Promise<number> {
		if (!hasMarked(snapshot)) {
			return Infinity;
		}

		const {store, host, clock} = this.#world;
		try {
			const hint = planBeyondLimit(snapshot, this.#sight.observer(snapshot));
			if (isEmpty(hint.plan)) {
				return hint.nextSeconds;
			}

			for (let tries = 1; ; tries++) {
				const read = await store.read();
				requirePool(read, host, store);
				requireNoClone(read, host, store.location);
				const planned = planBeyondLimit(read, this.#sight.observer(read));
				if (isEmpty(planned.plan) || (await store.commit(planned.plan)) === 'done') {
					return planned.nextSeconds;
				}

				if (tries === mostTries) {
					return Infinity;
				}

				await clock.sleep(20 * tries * clock.random());
			}
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			return Infinity;
		}
	}

	async #lookNow(snapshot: Snapshot, observation: Observation): Promise<number> {
		if (idleRulesOf(snapshot) === undefined || snapshot.pool === undefined) {
			this.#hasMissed = false;
			return Infinity;
		}

		if (observation.isPosted === true && observation.failure !== undefined) {
			// Only the process whose scan has failed may end idle times because of that. Any process can post a failure.
			return Infinity;
		}

		this.#sight.remember(snapshot, observation);
		try {
			return observation.isPosted === true
				? await this.#lookAtPosted(snapshot, observation)
				: await this.#apply(snapshot, observation);
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			this.#hasMissed = !hasCode(error, 'wrong-machine');
			return Infinity;
		}
	}

	/**
	Uses a posted scan only to end idle times, because any process can post scans. If the process that posts the scans
	does not act, this process scans and acts itself.
	*/
	async #lookAtPosted(snapshot: Snapshot, observation: Observation): Promise<number> {
		const {clock, gpus} = this.#world;
		await this.#apply(snapshot, observation);
		const hint = planReclaim(snapshot, observation, this.#sight.at(snapshot, observation, true));
		if (isEmpty(hint.plan)) {
			this.#dueSinceMs = undefined;
			return this.#secondsTo(hint, observation);
		}

		const nowMs = clock.monotonicMs();
		this.#dueSinceMs ??= nowMs;
		if (nowMs - this.#dueSinceMs < patienceMs) {
			return (this.#dueSinceMs + patienceMs - nowMs) / 1000;
		}

		this.#dueSinceMs = undefined;
		const own = await gpus.observe();
		this.#sight.remember(snapshot, own);
		return this.#apply(snapshot, own);
	}

	/** Reads the pool again, and commits what the observation requires. Does nothing if `snapshot` already shows that nothing changes. */
	async #apply(snapshot: Snapshot, observation: Observation): Promise<number> {
		const {store, host, clock} = this.#world;
		const isPosted = observation.isPosted === true;
		const hint = planReclaim(snapshot, observation, this.#sight.at(snapshot, observation, !isPosted));
		if (isEmpty(hint.plan) && !this.#hasMissed) {
			return this.#secondsTo(hint, observation);
		}

		for (let tries = 1; ; tries++) {
			const read = await store.read();
			requirePool(read, host, store);
			requireNoClone(read, host, store.location);
			const isStepped = this.#hasClockStepped(read.now, clock.monotonicMs());
			const seen = this.#hasMissed || isStepped ? unseen(observation) : observation;
			const canAdvance = !isPosted && this.#sight.ageOf(observation) <= freshSeconds;
			const planned = planReclaim(read, seen, this.#sight.at(read, observation, canAdvance));
			const outcome = isEmpty(planned.plan) ? 'done' : await store.commit(planned.plan);
			if (outcome === 'done') {
				this.#hasMissed = false;
				return this.#secondsTo(planned, observation);
			}

			if (tries === mostTries) {
				throw new CanhazgpuError('busy', 'Others kept changing the reservations');
			}

			await clock.sleep(20 * tries * clock.random());
		}
	}

	/** Returns how many seconds from now the plan's next step is due. The plan itself counts from the observation. */
	#secondsTo({nextSeconds}: ReclaimPlan, observation: Observation): number {
		return Math.max(0, nextSeconds - this.#sight.ageOf(observation));
	}

	#hasClockStepped(now: number, ms: number): boolean {
		const last = this.#lastRead;
		this.#lastRead = {now, ms};
		return last !== undefined && now - last.now - (ms - last.ms) / 1000 > mostDriftSeconds;
	}
}

export function createReclaimer(world: EngineWorld): Reclaimer {
	if (world.engine !== undefined) {
		return {look: async () => Infinity, endBeyondLimit: async () => Infinity, miss: () => undefined};
	}

	const reclaimer = new IdleReclaimer(world);
	return {
		look: async (snapshot, observation) => reclaimer.look(snapshot, observation),
		endBeyondLimit: async (snapshot) => reclaimer.endBeyondLimit(snapshot),
		miss() {
			reclaimer.miss();
		},
	};
}
