/** How `run` and `reserve` wait for their GPUs, and how waiting ends. */
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
	/** Called off by a signal: exit with 128 and its number. */
	| {readonly kind: 'interrupted'; readonly exitCode: number};

/** A notice that hangs keeps the user's shell no longer than this. */
const servedMs = 2000;

/** The store was away as the waiting ended. */
const unsureText =
	'The store is away: this position in the queue is dropped once it is back. What was got in the last moment shows: canhazgpu status';

/** A user who has waited for long may look elsewhere by now. */
export async function remindOfGrant(
	app: App,
	{requester, note}: AcquireRequest,
	{gpus, leaseId}: Grant,
): Promise<void> {
	const {account, label} = requester;
	const problems = await app.notify(
		{
			kind: 'served',
			account,
			label: label === account ? undefined : label,
			gpus,
			leaseId,
			note,
		},
		AbortSignal.timeout(servedMs),
	);
	for (const problem of problems) {
		app.remark(`canhazgpu: ${sanitize(problem)}`);
	}
}

/** `--on any` of another host gives the entry in the queue here its id, to be able to take it out again: as long as it holds nothing. */
function givenEntryId({environment}: App): string | undefined {
	const id = environment[queueEntryVariable];
	return id !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/v.test(id) ? id : undefined;
}

type AcquireOptions = {
	readonly waitSeconds: number | undefined;
	/** Of the caller, who ends it: a signal must be handled until the GPUs have an owner. */
	readonly interruption: Interruption;
	/** Nothing is shown of the waiting. */
	readonly isSilent?: boolean;
	/** Resolves once the command runs: what concerns others, or comes by the way, is left until then. Undefined where none is started. */
	readonly started?: Promise<void> | undefined;
};

/**
Gets the GPUs, showing on stderr how the waiting goes.

@throws CanhazgpuError `unavailable` when there were not enough in time, or another user took this entry out of the queue.
*/
export async function acquireShown(
	app: App,
	world: OpenWorld,
	request: AcquireRequest,
	{waitSeconds, interruption, isSilent = false, started}: AcquireOptions,
): Promise<Acquired> {
	const entryId = givenEntryId(app);
	const line = createWaitingLine(app);
	const background = createBackground(app.progress);
	// Only who waits has time for it: what is granted at once starts without loading any of it.
	let stopReminding: (() => Promise<void>) | undefined;
	const left: Array<() => Promise<void>> = [];
	const leave = (work: () => Promise<void>): void => {
		left.push(work);
	};

	try {
		const answer = await acquire(world, request, {
			waitSeconds,
			signal: interruption.signal,
			entryId,
			onProgress(progress) {
				stopReminding ??= keepReminding(app, world, app.progress);
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

			// No one waits for a notice to be delivered.
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
							: 'Left the queue. To wait for longer, give --wait more time or leave it out.',
				});
			}

			case 'removed': {
				if (entryId !== undefined) {
					app.remark('canhazgpu: left the queue here, for a host that can serve it now');
					return {kind: 'interrupted', exitCode: movedExitCode};
				}

				throw new CanhazgpuError('unavailable', 'Somebody took this request out of the queue', {
					hint: 'Nothing is held. To wait again, run it again.',
				});
			}
		}
	} finally {
		line.end();
		await background.attempt(async () => stopReminding?.());
	}
}
