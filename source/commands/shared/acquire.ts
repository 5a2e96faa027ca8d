/**
What `run` and `reserve` have in common: how many, how long to wait, and how waiting ends.
*/
import {acquire} from '../../core/operations/waiting/acquire.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import {refusalMessage} from '../../format/queue/refusal.js';
import type {App, Interruption, OpenWorld} from '../../app/contract.js';
import type {Flags, Input} from '../../command-line/command.js';
import type {Need} from '../../core/model/types.js';
import {idsFlag, namedPartsOf, usualDurations} from '../../command-line/flags.js';
import type {AcquireRequest, Grant} from '../../core/rules/allocation/request.js';
import {createBackground} from './background.js';
import {instanceNeedOf, needFlags, needOf, needOfInstances} from './need-flags.js';
import {movedExitCode, queueEntryVariable} from './hosts/moving.js';
import {keepReminding} from './reminding.js';
import {createWaitingLine} from './waiting-line.js';

/** The flags by which both say what they want. */
export const wantFlags = (verb: 'run' | 'reserve'): Flags => ({
	gpus: {short: 'g', value: 'N', summary: 'how many GPUs (1)', setting: `${verb}.gpus`},
	'gpu-ids': idsFlag('parts'),
	...needFlags(verb),
	note: {short: 'n', value: 'TEXT', summary: 'what for; everybody sees it', setting: `${verb}.note`, mayBeEmpty: true},
	user: {
		short: 'u',
		value: 'NAME',
		summary: 'the name to show, where people share an account',
		setting: `${verb}.user`,
		mayBeEmpty: true,
		completes: 'labels',
	},
	nonblock: {
		summary: 'do not wait in the queue: exit 3 at once when there are not enough',
		setting: `${verb}.nonblock`,
	},
	wait: {
		short: 'w',
		value: 'TIME',
		summary: 'give up after this long in the queue, with exit code 3',
		setting: `${verb}.wait`,
		mayBeEmpty: true,
		completes: usualDurations,
	},
});

/**
What `run` and `reserve` are asked for.

@throws CanhazgpuError `usage` for flags that contradict each other.
*/
export function wantedOf(
	input: Input,
	verb: 'run' | 'reserve',
): {readonly ids: readonly number[] | undefined; readonly count: number; readonly need: Need | undefined} {
	const named = namedPartsOf(input);
	const mig = instanceNeedOf(input, named);
	const ids = mig === undefined ? (named?.ids ?? input.config.get(`${verb}.gpu-ids`)) : undefined;
	const count = countOf(input, `${verb}.gpus`, mig !== undefined && 'instances' in mig ? mig.instances : ids);
	return {ids, count, need: mig === undefined ? needOf(input, verb, {count, ids}) : needOfInstances(input, verb, mig)};
}

/** What the GPUs are asked for besides: their instances take long to read, and only who wants one waits for that. */
export const detailsFor = (need: Need | undefined): 'parts' | undefined =>
	need?.mig === undefined ? undefined : 'parts';

/** `--gpus` with `--gpu-ids` is fine when it is 1, the usual default of scripts, or equals their count. */
export function countOf(
	input: Input,
	setting: 'run.gpus' | 'reserve.gpus',
	ids: readonly unknown[] | undefined,
): number {
	const count = input.config.get(setting);
	if (ids !== undefined && count !== undefined && count !== 1 && count !== ids.length) {
		throw new CanhazgpuError('usage', `conflicting gpu count (${count}) and gpu ids (count: ${ids.length})`, {
			hint: 'Leave out --gpus: --gpu-ids says how many.',
		});
	}

	return ids?.length ?? count ?? 1;
}

/**
Seconds to wait in the queue; 0 not at all, undefined for as long as it takes. What is typed counts more than what a config file says, and
`--nonblock` more than `--wait`.
*/
export function waitSecondsOf(input: Input, verb: 'run' | 'reserve'): number | undefined {
	const waits = input.has('wait') && !input.has('nonblock');
	return input.config.get(`${verb}.nonblock`) === true && !waits ? 0 : input.config.get(`${verb}.wait`);
}

export type Acquired =
	| Grant
	/** Called off by a signal: exit with 128 and its number. */
	| {readonly kind: 'interrupted'; readonly exitCode: number};

/** What hangs keeps nobody's shell for longer. */
const servedMs = 2000;

/** The store was away as the waiting ended. */
const unsureWords =
	'The store is away: this position in the queue is dropped once it is back. What was got in the last moment shows: canhazgpu status';

/** A user who has waited for long may look elsewhere by now. */
export async function tellServed(app: App, {requester, note}: AcquireRequest, {gpus, leaseId}: Grant): Promise<void> {
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

export type AcquireOptions = {
	readonly waitSeconds: number | undefined;
	/** Of the caller, who ends it: a signal must find somebody until the GPUs are in good hands. */
	readonly interruption: Interruption;
	/** Nothing is shown of the waiting. */
	readonly isSilent?: boolean;
};

/**
Gets the GPUs, showing on stderr how the waiting goes.

@throws CanhazgpuError `unavailable` when there were not enough in time, or somebody took us out of the queue.
*/
export async function acquireShown(
	app: App,
	world: OpenWorld,
	request: AcquireRequest,
	{waitSeconds, interruption, isSilent = false}: AcquireOptions,
): Promise<Acquired> {
	const entryId = givenEntryId(app);
	const line = createWaitingLine(app);
	const background = createBackground(app.remark);
	// Only who waits has time for it: what is granted at once starts without loading any of it.
	let stopReminding: (() => Promise<void>) | undefined;
	try {
		const answer = await acquire(world, request, {
			waitSeconds,
			signal: interruption.signal,
			entryId,
			onProgress(progress) {
				stopReminding ??= keepReminding(app, world, app.remark);
				if (!isSilent) {
					line.show(progress);
				}
			},
			failed: background.failed,
		});
		line.end();
		if (answer.kind === 'granted') {
			if (stopReminding !== undefined) {
				// No one waits for a notice to be delivered.
				void background.attempt(async () => tellServed(app, request, answer));
			}

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
				app.remark(answer.isUnsure === true ? unsureWords : 'Left the queue');
				return {kind: 'interrupted', exitCode: interruption.exitCode()};
			}

			case 'timeout': {
				throw new CanhazgpuError('unavailable', 'The GPUs did not become free in time', {
					hint:
						answer.isUnsure === true
							? unsureWords
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
