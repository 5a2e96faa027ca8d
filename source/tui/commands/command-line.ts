/** `:`: runs a typed command line. Also runs the command line of a line that is chosen in the output of an earlier command. */
import type {Holding} from '../../core/rules/leases/holdings.js';
import {undoableOf, type Released} from '../../core/operations/undo.js';
import {panelNames} from '../state/panels/state.js';
import {latestOf} from '../state/pause.js';
import {beforeCaret, commandPrompt, type CommandPrompt} from '../state/command-line/state.js';
import {openLiveOutput} from './shared/live-output.js';
import {isOptionLine, runOptionLine} from './shared/options.js';
import {defineCommand, warning, type EffectContext, type Outcome} from './command.js';

/** Lines that people type to quit, from habit with other programs. */
const quitting: ReadonlySet<string> = new Set(['q', 'quit', 'exit']);

async function run(context: EffectContext, line: string): Promise<Outcome> {
	const {commandLine, lineHistory} = context.ports;
	if (line === '' || commandLine === undefined) {
		return {kind: 'put-away'};
	}

	if (quitting.has(line)) {
		context.quit();
		return undefined;
	}

	lineHistory?.add(line);
	if (/^hosts? all$/v.test(line)) {
		context.store.dispatch({kind: 'focus-hosts'});
		return {kind: 'put-away'};
	}

	if (line === 'jobs') {
		context.store.dispatch({kind: 'focus-jobs'});
		return {kind: 'put-away'};
	}

	if (isOptionLine(line)) {
		return runOptionLine(context, line);
	}

	if (openLiveOutput(context, commandLine, line)) {
		return undefined;
	}

	let undo: readonly Released[] = [];
	const onReleased = (released: readonly Holding[]): void => {
		undo = undoableOf(released);
	};

	const begun = await context.waits.begin(
		async ({signal, onWaiting}) => commandLine.run(line, {signal, onWaiting, onReleased}),
		(lines) => ({
			level: 'ok',
			text: lines.findLast((text) => text.startsWith('Reserved')) ?? lines.at(-1) ?? 'done',
		}),
	);
	return begun.kind === 'waiting'
		? {kind: 'put-away'}
		: {kind: 'printed', title: `$ ${commandLine.inShell(line)}`, lines: begun.result, undo};
}

/** Runs the command line that belongs to the chosen line in the output of an earlier command. */
export function openChosenLine(context: EffectContext): void {
	const {dialog} = context.store.getState();
	const {commandLine} = context.ports;
	if (dialog?.kind === 'output' && dialog.chosen !== undefined && commandLine !== undefined) {
		openLiveOutput(context, commandLine, dialog.opens.get(dialog.chosen)!, dialog);
	}
}

export async function completeLine({store: {getState, dispatch}, ports: {commandLine}}: EffectContext): Promise<void> {
	const {dialog, events} = getState();
	if (dialog?.kind !== 'command' || dialog.isBusy || commandLine === undefined) {
		return;
	}

	const {snapshot, observation} = latestOf(getState());
	const completion = await commandLine.complete(beforeCaret(dialog.field), {
		snapshot,
		audit: events.entries,
		readings: observation?.gpus,
	});
	dispatch({kind: 'completed', completion, dialog});
}

export const command = defineCommand<CommandPrompt>({
	name: 'command',
	keys: {modes: panelNames, keys: [':'], help: ['Monitor', 'type a command, :q quits'], footer: [':', 'Command', 1.5]},
	reasonAgainst: () => undefined,
	begin({store: {dispatch}, ports: {commandLine, lineHistory}}) {
		dispatch(
			commandLine === undefined
				? warning('This monitor has no command line')
				: {kind: 'opened', dialog: commandPrompt(lineHistory?.load() ?? [])},
		);
	},
	perform: async (context, {field}) => run(context, field.value.trim()),
});
