/** What the keys of verbs do: a dialog opens or the reason against it is shown, and what an open dialog asks for is carried out. */
import {CanhazgpuError} from '../../errors.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {sanitize} from '../../format/text/text.js';
import type {Answer} from '../state/answers.js';
import {isAsking, type AskingDialog} from '../state/dialogs.js';
import {selectedGpus} from '../state/table/rows.js';
import {ownProcesses, scanProcesses} from './shared/own-scan.js';
import {openingOf, type DialogKey, type EffectContext, type Outcome, type Verb} from './verb.js';
import {verbOf} from './index.js';

type Outside = Omit<EffectContext, 'scanOwn' | 'scanSelected'>;

export type VerbRunner = {
	/** What the verb acts on, for what else reaches out of the state. */
	readonly context: EffectContext;
	/** The key of a verb. */
	readonly press: (verb: Verb) => Promise<void>;
	/** A key that a verb adds to its own dialog. */
	readonly change: (change: DialogKey<AskingDialog>['change']) => void;
	/** Does what the open dialog asks for; patiently, it waits in the queue when there are not enough. */
	readonly submit: (willWait: boolean) => Promise<void>;
};

/** Failures that a user can meet become words; any other error is a bug and is thrown. */
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

/**
Scans GPUs before anything is asked about a process there: what is shown may be what another account says. One scan at a time.
*/
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

export function createVerbRunner(outside: Outside): VerbRunner {
	const context: EffectContext = {...outside, ...ownScanner(outside)};
	const {getState, dispatch} = context.store;

	/** Carries a verb out, tells the state what became of it, and reads and scans again. */
	async function carryOut({perform}: Verb, dialog: AskingDialog | undefined, willWait: boolean): Promise<void> {
		const outcome = await outcomeOf(async () => perform?.(context, dialog!, willWait));
		if (outcome !== undefined) {
			dispatch({dialog, ...outcome} as Answer);
		}

		context.refresh();
	}

	return {
		context,
		async press(verb) {
			if (verb.reasonAgainst(getState()) === undefined && verb.begin !== undefined) {
				await verb.begin(context);
				return;
			}

			const opening = openingOf(verb, getState());
			if (opening === undefined) {
				await carryOut(verb, undefined, false);
				return;
			}

			dispatch(opening);
		},
		change(change) {
			const {dialog} = getState();
			if (isAsking(dialog) && !dialog.isBusy) {
				dispatch({kind: 'changed', dialog, next: change(dialog)});
			}
		},
		async submit(willWait) {
			const {dialog: asked} = getState();
			if (!isAsking(asked) || asked.isBusy) {
				return;
			}

			dispatch({kind: 'submitted'});
			await carryOut(verbOf(asked), getState().dialog as AskingDialog, willWait);
		},
	};
}
