/** Defines a command of the monitor: its keys, its dialog and its action in one record. */
import type {ComponentType} from 'react';
import type {OwnScan} from '../../core/rules/processes/process-targets.js';
import type {World} from '../../core/model/ports.js';
import type {Requester} from '../../core/model/types.js';
import type {KeyHint} from '../state/modes.js';
import type {MonitorPorts} from '../ports.js';
import type {Action, Dispatch} from '../state/actions.js';
import type {Answer} from '../state/answers.js';
import {ask, type AskingDialog} from '../state/dialogs.js';
import type {Flash} from '../state/messages.js';
import type {State} from '../state/state.js';

type Work<Result> = (options: {
	readonly signal: AbortSignal;
	/** Called when the request starts to wait in the queue, and each time its progress changes. */
	readonly onWaiting: (words: string) => void;
}) => Promise<Result>;

export type Waits = {
	/**
	Starts a request that may have to wait in the queue.

	@param flashOf - Returns the message that is shown when a wait ends.
	@returns The result, or `waiting` if the request waits. The outcome of a waiting request is added to the state when the wait ends.
	*/
	readonly begin: <Result>(
		work: Work<Result>,
		flashOf: (result: Result) => Flash,
	) => Promise<{readonly kind: 'ended'; readonly result: Result} | {readonly kind: 'waiting'}>;
	/** Notes that the user of this monitor removes a queue entry. */
	readonly leaving: (entryId: string) => void;
	/** Whether the user of this monitor has removed a queue entry, or tried to. */
	readonly hasLeft: (entryId: string) => boolean;
	/** Cancels all waiting requests, also on other hosts. Resolves when they have left their queues, or after a time limit. */
	readonly leaveAll: () => Promise<void>;
};

/** The data and functions with which a command acts on the pool, the terminal and other things outside the state. */
export type EffectContext = {
	readonly world: World;
	readonly store: {readonly getState: () => State; readonly dispatch: Dispatch};
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	/** Reads the pool and scans the GPUs now, without waiting for the next interval. */
	readonly refresh: () => void;
	readonly quit: () => void;
	/** Leaves the terminal to another program until `work` settles, then redraws everything. */
	readonly lendTerminal: (work: () => Promise<void>) => Promise<void>;
	/** Changes the interval of GPU scans. Rejects with a CanhazgpuError if that is not possible. */
	readonly changeInterval: (intervalMs: number) => Promise<void>;
	/** Writes an escape sequence to the terminal directly, not as part of a frame. */
	readonly writeTerminal: (text: string) => void;
	/** Scans GPUs and inspects their processes and `pids`. Returns undefined if an earlier call still scans, or if a dialog was opened meanwhile. */
	readonly scanOwn: (gpus: readonly number[], pids: readonly number[]) => Promise<OwnScan | undefined>;
	/** Scans the GPUs of the selected row and inspects their processes. Returns undefined if `scanOwn` does, or if the selection changed meanwhile. */
	readonly scanSelected: () => Promise<{readonly gpus: readonly number[]; readonly scan: OwnScan} | undefined>;
};

type Outcomes = Extract<Answer, {readonly kind: 'done' | 'refused' | 'put-away' | 'printed'}>;

type WithoutDialog<Kind> = Kind extends unknown ? Omit<Kind, 'dialog'> : never;

/** The outcome of a command's request. Undefined if nothing needs to be shown. */
export type Outcome = WithoutDialog<Outcomes> | undefined;

export type Done = Extract<Outcome, {readonly kind: 'done'}>;

/** A key of a command's dialog, in addition to the keys that all dialogs have. */
export type DialogKey<Asking> = {
	readonly keys: readonly string[];
	readonly footer?: KeyHint['footer'];
	readonly change: (dialog: Asking) => Asking;
};

export type MonitorCommandOf<Asking extends AskingDialog> = {
	/** The name of the command, which its dialogs also have. */
	readonly name: string;
	readonly keys: KeyHint;
	/** Returns the word for the command in the footer, if it depends on the selection. */
	readonly footerWord?: (state: State) => string | undefined;
	/** Whether the footer shows the key. Defaults to always. */
	readonly isOffered?: (state: State) => boolean;
	/** Returns why the command is disabled. Undefined if it is enabled. The operation itself checks again when it runs. */
	readonly reasonAgainst: (state: State) => string | undefined;
	/** Returns the dialog of the command. A command without a dialog is performed when its key is pressed. */
	readonly open?: (state: State) => Asking;
	/** Replaces `open` in commands that must first do something, such as scan the GPUs. Returns the action that opens the dialog or shows a message. */
	readonly begin?: (context: EffectContext) => Promise<Action | undefined> | Action | undefined;
	readonly shellCommand?: (dialog: Asking, requester: Requester) => string;
	/** Performs the command with the operations in core/operations. Throws a CanhazgpuError, whose message is shown in the dialog. */
	readonly perform?: (context: EffectContext, dialog: Asking, willWait: boolean) => Promise<Outcome>;
	/** Returns the word for Enter in the footer while the form is open. */
	readonly submitWord?: (dialog: Asking) => string;
	/** The component of the dialog: a `<Form>` or a `<Confirm>` with the command's text. */
	readonly Dialog?: ComponentType<{readonly dialog: Asking}>;
	readonly dialogKeys?: ReadonlyArray<DialogKey<Asking>>;
};

export type MonitorCommand = MonitorCommandOf<AskingDialog>;

/** Defines a command. A dialog is always passed to the command that opened it, so each command can rely on the type of its own dialog. */
export const defineCommand = <Asking extends AskingDialog = AskingDialog>(
	command: MonitorCommandOf<Asking>,
): MonitorCommand => command as unknown as MonitorCommand;

const doneWith =
	(level: Flash['level']) =>
	(text: string, command?: string): Done => ({kind: 'done', flash: {level, text, command}});

export const succeeded = doneWith('ok');

export const warning = doneWith('warning');

export const failed = doneWith('error');

/** Returns the state after the key of a command was pressed: with its dialog open, or with a message why the command is disabled. */
export function openingOf(
	{reasonAgainst, open}: Pick<MonitorCommand, 'reasonAgainst' | 'open'>,
	state: State,
): Action | undefined {
	const reason = reasonAgainst(state);
	return reason === undefined ? open && {kind: 'opened', dialog: open(state)} : warning(reason);
}

/** Quits at once. If requests of this monitor wait in the queue, returns the action that opens the question of the command `quit` instead. */
export function quitOrAsk({store, quit}: Pick<EffectContext, 'store' | 'quit'>): Action | undefined {
	const {waits} = store.getState();
	if (waits.length > 0) {
		return {kind: 'opened', dialog: ask('quit', {})};
	}

	quit();
	return undefined;
}
