/** Carries out commands: opens the dialog of a command or shows why it is disabled, and performs the request of an open dialog. */
import {CanhazgpuError} from '../../errors.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {sanitize} from '../../format/text/text.js';
import type {Answer} from '../state/answers.js';
import {isAsking, type AskingDialog} from '../state/dialogs.js';
import {selectedGpus} from '../state/gpus/rows.js';
import {copied} from './copy.js';
import {ownProcesses, scanProcesses} from './processes/own-scan.js';
import {openingOf, warning, type DialogKey, type EffectContext, type Outcome, type MonitorCommand} from './command.js';
import {commandOf} from './index.js';

type Outside = Omit<EffectContext, 'scanOwn' | 'scanSelected'>;

export type CommandRunner = ReturnType<typeof createCommandRunner>;

/** Calls `work`. Returns an expected failure as a message. Throws any other error, because it is a bug. */
export async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			const {message, hint = ''} = error;
			return {kind: 'refused', complaint: {message: sanitize(message), hint: sanitize(hint)}};
		}

		throw error;
	}
}

/** Returns functions that scan GPUs before actions on processes. Readings on the screen may come from another account, so they are not used. */
function ownScanner({world, store, ports}: Outside): Pick<EffectContext, 'scanOwn' | 'scanSelected'> {
	const {getState, dispatch} = store;
	let isScanning = false;
	const scanOwn: EffectContext['scanOwn'] = async (gpus, pids) => {
		if (isScanning) {
			return undefined;
		}

		isScanning = true;
		dispatch({kind: 'done', flash: {level: 'ok', text: `looking at the processes on ${gpuList(gpus)}`}});
		try {
			const scan = await scanProcesses(world, ports.inspectProcesses, gpus, pids);
			return getState().dialog === undefined ? scan : undefined;
		} finally {
			isScanning = false;
		}
	};

	return {
		scanOwn,
		async scanSelected() {
			const gpus = selectedGpus(getState());
			const shown = ownProcesses(getState()).map(({pid}) => pid);
			const scan = gpus.length === 0 ? undefined : await scanOwn(gpus, shown);
			const isStillSelected = new Set(gpus).symmetricDifference(new Set(selectedGpus(getState()))).size === 0;
			return scan === undefined || !isStillSelected ? undefined : {gpus, scan};
		},
	};
}

export function createCommandRunner(outside: Outside) {
	const context: EffectContext = {...outside, ...ownScanner(outside)};
	const {getState, dispatch} = context.store;

	/** Performs a command, adds its outcome to the state, and reads the pool and the GPUs again. */
	async function carryOut(
		{perform}: MonitorCommand,
		dialog: AskingDialog | undefined,
		willWait: boolean,
	): Promise<void> {
		const outcome = await outcomeOf(async () => perform?.(context, dialog!, willWait));
		if (outcome !== undefined) {
			dispatch({dialog, ...outcome} as Answer);
		}

		context.refresh();
	}

	return {
		context,
		async press(command: MonitorCommand): Promise<void> {
			const isBegun = command.begin !== undefined && command.reasonAgainst(getState()) === undefined;
			const begun = isBegun ? command.begin(context) : openingOf(command, getState());
			// If `begin` returns no promise, opens the dialog without an await, so that the next keys of the same input event act on the dialog.
			const opening = begun instanceof Promise ? await begun : begun;
			if (opening !== undefined) {
				dispatch(opening);
			} else if (!isBegun) {
				await carryOut(command, undefined, false);
			}
		},
		change(change: DialogKey<AskingDialog>['change']): void {
			const {dialog} = getState();
			if (isAsking(dialog) && !dialog.isBusy) {
				dispatch({kind: 'changed', dialog, next: change(dialog)});
			}
		},
		copyShellCommand(): void {
			const {dialog, settings} = getState();
			const command = isAsking(dialog) ? commandOf(dialog).shellCommand?.(dialog, settings.requester) : undefined;
			if (command === undefined) {
				dispatch(warning('This dialog has no shell command'));
				return;
			}

			dispatch(copied(context, sanitize(command), 'the command '));
		},
		/** Performs the request of the open dialog. If `willWait` is true and the GPUs are not free, the request waits in the queue. */
		async submit(willWait: boolean): Promise<void> {
			const {dialog: asked} = getState();
			if (!isAsking(asked) || asked.isBusy) {
				return;
			}

			dispatch({kind: 'submitted'});
			await carryOut(commandOf(asked), getState().dialog as AskingDialog, willWait);
		},
	};
}
