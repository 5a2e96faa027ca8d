/** Keeps the lease of a running job: sends a heartbeat every minute, reports at once if the lease is lost, and ends the lease after the job. */
import {createWakeSignal} from '../../../core/operations/waiting/wake-signal.js';
import {
	sendHeartbeat,
	endJobLease,
	withJob,
	type HeartbeatResult,
	type JobLease,
} from '../../../core/operations/job-lease.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import {hasCode} from '../../../errors.js';
import {endingText} from '../../../format/events.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, OpenWorld} from '../../../app/contract.js';
import type {EndReason, LeftProcess, ProcessIdentity} from '../../../core/model/types.js';
import {createBackground} from '../background.js';
import {keepReminding} from '../reminding.js';

type ChildIdentity = ProcessIdentity & LeftProcess;

export type JobLeaseKeeper = {
	/** Adds the children of the job to the lease, so that each of them keeps the lease valid if this process is killed. */
	readonly follow: (children: readonly ChildIdentity[]) => void;
	/** Releases the GPUs and records why. Never throws, because the job's exit code matters more. */
	readonly end: (reason: EndReason, left: readonly LeftProcess[]) => Promise<void>;
};

/** How long in ms to retry the release after the job. If every retry fails, the next command that reads the pool releases the GPUs. */
const patienceMs = 10_000;

/** The polling interval. The Go program announces no changes, so only polling shows that it took over a lease. */
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
	readonly model: string | undefined;
};

export function keepJobLease(app: App, world: OpenWorld, {granted, job, model}: Kept): JobLeaseKeeper {
	let jobLease = granted;
	let followed = job;
	let children: readonly LeftProcess[] | undefined;
	const ended = new AbortController();
	const wakeSignal = createWakeSignal();
	const background = createBackground(app.remark);

	const said = new Set<string>();
	const sayOnce = (words: string): void => {
		if (said.has(words)) {
			return;
		}

		said.add(words);
		app.remark(words);
	};

	const sayTakenBack = (index: number, reason: string | undefined): void => {
		const why = reason === undefined ? '' : ` (the recorded reason: ${endingText(reason)})`;
		sayOnce(
			`canhazgpu: GPU ${index} was no longer reserved${why}. Nobody had released it, and the command still runs on it, so it was reserved again.`,
		);
	};

	const withoutReservation = 'canhazgpu: WARNING: the command continues without its reservation';

	const sendHeartbeatOrWarn = async (): Promise<HeartbeatResult> => {
		try {
			return await sendHeartbeat(world, withJob(jobLease, followed, model, children));
		} catch (error) {
			if (hasCode(error, 'wrong-machine') && !ended.signal.aborted) {
				sayOnce(`${withoutReservation}: ${sanitize(error.message)}`);
			}

			throw error;
		}
	};

	const check = async (): Promise<void> => {
		const answer = await sendHeartbeatOrWarn();
		jobLease = answer.jobLease;
		for (const {index, reason} of answer.takenBack) {
			sayTakenBack(index, reason);
		}

		if (answer.kind === 'lost' && !ended.signal.aborted) {
			app.remark(`${withoutReservation}: ${lossText(answer.gpus)}`);
		}
	};

	const heartbeats = (async () => {
		while (!ended.signal.aborted && jobLease.gpus.length > 0) {
			// If the store is unreachable, the job continues and the store is read again later.
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

	const giveBack = async (reason: EndReason, left: readonly LeftProcess[]): Promise<void> => {
		const untilMs = app.clock.monotonicMs() + patienceMs;
		while (jobLease.gpus.length > 0) {
			try {
				await endJobLease(world, withJob(jobLease, followed, model), reason, left);
				return;
			} catch (error) {
				if (hasCode(error, 'no-pool') || hasCode(error, 'wrong-machine')) {
					// The store lost all data, or the pool moved and the move ended the lease. So nothing is left to release.
					return;
				}

				if (app.clock.monotonicMs() > untilMs) {
					const why = error instanceof Error ? sanitize(error.message) : 'unknown error';
					app.remark(
						`canhazgpu: the GPUs could not be released. They will be released once the store can be written again. The reason: ${why}`,
					);
					return;
				}
			}

			await app.clock.sleep(250);
		}
	};

	return {
		follow([first, ...others]) {
			followed = first ?? followed;
			children = others.length === 0 ? undefined : others;
			wakeSignal.wake();
		},
		async end(reason, left) {
			ended.abort();
			// Stopping reminders can take a second, so it does not delay the release of the GPUs.
			const reminding = stopReminding();
			await background.attempt(async () => heartbeats);
			await background.attempt(async () => (await listening)?.());
			await background.attempt(async () => giveBack(reason, left));
			await background.attempt(async () => reminding);
		},
	};
}
