/** A verb of the monitor: one record that says all there is to say about one key that does something. */
import type {ComponentType} from 'react';
import type {OwnScan} from '../../core/rules/processes/process-targets.js';
import type {World} from '../../core/model/ports.js';
import type {Requester} from '../../core/model/types.js';
import type {KeyHint} from '../state/keys.js';
import type {MonitorPorts} from '../ports.js';
import type {Action, Dispatch} from '../state/actions.js';
import type {Answer} from '../state/answers.js';
import type {AskingDialog} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import type {Waits} from './shared/waiting.js';

/** What the effects of verbs act on. */
export type EffectContext = {
	readonly world: World;
	readonly store: {readonly getState: () => State; readonly dispatch: Dispatch};
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	/** Read and scan again. */
	readonly refresh: () => void;
	readonly quit: () => void;
	/** Gives the terminal to something else until that ends, and draws everything again. */
	readonly lendTerminal: (work: () => Promise<void>) => Promise<void>;
	/** Straight to the terminal, beside what is drawn. */
	readonly writeTerminal: (text: string) => void;
	/** Scans these GPUs and inspects the processes there, and these others. Undefined while another such scan runs, and when a dialog was opened meanwhile. */
	readonly scanOwn: (gpus: readonly number[], pids: readonly number[]) => Promise<OwnScan | undefined>;
	/** Scans the GPUs of the selected row and inspects the processes there. Undefined when the user went on to something else meanwhile. */
	readonly scanSelected: () => Promise<{readonly gpus: readonly number[]; readonly scan: OwnScan} | undefined>;
};

type Outcomes = Extract<Answer, {readonly kind: 'done' | 'refused' | 'put-away' | 'printed'}>;

type WithoutDialog<Kind> = Kind extends unknown ? Omit<Kind, 'dialog'> : never;

/** The answer to the dialog that asked. Undefined: there is nothing to say. */
export type Outcome = WithoutDialog<Outcomes> | undefined;

export type Done = Extract<Outcome, {readonly kind: 'done'}>;

/** A key that counts in the dialog of a verb, beside those that all such dialogs share. */
export type DialogKey<Asking> = {
	readonly keys: readonly string[];
	readonly footer?: KeyHint['footer'];
	readonly change: (dialog: Asking) => Asking;
};

export type VerbOf<Asking extends AskingDialog> = {
	/** Its dialogs carry this name. */
	readonly name: string;
	/** Its keys, with their words in the help and in the footer. */
	readonly keys: KeyHint;
	/** What the footer calls it now, where that depends on what is selected. */
	readonly footerWord?: (state: State) => string | undefined;
	/** Why it cannot be done now, for the user. Undefined: it can. The core decides again when it is done. */
	readonly reasonAgainst: (state: State) => string | undefined;
	/** The dialog that asks for it. Without one it is done at once. */
	readonly open?: (state: State) => Asking;
	/** What the key does where that is more than to open a dialog, such as to scan first. */
	readonly begin?: (context: EffectContext) => Promise<void> | void;
	/** The shell command that does the same. */
	readonly command?: (dialog: Asking, requester: Requester) => string;
	/**
	Does it, by the operations of the core.

	@throws CanhazgpuError What it says is shown in the dialog.
	*/
	readonly perform?: (context: EffectContext, dialog: Asking, willWait: boolean) => Promise<Outcome>;
	/** What Enter does in its form, for the footer. */
	readonly submitWord?: (dialog: Asking) => string;
	/** Its dialog: a `<Form>` or a `<Confirm>` with its own words. */
	readonly Dialog?: ComponentType<{readonly dialog: Asking}>;
	readonly dialogKeys?: ReadonlyArray<DialogKey<Asking>>;
};

export type Verb = VerbOf<AskingDialog>;

/** A dialog only ever comes back to the verb that opened it, so that each verb may count on its own kind. */
export const defineVerb = <Asking extends AskingDialog = AskingDialog>(verb: VerbOf<Asking>): Verb =>
	verb as unknown as Verb;

export const warning = (text: string): Action => ({kind: 'done', flash: {level: 'warning', text}});

/** What the key of a verb does to the state: its dialog opens, or the reason against it is shown. */
export function openingOf(
	{reasonAgainst, open}: Pick<Verb, 'reasonAgainst' | 'open'>,
	state: State,
): Action | undefined {
	const reason = reasonAgainst(state);
	return reason === undefined ? open && {kind: 'opened', dialog: open(state)} : warning(reason);
}

export const succeeded = (text: string, command?: string): Done => ({
	kind: 'done',
	flash: {level: 'ok', text, command},
});

/** Done, but not to all that it was about. */
export const halfDone = (text: string, command?: string): Done => ({
	kind: 'done',
	flash: {level: 'warning', text, command},
});

export const failed = (text: string): Done => ({kind: 'done', flash: {level: 'error', text}});
