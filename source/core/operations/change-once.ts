/**
Makes a change exactly once or not at all, even if requests or answers are lost. Each attempt carries the id of the change, and the store executes at
most one attempt. Changes that need no result are made without an id: after each read, they are planned again until nothing is left to change.
*/
import {secondsUntilGrants} from '../rules/pool/alerts.js';
import {CanhazgpuError, hasCode} from '../../errors.js';
import {emptyPlan, isEmpty, withdrawn, type Plan} from '../model/plan.js';
import type {Clock, CommitOutcome, World} from '../model/ports.js';
import type {Snapshot} from '../model/types.js';

/** How long conflicts are retried before they are reported as "busy". */
const patienceMs = 10_000;
/** Minimum number of attempts. On a busy machine, one read of an embedded pool can take seconds. */
const leastTries = 5;
/** How long a change waits for an unreachable store. Commands promise an answer within 6 s. */
const outageMs = 5000;
const lockedWaitMs = 20;
const shortestWaitMs = 2;
const longestWaitMs = 250;
/**
How long a change of leases is retried after conflicts. Each conflict means that another change succeeded, so even
many concurrent releases finish in time.
*/
const leasePatienceMs = 60_000;
/** The pause after a lease conflict doubles this many times, up to 16 ms. Waiting requests pause longer, so that releases go first. */
const briefTries = 3;
/** After this many conflicts, the pause after a lease conflict doubles further, because competing releases slow each other down. */
const hastyTries = 32;

type Attempt<Result> = {readonly plan: Plan; readonly result: Result};

export type ChangeOptions<Result> = {
	/** Reads the pool. If the id of a change is given, also reads which attempt of the change was executed. */
	readonly read: (change: string | undefined) => Promise<Snapshot>;
	/** Plans the change after a read. Called again after a conflict. An empty plan is not committed. */
	readonly attempt: (snapshot: Snapshot) => Attempt<Result> | Promise<Attempt<Result>>;
	/**
	Whether the change depends only on leases. If so, it is retried after only a brief pause when it conflicts.
	Each retry reads the pool without the queue, and the snapshot can contain expired leases.
	*/
	readonly isAboutLeases?: boolean;
	/** The command that shows whether the change was made, for the hint of an error. Default: `status`. */
	readonly shownBy?: 'status' | 'queue' | 'jobs';
};

const isUnreachable = (error: unknown): boolean => hasCode(error, 'store-unreachable');

/** Returns a random pause, so that competitors do not retry at the same time. Its upper limit doubles with each try, from 2 ms to 250 ms. */
const backoffMs = (tries: number, random: number): number =>
	Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(tries, 10)) * (0.25 + 0.75 * random);

/**
Returns the error for too many conflicts. `lockedIn` is the store's shell. It is given if the Go program has
held its lock all the time, perhaps because the Go program crashed.
*/
const busy = (lockedIn?: string, forMs = patienceMs): CanhazgpuError =>
	lockedIn === undefined
		? new CanhazgpuError('busy', `The GPU pool is too busy: others kept changing it for ${forMs / 1000} seconds`, {
				hint: 'Nothing was changed. Try again.',
			})
		: new CanhazgpuError(
				'busy',
				'The GPU pool is too busy: its lock canhazgpu:allocation_lock was held for 10 seconds',
				{
					hint: `Nothing was changed. The Go program of the same name holds this lock while it grants GPUs. If no Go program is running, delete the lock: ${lockedIn} del canhazgpu:allocation_lock`,
				},
			);

/** Returns the same error with a hint that the change may have been made or may still be made. */
const unsure = (error: unknown, shownBy: 'status' | 'queue' | 'jobs'): unknown =>
	error instanceof CanhazgpuError
		? new CanhazgpuError(error.code, error.message, {
				hint: [
					error.hint,
					`The change may have happened, or may still happen: see canhazgpu ${shownBy} before you try again.`,
				]
					.filter((line) => line !== undefined)
					.join(' '),
				cause: error.cause,
				details: error.details,
			})
		: error;

type End<Result> = () => Result;

class OneChange<Result> {
	readonly #store: World['store'];
	readonly #clock: Clock;
	readonly #options: ChangeOptions<Result>;
	readonly #id: string;
	readonly #startMs: number;
	readonly #ends = new Map<number, End<Result>>();
	#attempts = 0;
	#lostAnswers = 0;
	#isLocked = false;
	#lastLoss: unknown;

	constructor({store, clock}: Pick<World, 'store' | 'clock'>, options: ChangeOptions<Result>) {
		this.#store = store;
		this.#clock = clock;
		this.#options = options;
		this.#id = clock.uuid();
		this.#startMs = clock.monotonicMs();
	}

	async make(): Promise<Result> {
		let snapshot = await this.#read();
		for (;;) {
			const end = await this.#endOrSend(snapshot);
			if (end !== undefined) {
				return end();
			}

			snapshot = await this.#readAgain();
		}
	}

	/** Decides after a read how the change ends, or sends the next attempt. Undefined if the pool must be read again. */
	async #endOrSend(snapshot: Snapshot): Promise<End<Result> | undefined> {
		const {attemptDone} = snapshot;
		if (attemptDone !== undefined) {
			return this.#ends.get(attemptDone);
		}

		// Reads work, but answers to writes get lost, perhaps because the store is slow. So the time limit for conflicts also applies here.
		if (this.#lostAnswers > 1 && this.#isOverdue()) {
			throw this.#forCaller(this.#lastLoss);
		}

		const [plan, end] = await this.#plan(snapshot);
		const settling = plan.grants ? secondsUntilGrants(snapshot) : 0;
		if (settling > 0) {
			await this.#clock.sleep(settling * 1000);
			return undefined;
		}

		if (!isEmpty(plan)) {
			return this.#send(++this.#attempts, plan, end);
		}

		// The plan is empty, or planning failed. An earlier attempt whose answer was lost must not be executed any more.
		return this.#lostAnswers === 0 ? end : this.#send(withdrawn, emptyPlan, end);
	}

	async #plan(snapshot: Snapshot): Promise<readonly [Plan, End<Result>]> {
		try {
			const forMs = this.#options.isAboutLeases === true && !this.#isLocked ? leasePatienceMs : patienceMs;
			if (this.#isOverdue(forMs) && this.#attempts >= leastTries) {
				throw busy(this.#isLocked ? this.#store.shell : undefined, forMs);
			}

			const {plan, result} = await this.#options.attempt(snapshot);
			return [plan, () => result];
		} catch (error) {
			return [
				emptyPlan,
				() => {
					throw error;
				},
			];
		}
	}

	/** Sends an attempt. Undefined if the change was not made or the outcome is unknown. */
	async #send(attempt: number, plan: Plan, end: End<Result>): Promise<End<Result> | undefined> {
		this.#ends.set(attempt, end);
		const random = this.#clock.random();
		try {
			const outcome = await this.#store.commit({...plan, change: {id: this.#id, attempt}});
			if (outcome === 'done') {
				return end;
			}

			this.#isLocked = outcome === 'locked';
			await this.#clock.sleep(
				this.#isLocked ? lockedWaitMs * (0.5 + random) : backoffMs(this.#triesToWaitFor(), random),
			);
		} catch (error) {
			if (!isUnreachable(error)) {
				throw this.#forCaller(error);
			}

			this.#lostAnswers++;
			this.#lastLoss = error;
			if (this.#lostAnswers > 1) {
				await this.#clock.sleep(backoffMs(this.#lostAnswers, random));
			}
		}

		return undefined;
	}

	/** Reads the pool, and retries for 5 s while the store is unreachable. Then throws the first error. */
	async #readAgain(): Promise<Snapshot> {
		const until = this.#clock.monotonicMs() + outageMs;
		for (let tries = 4; ; tries++) {
			try {
				return await this.#read();
			} catch (error) {
				if (!isUnreachable(error) || this.#clock.monotonicMs() > until) {
					throw this.#forCaller(isUnreachable(error) ? (this.#lastLoss ?? error) : error);
				}
			}

			await this.#clock.sleep(backoffMs(tries, this.#clock.random()));
		}
	}

	async #read(): Promise<Snapshot> {
		const change = this.#lostAnswers === 0 ? undefined : this.#id;
		const isAboutLeases = this.#options.isAboutLeases === true;
		const asItIs = async () => this.#store.read({change, withoutQueue: true});
		if (isAboutLeases && this.#attempts > 0) {
			const snapshot = await asItIs();
			if (snapshot.pool !== undefined) {
				return snapshot;
			}
		}

		try {
			return await this.#options.read(change);
		} catch (error) {
			// Conflicts prevented the removal of expired leases. Other processes will remove these leases, and this change does not depend on the
			// removal.
			if (isAboutLeases && hasCode(error, 'busy')) {
				return asItIs();
			}

			throw error;
		}
	}

	#triesToWaitFor(): number {
		return this.#options.isAboutLeases === true
			? Math.max(Math.min(this.#attempts, briefTries), this.#attempts - (hastyTries - briefTries))
			: this.#attempts;
	}

	#isOverdue(forMs = patienceMs): boolean {
		return this.#clock.monotonicMs() - this.#startMs > forMs;
	}

	#forCaller(error: unknown): unknown {
		return this.#lostAnswers === 0 ? error : unsure(error, this.#options.shownBy ?? 'status');
	}
}

/** Makes one change, and returns the result of the executed attempt. Throws `busy`, `store-unreachable`, or an error of `read` or `attempt`. */
export const changeOnce = async <Result>(
	world: Pick<World, 'store' | 'clock'>,
	options: ChangeOptions<Result>,
): Promise<Result> => new OneChange(world, options).make();

type Settling<Planned extends {readonly plan: Plan}> = {
	readonly read: () => Promise<Snapshot>;
	/** Plans the change. `failures` is the number of plans in a row that were not executed. */
	readonly plan: (snapshot: Snapshot, failures: number) => Planned | Promise<Planned>;
	readonly committed?: (planned: Planned) => void;
	/** Whether the plan may stay undone if the store fails to commit it. Then the last read is returned. */
	readonly isOptional?: boolean;
};

/**
Reads, plans and commits until the plan is empty, and returns the last read and its plan. Continues after a lost answer. Throws `busy` after ten
seconds of conflicts, the store's error after ten seconds of lost answers, and the errors of `read` and `plan`.
*/
export async function commitUntilSettled<Planned extends {readonly plan: Plan}>(
	{store, clock}: Pick<World, 'store' | 'clock'>,
	{read, plan, committed, isOptional = false}: Settling<Planned>,
): Promise<{readonly snapshot: Snapshot; readonly planned: Planned}> {
	const untilMs = clock.monotonicMs() + patienceMs;
	const isOver = (): boolean => clock.monotonicMs() > untilMs;
	let failures = 0;
	for (let tries = 1; ; tries++) {
		const snapshot = await read();
		const planned = await plan(snapshot, failures);
		if (isEmpty(planned.plan)) {
			return {snapshot, planned};
		}

		let outcome: CommitOutcome | undefined;
		let loss: CanhazgpuError | undefined;
		try {
			outcome = await store.commit(planned.plan);
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			if (isOptional) {
				return {snapshot, planned};
			}

			if (!isUnreachable(error)) {
				throw error;
			}

			loss = error;
		}

		if (outcome === 'done') {
			failures = 0;
			committed?.(planned);
		} else {
			await clock.sleep(backoffMs(failures++, clock.random()));
		}

		if (isOver() && (loss !== undefined || tries >= leastTries)) {
			throw loss ?? busy();
		}
	}
}
