/** A command of the monitor: its keys, its dialog and its action in one record. */
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

/** The data and functions with which a command acts outside of the state. */
export type EffectContext = {
	readonly world: World;
	readonly store: {readonly getState: () => State; readonly dispatch: Dispatch};
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	/** Reads the pool and scans the GPUs at once. */
	readonly refresh: () => void;
	readonly quit: () => void;
	/** Lends the terminal until `work` settles, then redraws everything. */
	readonly lendTerminal: (work: () => Promise<void>) => Promise<void>;
	/** Scans the GPUs at another interval from now on. Rejects with a CanhazgpuError if that is not possible. */
	readonly changeInterval: (intervalMs: number) => Promise<void>;
	/** Writes to the terminal directly, next to the frames. */
	readonly writeTerminal: (text: string) => void;
	/** Scans these GPUs and inspects their processes, and the given ones. Undefined while another such scan runs, or if a dialog opened meanwhile. */
	readonly scanOwn: (gpus: readonly number[], pids: readonly number[]) => Promise<OwnScan | undefined>;
	/** Scans the selected row's GPUs and inspects their processes. Undefined if the user moved on meanwhile. */
	readonly scanSelected: () => Promise<{readonly gpus: readonly number[]; readonly scan: OwnScan} | undefined>;
};

type Outcomes = Extract<Answer, {readonly kind: 'done' | 'refused' | 'put-away' | 'printed'}>;

type WithoutDialog<Kind> = Kind extends unknown ? Omit<Kind, 'dialog'> : never;

/** The answer to the dialog, or undefined for none. */
export type Outcome = WithoutDialog<Outcomes> | undefined;

export type Done = Extract<Outcome, {readonly kind: 'done'}>;

/** A key of a command's dialog, besides the keys of all dialogs. */
export type DialogKey<Asking> = {
	readonly keys: readonly string[];
	readonly footer?: KeyHint['footer'];
	readonly change: (dialog: Asking) => Asking;
};

export type MonitorCommandOf<Asking extends AskingDialog> = {
	/** Name of the command and of its dialogs. */
	readonly name: string;
	readonly keys: KeyHint;
	/** Returns the footer's word for the command, if that depends on the selection. */
	readonly footerWord?: (state: State) => string | undefined;
	/** Returns why the command is disabled, or undefined. The core decides again when it is performed. */
	readonly reasonAgainst: (state: State) => string | undefined;
	/** Returns the dialog of the command. Without a dialog, the command is performed at once. */
	readonly open?: (state: State) => Asking;
	/** Replaces `open` for commands that do more first, such as a scan. */
	readonly begin?: (context: EffectContext) => Promise<void> | void;
	readonly shellCommand?: (dialog: Asking, requester: Requester) => string;
	/**
	Performs the command with operations of the core.

	@throws CanhazgpuError, whose message is shown in the dialog.
	*/
	readonly perform?: (context: EffectContext, dialog: Asking, willWait: boolean) => Promise<Outcome>;
	/** Returns the footer's word for Enter in the form. */
	readonly submitWord?: (dialog: Asking) => string;
	/** The dialog: a `<Form>` or a `<Confirm>` with the command's text. */
	readonly Dialog?: ComponentType<{readonly dialog: Asking}>;
	readonly dialogKeys?: ReadonlyArray<DialogKey<Asking>>;
};

export type MonitorCommand = MonitorCommandOf<AskingDialog>;

/** A dialog always returns to the command that opened it, so each command can rely on its own dialog type. */
export const defineCommand = <Asking extends AskingDialog = AskingDialog>(
	command: MonitorCommandOf<Asking>,
): MonitorCommand => command as unknown as MonitorCommand;

export const warning = (text: string): Action => ({kind: 'done', flash: {level: 'warning', text}});

/** Returns the state after the key of a command: with its dialog open, or with the reason against it. */
export function openingOf(
	{reasonAgainst, open}: Pick<MonitorCommand, 'reasonAgainst' | 'open'>,
	state: State,
): Action | undefined {
	const reason = reasonAgainst(state);
	return reason === undefined ? open && {kind: 'opened', dialog: open(state)} : warning(reason);
}

export const succeeded = (text: string, command?: string): Done => ({
	kind: 'done',
	flash: {level: 'ok', text, command},
});

/** Returns a success that did not cover all targets. */
export const halfDone = (text: string, command?: string): Done => ({
	kind: 'done',
	flash: {level: 'warning', text, command},
});

export const failed = (text: string): Done => ({kind: 'done', flash: {level: 'error', text}});
