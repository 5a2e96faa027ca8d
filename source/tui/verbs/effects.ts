/** What reaches out of the state: into the pool, to processes, to the clipboard. */
import {acquire} from '../../core/operations/acquire.js';
import {ownTargets, problemWith, type OwnLook} from '../../core/rules/leases/process-targets.js';
import {progressText} from '../../format/waiting-progress.js';
import {CanhazgpuError} from '../../errors.js';
import {beforeCaret, commandPrompt} from '../command-line/state.js';
import {ask, isAsking, signalChoice, type AskingDialog} from '../state/dialogs.js';
import {byMemory} from '../view/readings.js';
import type {Answer} from '../state/answers.js';
import type {Flash} from '../state/flash.js';
import {latestOf} from '../state/pause.js';
import {complaintOf, grantedFlash, perform, type Outcome} from './perform.js';
import {scanProcesses, problemWords, sentence} from './own-scan.js';
import {adoptable, ownProcesses, reasonAgainst} from './permissions.js';
import {requestOf, type ReserveRequestInput, type VerbRequest} from './request.js';
import {createLines} from './lines.js';
import {openingOf, type EffectContext, type Outcome as VerbOutcome, type Verb} from './verb.js';

export type VerbEffects = {
	/** What the open dialog asks for; patiently, it stands in line when there are not enough. */
	readonly submit: (isPatient: boolean) => Promise<void>;
	/** What the key of a verb does. */
	readonly press: (verb: Verb) => Promise<void>;
	readonly openCommand: () => void;
	readonly openLine: () => void;
	/** Looks at the selected GPU and asks which signal a process of the asker's there shall get, or says why none can. */
	readonly openSignal: () => Promise<void>;
	/** Asks for the chosen GPUs; or to adopt the asker's process there, if a look of our own shows one. */
	readonly openTheseOrAdopt: () => Promise<void>;
	readonly complete: () => Promise<void>;
	/** Asks first when something waits in the queue. */
	readonly quit: () => void;
};

/** The indices that were meant are those of other GPUs by now, as after a restart of the driver. */
function checkSameGpus({gpus = []}: ReserveRequestInput, store: EffectContext['store']): void {
	const readings = latestOf(store.getState()).observation?.gpus ?? [];
	const other = gpus.find(({index, uuid}) => {
		const now = readings.find((reading) => reading.index === index)?.uuid;
		return uuid !== undefined && now !== undefined && now !== uuid;
	});
	if (other !== undefined) {
		throw new CanhazgpuError('unavailable', `GPU ${other.index} is another one by now`, {
			hint: 'The GPUs were numbered anew meanwhile. Choose again.',
		});
	}
}

const endOfWait = (answer: Awaited<ReturnType<typeof acquire>>, {durationSeconds}: ReserveRequestInput): Flash =>
	answer.kind === 'granted'
		? grantedFlash(answer.gpus, durationSeconds)
		: {level: 'warning', text: 'left the queue: nothing is held'};

/**
Failures that a user can meet become words; any other error is a bug and is thrown.
*/
export async function outcomeOf(work: () => Promise<VerbOutcome>): Promise<VerbOutcome> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return {kind: 'refused', complaint: complaintOf(error)};
		}

		throw error;
	}
}

export function createEffects(outside: Omit<EffectContext, 'scanSelected'>): VerbEffects {
	const {world, store, ports, waits, refresh, quit} = outside;
	const {getState, dispatch} = store;
	const lines = createLines({store, ports, waits, quit});

	const warn = (text: string): void => {
		dispatch({kind: 'done', flash: {level: 'warning', text}});
	};

	let isLooking = false;

	/**
	Looks at the selected GPU with our own eyes before anything is asked about a process there: what is shown may be what another account
	says. Undefined when the user has gone on to something else meanwhile.
	*/
	async function lookAtSelected(): Promise<{readonly gpu: number; readonly look: OwnLook} | undefined> {
		const {selectedGpu: gpu} = getState();
		if (isLooking || gpu === undefined) {
			return undefined;
		}

		isLooking = true;
		dispatch({kind: 'done', flash: {level: 'ok', text: `looking at the processes on GPU ${gpu}`}});
		try {
			const shown = ownProcesses(getState()).map(({pid}) => pid);
			const look = await scanProcesses(world, ports.inspectProcesses, gpu, shown);
			const {dialog, selectedGpu} = getState();
			return dialog === undefined && selectedGpu === gpu ? {gpu, look} : undefined;
		} finally {
			isLooking = false;
		}
	}

	const context: EffectContext = {...outside, scanSelected: lookAtSelected};

	/** Gets them now, or goes into the line. */
	async function takeOrWait(request: ReserveRequestInput, dialog: AskingDialog): Promise<void> {
		const {requester} = getState().settings;
		const {count, gpus, durationSeconds, note, force} = request;
		const begun = await waits.begin(
			async ({signal, onWaiting}) =>
				acquire(
					world,
					{
						requester,
						count,
						ids: gpus?.map(({index}) => index),
						tenure: {type: 'manual', durationSeconds},
						note,
						force,
					},
					{
						waitSeconds: undefined,
						signal,
						onProgress(progress) {
							onWaiting(progressText(progress, false));
						},
					},
				),
			(answer) => endOfWait(answer, request),
		);
		dispatch(
			begun.kind === 'waiting'
				? {kind: 'put-away', dialog}
				: {kind: 'done', dialog, flash: endOfWait(begun.result, request)},
		);
	}

	async function carryOut(request: VerbRequest, dialog: AskingDialog): Promise<void> {
		if (request.verb === 'quit') {
			quit();
			return;
		}

		if (request.verb === 'command') {
			await lines.run(request.line, dialog);
			return;
		}

		if (request.verb === 'reserve') {
			checkSameGpus(request, store);
			if (request.isPatient) {
				await takeOrWait(request, dialog);
				return;
			}
		}

		const outcome: Outcome = await perform(world, getState().settings.requester, request, ports);
		dispatch('flash' in outcome ? {kind: 'done', dialog, ...outcome} : {kind: 'refused', dialog, ...outcome});
	}

	/** Carries something out, and tells the state what became of it. */
	async function tell(work: () => Promise<VerbOutcome>, dialog?: AskingDialog): Promise<void> {
		const outcome = await outcomeOf(work);
		if (outcome !== undefined) {
			dispatch({dialog, ...outcome} as Answer);
		}
	}

	return {
		async submit(isPatient) {
			const {dialog: asked} = getState();
			if (!isAsking(asked) || asked.isBusy) {
				return;
			}

			dispatch({kind: 'submitted'});
			const dialog = getState().dialog as AskingDialog;
			try {
				const request = requestOf(asked);
				await carryOut(request.verb === 'reserve' && isPatient ? {...request, isPatient} : request, dialog);
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					throw error;
				}

				dispatch({kind: 'refused', complaint: complaintOf(error), dialog});
			}

			refresh();
		},
		async press(verb) {
			const opening = openingOf(verb, getState());
			if (opening !== undefined && (verb.begin === undefined || opening.kind !== 'opened')) {
				dispatch(opening);
				return;
			}

			if (verb.begin !== undefined) {
				await verb.begin(context);
				return;
			}

			await tell(async () => verb.perform?.(context, undefined as never, false));
			refresh();
		},
		openCommand() {
			if (ports.commandLine === undefined) {
				warn('This monitor has no command line');
				return;
			}

			dispatch({kind: 'opened', dialog: commandPrompt(ports.lineHistory?.load() ?? [])});
		},
		openLine: lines.openChosen,
		async openSignal() {
			const reason = reasonAgainst(getState(), 'signal');
			if (reason !== undefined) {
				warn(reason);
				return;
			}

			const [shown] = ownProcesses(getState());
			const seen = await lookAtSelected();
			if (seen === undefined) {
				return;
			}

			const {gpu, look} = seen;
			const targets = byMemory(ownTargets(look, gpu));
			if (targets.length > 0) {
				dispatch({kind: 'opened', dialog: signalChoice(gpu, targets)});
				return;
			}

			const problem = problemWith(shown!, gpu, look);
			warn(
				sentence(
					problem === undefined ? `no process of yours is on GPU ${gpu}` : problemWords(shown!.pid, gpu, problem),
				),
			);
		},
		async openTheseOrAdopt() {
			const process = adoptable(getState());
			if (process === undefined || reasonAgainst(getState(), 'reserve-these') !== undefined) {
				dispatch({kind: 'open-reserve-these'});
				return;
			}

			const seen = await lookAtSelected();
			if (seen === undefined) {
				return;
			}

			const {gpu, look} = seen;
			const target = ownTargets(look, gpu).find(({pid}) => pid === process.pid);
			dispatch(
				target === undefined
					? {kind: 'open-reserve-these'}
					: {kind: 'opened', dialog: ask({verb: 'adopt', process: target, gpu})},
			);
		},
		async complete() {
			const {dialog} = getState();
			if (dialog?.kind !== 'command' || dialog.isBusy || ports.commandLine === undefined) {
				return;
			}

			const {trail} = getState();
			const {snapshot} = latestOf(getState());
			const completion = await ports.commandLine.complete(beforeCaret(dialog.field), {snapshot, told: trail.entries});
			dispatch({kind: 'completed', completion, dialog});
		},
		quit() {
			const {waits: pending} = getState();
			if (pending.length === 0) {
				quit();
				return;
			}

			dispatch({kind: 'opened', dialog: ask({verb: 'quit', waiting: pending.length})});
		},
	};
}
