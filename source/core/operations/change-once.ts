/**
Making one change of state exactly once or not at all, whatever becomes of the requests and answers that carry it; and changes that need no answer,
which are planned again after each read until there is nothing left to change.

Every attempt of a change bears the id of the change, and the store carries out at most one of them: a request that comes late, after the next attempt
was sent or after the caller was told that nothing was done, does nothing.
*/
import {secondsUntilGrants} from '../rules/pool/alerts.js';
import {CanhazgpuError, hasCode} from '../../errors.js';
import {emptyPlan, isEmpty, withdrawn, type Plan} from '../model/plan.js';
import type {Clock, World} from '../model/ports.js';
import type {Snapshot} from '../model/types.js';

/** After this long a conflict is reported as "busy". */
const patienceMs = 10_000;
/** Minimum number of attempts. On a busy machine, one read of an embedded pool can take seconds. */
const leastTries = 5;
/** After this long without a store, a change is given up. Verbs promise an answer within 6 s. */
const outageMs = 5000;
const lockedWaitMs = 20;
const shortestWaitMs = 2;
const longestWaitMs = 250;
/**
After this long a conflict about leases is reported. Each conflict is a change that somebody else has made, so that a crowd that gives back its GPUs
at the same moment is through with it some time; who is sent away instead keeps GPUs from others.
*/
const leasePatienceMs = 60_000;
/** The pause after a conflict about leases grows no further than after so many conflicts, to 16 ms: who gives something back goes before those who wait. */
const briefTries = 3;
/** After so many conflicts those who collide give something back themselves: asking at once, they would only keep each other from the store. */
const hastyTries = 32;

type Attempt<Result> = {readonly plan: Plan; readonly result: Result};

export type ChangeOptions<Result> = {
	/** Reads what the attempts go by; with an id, it also asks which attempt of that change was carried out. */
	readonly read: (change: string | undefined) => Promise<Snapshot>;
	/** Makes the plan from what was read. It is called again after a conflict. An empty plan ends it without a change. */
	readonly attempt: (snapshot: Snapshot) => Attempt<Result> | Promise<Attempt<Result>>;
	/**
	Leases alone decide, and are changed: after a conflict the queue is not read again, and the next attempt follows at once, so that who gives
	something back is not held up by the crowd that waits for it. Leases that have ended may then still be in what the attempt gets.
	*/
	readonly isAboutLeases?: boolean;
	/** The verb that shows whether the change was made, for a caller who gets no answer. `status` by default. */
	readonly shownBy?: 'status' | 'queue';
};

const isUnreachable = (error: unknown): boolean => hasCode(error, 'store-unreachable');

/** Doubles from 2 ms to 250 ms, each a random share of it: so that many who collide spread out. */
const backoffMs = (tries: number, random: number): number =>
	Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(tries, 10)) * (0.25 + 0.75 * random);

/** @param lockedIn - What is typed to look after the store, when the lock of the Go program was held all the time, which a crash of it may leave behind. */
const busy = (lockedIn?: string, forMs = patienceMs): CanhazgpuError =>
	lockedIn === undefined
		? new CanhazgpuError('busy', `The GPU pool is too busy: others kept changing it for ${forMs / 1000} seconds`, {
				hint: 'Nothing was changed. Try again.',
			})
		: new CanhazgpuError(
				'busy',
				'The GPU pool is too busy: its lock canhazgpu:allocation_lock was held for 10 seconds',
				{
					hint: `Nothing was changed. The Go program holds it while it hands out GPUs. If none runs: ${lockedIn} del canhazgpu:allocation_lock`,
				},
			);

/** The same error, for a caller whose change may have been made, or be made yet by a request that is still on its way. */
const unsure = (error: unknown, shownBy: 'status' | 'queue'): unknown =>
	error instanceof CanhazgpuError
		? new CanhazgpuError(error.code, error.message, {
				hint: [error.hint, `It may have been done, or be done yet: see canhazgpu ${shownBy} before you try again.`]
					.filter((line) => line !== undefined)
					.join(' '),
				cause: error.cause,
				details: error.details,
			})
		: error;

/** Returns the result for the caller, or throws. */
type End<Result> = () => Result;

class OneChange<Result> {
	readonly #store: World['store'];
	readonly #clock: Clock;
	readonly #options: ChangeOptions<Result>;
	readonly #id: string;
	readonly #startMs: number;
	/** By the number of the attempt. */
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

	/** Settles it by what was read, or sends the next attempt. Undefined: the next read tells. */
	async #endOrSend(snapshot: Snapshot): Promise<End<Result> | undefined> {
		const {attemptDone} = snapshot;
		if (attemptDone !== undefined) {
			return this.#ends.get(attemptDone);
		}

		// A store that can be read and takes no changes is as good as away. One that is merely slow gets as long as one that is busy.
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

		// A request that is still on its way must not do what was reported as not done.
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

	/** Undefined: nothing was done, or no one knows. */
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

	/** Reads until the store answers, for at most 5 s; then the first error stands. */
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
			// Others clear away what is dead, and need no help: no one's own leases depend on it.
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

/**
Makes one change of state, atomically against what was read.

@returns What the attempt that was carried out said.
@throws CanhazgpuError `busy`, `store-unreachable`, whatever `read` or `attempt` throws. Where the change may have been made all the same,
the hint says so.
*/
export const changeOnce = async <Result>(
	world: Pick<World, 'store' | 'clock'>,
	options: ChangeOptions<Result>,
): Promise<Result> => new OneChange(world, options).make();

type Settling<Planned extends {readonly plan: Plan}> = {
	readonly read: () => Promise<Snapshot>;
	/** @param failures - How many plans in a row were not carried out. */
	readonly plan: (snapshot: Snapshot, failures: number) => Planned | Promise<Planned>;
	/** Called with each plan that was carried out. */
	readonly committed?: (planned: Planned) => void;
};

/**
Reads and commits what is planned, again and again, until the plan is empty.

@returns The last read, and what was planned for it.
@throws CanhazgpuError `busy` after ten seconds; whatever `read`, `plan` or the store throws. A commit whose answer was lost is not an error: the
next read shows whether it was carried out.
*/
export async function commitUntilSettled<Planned extends {readonly plan: Plan}>(
	{store, clock}: Pick<World, 'store' | 'clock'>,
	{read, plan, committed}: Settling<Planned>,
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

		const outcome = await store.commit(planned.plan).catch((error: unknown) => {
			if (!isUnreachable(error) || isOver()) {
				throw error;
			}
		});
		if (outcome === 'done') {
			failures = 0;
			committed?.(planned);
		} else {
			await clock.sleep(backoffMs(failures++, clock.random()));
		}

		if (isOver() && tries >= leastTries) {
			throw busy();
		}
	}
}
