/**
Keeps the lease of a running job: its heart beats every minute, its loss is said at once, and it ends once.
*/
import {setTimeout as delay} from 'node:timers/promises';
import {beat, finish, leaseHeartbeatMs, nameJob, type Beat, type Hold} from '../core/holding.js';
import {ownerOf} from '../core/ownership.js';
import {CanhazgpuError} from '../errors.js';
import {sanitize} from '../format/text.js';
import type {App, OpenWorld} from '../application.js';
import type {EndReason, ProcessIdentity} from '../core/types.js';

export type Keeper = {
	/** Gives the GPUs back, with the reason in their record. Never throws: the job's own exit code counts more. */
	readonly end: (reason: EndReason) => Promise<void>;
};

/** After the job's end the store may be away; the GPUs come back anyway, since the job is dead. */
const patienceMs = 10_000;

type Lost = Extract<Beat, {kind: 'lost'}>['gpus'];

const lossWords = (lost: Lost): string =>
	lost
		.map(
			({index, holder}) =>
				`GPU ${index} ${holder === undefined ? 'was released' : `now belongs to ${sanitize(ownerOf(holder))}`}`,
		)
		.join(', ');

export function keepHold(app: App, world: OpenWorld, granted: Hold, job: ProcessIdentity): Keeper {
	let hold: Hold = {...granted, lease: {...granted.lease, job}};
	const ended = new AbortController();
	let isChecking = false;
	let isAgain = false;

	const check = async (): Promise<void> => {
		if (isChecking) {
			isAgain = true;
			return;
		}

		isChecking = true;
		try {
			do {
				isAgain = false;
				const answer = await beat(world, hold);
				if (answer.kind === 'lost' && !ended.signal.aborted) {
					app.remark(`canhazgpu: WARNING: the command goes on without its reservation: ${lossWords(answer.gpus)}`);
					// Said once: from now on only the rest is held.
					const lost = new Set(answer.gpus.map(({index}) => index));
					hold = {...hold, gpus: hold.gpus.filter((index) => !lost.has(index))};
				}
			} while (isAgain && !ended.signal.aborted);
		} catch (error) {
			// A store that is away is heard of again; the job goes on.
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}
		} finally {
			isChecking = false;
		}
	};

	const beats = (async () => {
		await nameJob(world, hold, job).catch(() => undefined);
		while (!ended.signal.aborted && hold.gpus.length > 0) {
			await delay(leaseHeartbeatMs, undefined, {signal: ended.signal}).catch(() => undefined);
			if (!ended.signal.aborted) {
				await check();
			}
		}
	})();
	const listening = world.store
		.subscribe({
			changed(event) {
				const isOurs =
					event === undefined || event.kind === 'pool' || event.gpus.some((index) => hold.gpus.includes(index));
				if (isOurs && event?.kind !== 'granted') {
					void check();
				}
			},
			restored() {
				void check();
			},
		})
		.catch(() => undefined);

	return {
		async end(reason) {
			ended.abort();
			await beats;
			const unsubscribe = await listening;
			await unsubscribe?.();
			const untilMs = app.clock.monotonicMs() + patienceMs;
			for (;;) {
				try {
					await finish(world, hold, reason);
					return;
				} catch (error) {
					if (app.clock.monotonicMs() > untilMs) {
						const why = error instanceof Error ? sanitize(error.message) : 'unknown error';
						app.remark(`canhazgpu: the GPUs could not be given back now, they will be at anybody's next look: ${why}`);
						return;
					}
				}

				await app.clock.sleep(250);
			}
		},
	};
}
