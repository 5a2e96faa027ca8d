/** Lines that were typed into the command line, or that a line of an output stands for. */
import type {LeasedRecord} from '../../core/rules/leases/lease-changes.js';
import {undoableOf, type Released} from '../../core/operations/undo.js';
import {outputOfLook, type Output} from '../command-line/state.js';
import type {AskingDialog} from '../state/dialogs.js';
import type {CommandLine} from '../ports.js';
import type {Flash} from '../state/flash.js';
import type {EffectContext} from './verb.js';

type Lines = {
	readonly run: (line: string, dialog: AskingDialog) => Promise<void>;
	/** What the chosen line of an output leads to. */
	readonly openChosen: () => void;
};

/** What people type there out of habit. */
const quitting: ReadonlySet<string> = new Set(['q', 'quit', 'exit']);

export function createLines({
	store,
	ports,
	waits,
	quit,
}: Pick<EffectContext, 'store' | 'ports' | 'waits' | 'quit'>): Lines {
	const {getState, dispatch} = store;

	/** False for a line that shows nothing which goes on. */
	function lookAt(commandLine: CommandLine, line: string, from?: Output): boolean {
		const look = commandLine.lookOf?.(line);
		if (look !== undefined) {
			dispatch({kind: 'opened', dialog: outputOfLook(`$ ${commandLine.inShell(line)}`, look, from)});
		}

		return look !== undefined;
	}

	async function run(line: string, dialog: AskingDialog): Promise<void> {
		const {commandLine, lineHistory} = ports;
		if (line === '' || commandLine === undefined) {
			dispatch({kind: 'put-away', dialog});
			return;
		}

		if (quitting.has(line)) {
			quit();
			return;
		}

		lineHistory?.add(line);
		if (lookAt(commandLine, line)) {
			return;
		}

		let undo: readonly Released[] = [];
		const onReleased = (released: readonly LeasedRecord[]): void => {
			undo = undoableOf(released);
		};

		const begun = await waits.begin(
			async ({signal, onWaiting}) => commandLine.run(line, {signal, onWaiting, onReleased}),
			(lines): Flash => ({
				level: 'ok',
				text: lines.findLast((text) => text.startsWith('Reserved')) ?? lines.at(-1) ?? 'done',
			}),
		);
		dispatch(
			begun.kind === 'waiting'
				? {kind: 'put-away', dialog}
				: {kind: 'printed', title: `$ ${commandLine.inShell(line)}`, lines: begun.result, undo, dialog},
		);
	}

	return {
		run,
		openChosen() {
			const {dialog} = getState();
			if (dialog?.kind === 'output' && dialog.chosen !== undefined && ports.commandLine !== undefined) {
				lookAt(ports.commandLine, dialog.opens.get(dialog.chosen)!, dialog);
			}
		},
	};
}
