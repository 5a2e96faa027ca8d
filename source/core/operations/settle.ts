/** Changes that may be planned again after each read and need no answer: they are repeated until there is nothing left to change. */
import {isEmpty, type Plan} from '../model/plan.js';
import type {World} from '../model/ports.js';
import type {Snapshot} from '../model/types.js';
import {backoffMs, busy, isUnreachable, leastTries, patienceMs} from './change-once.js';

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
