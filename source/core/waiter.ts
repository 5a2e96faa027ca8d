/**
One who waits in line. Woken by events, with a slow tick in case one was missed; looks at the GPUs only when there is something
to take. Design section 7.
*/
import {CanhazgpuError} from '../errors.js';
import {isAwakeOn, leaseFor, type AcquireRequest, type Grant} from './acquisition.js';
import {holdingsOf, planAdvance, type Advance, type EntryRecord} from './advance.js';
import {createBell} from './bell.js';
import {estimateWaits} from './estimates.js';
import {isLeased} from './lifecycle.js';
import {entryHeartbeatTimeoutSeconds} from './liveness.js';
import {emptyPlan} from './plan.js';
import type {World} from './ports.js';
import {entryFor, planEntryHeartbeat, planJoin, planLeave} from './queue.js';
import {checkWanted} from './request.js';
import {readLiving, transact} from './transaction.js';
import type {Observation, Snapshot} from './types.js';
import {useOf} from './use.js';
import {heartbeatSeconds, isWokenBy, nextLookMs, withoutLeavers} from './wait-schedule.js';
import type {GaveUp, Progress, WaitOptions} from './wait-types.js';

const conflictWaitMs = 20;

/** What can pass while one waits. Anything else ends the waiting. */
const passing = new Set(['store-unreachable', 'store-refused', 'no-pool', 'pool-garbage', 'busy']);

const isPassing = (error: unknown): error is CanhazgpuError =>
	error instanceof CanhazgpuError && passing.has(error.code);

export type WaiterOptions = {
	readonly world: World;
	readonly request: AcquireRequest;
	readonly options: WaitOptions;
	/** Given to the first GPU that is held and to the last alike. */
	readonly leaseId: string;
	/** Looks at the GPUs; keeps what it saw for 2 s. */
	readonly look: () => Promise<Observation>;
};

/** Lives from its joining to its end. */
export class Waiter {
	readonly #world: World;
	readonly #request: AcquireRequest;
	readonly #options: WaitOptions;
	readonly #leaseId: string;
	readonly #look: () => Promise<Observation>;
	readonly #bell = createBell();
	#entryId: string;
	#lastBeat = 0;
	#hadOutage = false;
	/** What the next wait goes by. */
	#seen: Snapshot | undefined;
	#lastNews = '';

	constructor({world, request, options, leaseId, look}: WaiterOptions) {
		this.#world = world;
		this.#request = request;
		this.#options = options;
		this.#leaseId = leaseId;
		this.#look = look;
		this.#entryId = world.clock.uuid();
	}

	/** Joins the end of the line and waits there. Whatever ends it, nothing is left behind. */
	async wait(): Promise<Grant | GaveUp> {
		const {store, clock} = this.#world;
		const {waitSeconds = Infinity, signal} = this.#options;
		const deadlineMs = clock.monotonicMs() + waitSeconds * 1000;
		// Listening first: whatever happens after the read that follows rings.
		const unsubscribe = await store.subscribe({
			changed: (event) => {
				this.#seen &&= withoutLeavers(this.#seen, event);
				if (isWokenBy(event, this.#seen, this.#entryId)) {
					this.#bell.ring();
				}
			},
			restored: () => {
				this.#bell.ring();
			},
			lost: (reason) => {
				this.#tell({kind: 'store-lost', reason});
			},
		});
		try {
			await this.#join();
			while (!signal.aborted) {
				const isLast = clock.monotonicMs() >= deadlineMs;
				const end = await this.#tryUnlessAway();
				if (end !== undefined) {
					return end;
				}

				if (isLast) {
					await this.#leave();
					return {kind: 'gave-up', reason: 'timeout'};
				}

				const untilLookMs = nextLookMs(this.#seen, this.#entryId, this.#lastBeat, clock.random());
				await this.#bell.wait(clock, Math.min(untilLookMs, deadlineMs - clock.monotonicMs()), signal);
			}

			await this.#leave();
			return {kind: 'gave-up', reason: 'aborted'};
		} catch (error) {
			await this.#leave();
			throw error;
		} finally {
			await unsubscribe();
		}
	}

	async #join(): Promise<void> {
		const id = this.#entryId;
		const {requester, tenure, note} = this.#request;
		await transact(this.#world, {
			attempt: (snapshot) => {
				const wanted = checkWanted(this.#request, snapshot.gpus.length);
				this.#lastBeat = snapshot.now;
				const {waitSeconds} = this.#options;
				const entry = entryFor({id, requester, wanted, tenure, note, waitSeconds}, this.#world.host, snapshot.now);
				return {plan: planJoin(entry), result: undefined};
			},
			happened: (snapshot) => snapshot.queue.some((record) => record.id === id),
		});
	}

	/** A store that is away is waited for: the place in line is kept. */
	async #tryUnlessAway(): Promise<Grant | GaveUp | undefined> {
		try {
			return await this.#try();
		} catch (error) {
			if (!isPassing(error)) {
				throw error;
			}

			this.#hadOutage = true;
			this.#seen = undefined;
			this.#tell({kind: 'store-lost', reason: error.message});
			return undefined;
		}
	}

	/** Takes whatever can be taken now. Undefined: still waiting. */
	async #try(): Promise<Grant | GaveUp | undefined> {
		const {clock, store} = this.#world;
		for (;;) {
			const snapshot = await readLiving(this.#world, this.#request.requester.label);
			// A pool that was made smaller may have become too small for ever.
			const wanted = checkWanted(this.#request, snapshot.gpus.length);
			this.#seen = snapshot;
			const own = snapshot.queue.find(
				(record): record is EntryRecord => record.kind === 'entry' && record.id === this.#entryId,
			);
			if (own === undefined) {
				const end = await this.#missing(snapshot);
				if (end !== undefined) {
					return end;
				}

				continue;
			}

			this.#hadOutage = false;
			if (snapshot.now - this.#lastBeat >= heartbeatSeconds) {
				// A conflict is as good: somebody changed the entry, so it was seen.
				await store.commit(planEntryHeartbeat(snapshot, own));
				this.#lastBeat = snapshot.now;
				continue;
			}

			const advance = await this.#plan(snapshot);
			if (advance === 'read again') {
				continue;
			}

			if (advance.kind === 'nothing') {
				this.#tell({
					kind: 'waiting',
					position: snapshot.queue.indexOf(own) + 1,
					waiting: snapshot.queue.length,
					wanted,
					held: holdingsOf(snapshot, own.id).map(({index}) => index),
					estimateSeconds: estimateWaits(snapshot).get(own.id),
				});
				return undefined;
			}

			const outcome = await store.commit(advance.plan);
			if (outcome === 'done' && advance.kind === 'complete') {
				const {expiryTime} = leaseFor(this.#request, this.#leaseId, this.#world.host, snapshot.now);
				return {kind: 'granted', gpus: advance.gpus, leaseId: this.#leaseId, expiryTime};
			}

			if (outcome !== 'done') {
				await clock.sleep(conflictWaitMs * (0.25 + clock.random()));
			}
		}
	}

	async #plan(snapshot: Snapshot): Promise<Advance | 'read again'> {
		const {host, clock, memoryThresholdMiB} = this.#world;
		const options = {
			lease: leaseFor(this.#request, this.#leaseId, host, snapshot.now),
			isAwake: isAwakeOn(host),
		};
		const blind = planAdvance(snapshot, this.#entryId, {...options, isUsable: () => true});
		if (blind.kind === 'nothing' || this.#request.force === true) {
			return blind;
		}

		const readAtMs = clock.monotonicMs();
		const {takenAtMs, failure, gpus} = await this.#look();
		if (takenAtMs > readAtMs) {
			// Scan, then read, then commit.
			return 'read again';
		}

		const isIdle = (index: number): boolean =>
			useOf(
				gpus.find((gpu) => gpu.index === index),
				memoryThresholdMiB,
			).kind === 'idle';
		return planAdvance(snapshot, this.#entryId, {
			...options,
			isUsable: (index) => failure === undefined && isIdle(index),
		});
	}

	/** Our entry is gone from the line. Undefined: joined again. */
	async #missing(snapshot: Snapshot): Promise<Grant | GaveUp | undefined> {
		const mine = snapshot.gpus
			.filter(isLeased)
			.filter(({lease}) => lease.leaseId === this.#leaseId && lease.partialQueueId === undefined);
		if (mine.length > 0) {
			// The answer to our last commit was lost, not the commit.
			const [{lease}] = mine as [(typeof mine)[0]];
			return {
				kind: 'granted',
				gpus: mine.map(({index}) => index),
				leaseId: this.#leaseId,
				expiryTime: lease.expiryTime,
			};
		}

		if (!this.#hadOutage && snapshot.now - this.#lastBeat < entryHeartbeatTimeoutSeconds) {
			return {kind: 'gave-up', reason: 'removed'};
		}

		// Lost with the store's data, or dropped by a peer while we were stopped.
		this.#entryId = this.#world.clock.uuid();
		await this.#join();
		this.#tell({kind: 'rejoined'});
		return undefined;
	}

	async #leave(): Promise<void> {
		const user = this.#request.requester.account;
		try {
			await transact(this.#world, {
				attempt: (snapshot) => {
					const own = snapshot.queue.find(({id}) => id === this.#entryId);
					return {plan: own === undefined ? emptyPlan : planLeave(snapshot, own, user), result: undefined};
				},
				happened: (snapshot) => snapshot.queue.every(({id}) => id !== this.#entryId),
			});
		} catch (error) {
			// Nobody can be told now. The entry is dropped at the next look, for this process will be gone.
			if (!isPassing(error)) {
				throw error;
			}
		}
	}

	/** Each news once. The estimate alone is none: it changes with every second. */
	#tell(progress: Progress): void {
		const news = JSON.stringify({...progress, estimateSeconds: undefined});
		if (news === this.#lastNews) {
			return;
		}

		this.#lastNews = news;
		this.#options.onProgress(progress);
	}
}
