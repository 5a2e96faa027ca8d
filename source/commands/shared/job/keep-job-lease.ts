/** Keeps the lease of a running job: its heart beats every minute, its loss is said at once, and it ends once. */
import {createWakeSignal} from '../../../core/operations/waiting/wake-signal.js';
import {
	sendHeartbeat,
	endJobLease,
	withJob,
	type HeartbeatResult,
	type JobLease,
} from '../../../core/operations/job-lease.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import {CanhazgpuError} from '../../../errors.js';
import {endingText} from '../../../format/events.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, OpenWorld} from '../../../app/contract.js';
import type {EndReason, LeftProcess, ProcessIdentity} from '../../../core/model/types.js';
import {createBackground} from '../background.js';
import {keepReminding} from '../reminding.js';

export type JobLeaseKeeper = {
	/** Names another process of the job, with which the lease stays if this process is killed. */
	readonly follow: (job: ProcessIdentity) => void;
	/** Gives the GPUs back, with the reason and what the job has left in their record. Never throws: the job's own exit code counts more. */
	readonly end: (reason: EndReason, left: readonly LeftProcess[]) => Promise<void>;
};

/** After the job's end the store may be away; the GPUs come back anyway, since the job is dead. */
const patienceMs = 10_000;

/** The Go peer announces no change, so a lease that it took is only seen by a read. */
const pollMs = 5000;

type Lost = Extract<HeartbeatResult, {kind: 'lost'}>['gpus'];

const lossText = (lost: Lost): string =>
	lost
		.map(
			({index, holder}) =>
				`GPU ${index} ${holder === undefined ? 'was released' : `now belongs to ${sanitize(ownerOf(holder))}`}`,
		)
		.join(', ');

type Kept = {
	readonly granted: JobLease;
	readonly job: ProcessIdentity;
	/** The model that the command names, if it does. */
	readonly model: string | undefined;
};

export function keepJobLease(app: App, world: OpenWorld, {granted, job, model}: Kept): JobLeaseKeeper {
	let jobLease = granted;
	let followed = job;
	const ended = new AbortController();
	const wakeSignal = createWakeSignal();
	const background = createBackground(app.remark);

	const said = new Set<string>();
	const sayTakenBack = (index: number, reason: string | undefined): void => {
		const why = reason === undefined ? '' : ` (its record said: ${endingText(reason)})`;
		const words = `canhazgpu: GPU ${index} had become free${why}. Nobody had released it and the command runs on it, so it was taken back.`;
		if (said.has(words)) {
			return;
		}

		said.add(words);
		app.remark(words);
	};

	const check = async (): Promise<void> => {
		const answer = await sendHeartbeat(world, withJob(jobLease, followed, model));
		// From now on only the rest is held, so a loss is said once.
		jobLease = answer.jobLease;
		for (const {index, reason} of answer.takenBack) {
			sayTakenBack(index, reason);
		}

		if (answer.kind === 'lost' && !ended.signal.aborted) {
			app.remark(`canhazgpu: WARNING: the command goes on without its reservation: ${lossText(answer.gpus)}`);
		}
	};

	const heartbeats = (async () => {
		while (!ended.signal.aborted && jobLease.gpus.length > 0) {
			// A store that is away is heard of again; the job goes on.
			await background.attempt(check);
			await wakeSignal.wait(world.clock, pollMs, ended.signal);
		}
	})();
	const stopReminding = keepReminding(app, world, app.remark);
	const listening = background.attempt(async () =>
		world.store.subscribe({
			changed(event) {
				const isOurs =
					event === undefined || event.kind === 'pool' || event.gpus.some((index) => jobLease.gpus.includes(index));
				if (isOurs) {
					wakeSignal.wake();
				}
			},
			restored() {
				wakeSignal.wake();
			},
		}),
	);

	/** Until it is done, or is left to the next reader. */
	const giveBack = async (reason: EndReason, left: readonly LeftProcess[]): Promise<void> => {
		const untilMs = app.clock.monotonicMs() + patienceMs;
		while (jobLease.gpus.length > 0) {
			try {
				await endJobLease(world, withJob(jobLease, followed, model), reason, left);
				return;
			} catch (error) {
				if (error instanceof CanhazgpuError && error.code === 'no-pool') {
					// Lost with all its data: nothing is left to give back.
					return;
				}

				if (app.clock.monotonicMs() > untilMs) {
					const why = error instanceof Error ? sanitize(error.message) : 'unknown error';
					app.remark(
						`canhazgpu: the GPUs could not be given back now. The next look at the pool does it, once it can be written: ${why}`,
					);
					return;
				}
			}

			await app.clock.sleep(250);
		}
	};

	return {
		follow(other) {
			followed = other;
			wakeSignal.wake();
		},
		async end(reason, left) {
			ended.abort();
			// Its last words may take a second; the GPUs do not wait for them.
			const reminding = stopReminding();
			await background.attempt(async () => heartbeats);
			await background.attempt(async () => (await listening)?.());
			await background.attempt(async () => giveBack(reason, left));
			await background.attempt(async () => reminding);
		},
	};
}
