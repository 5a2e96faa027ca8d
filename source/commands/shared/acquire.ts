import {acquire} from '../../core/operations/waiting/acquire.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import {refusalMessage} from '../../format/queue/refusal.js';
import type {App, Interruption, OpenWorld} from '../../app/contract.js';
import type {AcquireRequest, Grant} from '../../core/rules/request/request.js';
import {createBackground} from './background.js';
import {movedExitCode, queueEntryVariable} from './hosts/moving.js';
import {keepReminding} from './reminding.js';
import {createWaitingLine} from './waiting-line.js';

type Acquired =
	| Grant
	/** A signal ended the wait. The exit code is 128 plus the number of the signal. */
	| {readonly kind: 'interrupted'; readonly exitCode: number};

const unsureText =
	'The store cannot be reached. Once it is back, this request is removed from the queue. To see whether it got GPUs at the last moment: canhazgpu status';

/** Notifies a user who may have stopped watching during a long wait. */
export async function remindOfGrant(
	app: App,
	{requester, note}: AcquireRequest,
	{gpus, leaseId}: Grant,
): Promise<void> {
	const {account, label} = requester;
	const problems = await app.notify({
		kind: 'served',
		account,
		label: label === account ? undefined : label,
		gpus,
		leaseId,
		note,
	});
	for (const problem of problems) {
		app.remark(`canhazgpu: ${sanitize(problem)}`);
	}
}

/** Returns the id that another host's `--on any` chose for this queue entry. That host uses the id to cancel the entry. */
function givenEntryId({environment}: App): string | undefined {
	const id = environment[queueEntryVariable];
	return id !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/v.test(id) ? id : undefined;
}

type AcquireOptions = {
	readonly waitSeconds: number | undefined;
	/** Created and ended by the caller, because signals must be handled until a job or a reservation owns the GPUs. */
	readonly interruption: Interruption;
	/** The id of the lease. Default: a new id. */
	readonly leaseId?: string | undefined;
	/** The id of the queue entry. Default: the id that another host has chosen, or a new id. */
	readonly entryId?: string | undefined;
	readonly isSilent?: boolean;
	/** Resolves when the user's command has started. Notifications are sent only afterwards. Undefined if there is no command. */
	readonly started?: Promise<void> | undefined;
	/** Called when the request has joined the queue. */
	readonly waiting?: (() => void) | undefined;
};

/** Requests GPUs and shows the progress of the wait. Throws `unavailable` if too few GPUs became free in time. */
export async function acquireShown(
	app: App,
	world: OpenWorld,
	request: AcquireRequest,
	{waitSeconds, interruption, leaseId, entryId, isSilent = false, started, waiting}: AcquireOptions,
): Promise<Acquired> {
	const movableId = entryId === undefined ? givenEntryId(app) : undefined;
	const line = createWaitingLine(app);
	const background = createBackground(app.progress);
	// Reminders are loaded only for a wait, so that an immediate grant starts faster.
	let stopReminding: (() => Promise<void>) | undefined;
	const left: Array<() => Promise<void>> = [];
	const leave = (work: () => Promise<void>): void => {
		left.push(work);
	};

	try {
		const answer = await acquire(world, request, {
			waitSeconds,
			signal: interruption.signal,
			// A monitor goes on after a command that was typed in it.
			leaveUntil: app.onWaiting === undefined ? undefined : interruption.signal,
			entryId: entryId ?? movableId,
			leaseId,
			onProgress(progress) {
				if (stopReminding === undefined) {
					stopReminding = keepReminding(app, world, app.progress);
					waiting?.();
				}

				if (!isSilent) {
					line.show(progress);
				}
			},
			afterwards: started && leave,
			failed: background.failed,
		});
		line.end();
		if (answer.kind === 'granted') {
			if (stopReminding !== undefined) {
				leave(async () => remindOfGrant(app, request, answer));
			}

			void (async () => {
				await started;
				await Promise.all(left.map(async (work) => background.attempt(work)));
			})();

			return answer;
		}

		if (answer.kind === 'refused') {
			const {message, hint} = refusalMessage(answer, {
				canForce: request.tenure.type === 'manual',
				account: request.requester.account,
			});
			throw new CanhazgpuError('unavailable', message, {hint, details: answer});
		}

		switch (answer.reason) {
			case 'aborted': {
				app.remark(
					answer.isUnsure === true
						? unsureText
						: stopReminding === undefined
							? 'Nothing was reserved'
							: 'Left the queue',
				);
				return {kind: 'interrupted', exitCode: interruption.exitCode()};
			}

			case 'timeout': {
				throw new CanhazgpuError('unavailable', 'The GPUs did not become free in time', {
					hint:
						answer.isUnsure === true
							? unsureText
							: 'Left the queue. To wait longer, give --wait more time or leave it out.',
				});
			}

			case 'removed': {
				if (movableId !== undefined) {
					app.remark('canhazgpu: this request was removed from the queue of this host, and holds no GPUs here');
					return {kind: 'interrupted', exitCode: movedExitCode};
				}

				throw new CanhazgpuError('unavailable', 'Somebody removed this request from the queue', {
					hint: 'It holds no GPUs. To wait again, repeat the command.',
				});
			}
		}
	} finally {
		line.end();
		await background.attempt(async () => stopReminding?.());
	}
}
