/** `:`: runs a typed command line. In some outputs, Enter runs a command line that belongs to the chosen line. */
import type {Holding} from '../../core/rules/leases/holdings.js';
import {undoableOf, type Released} from '../../core/operations/undo.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import {panelNames} from '../state/panels/state.js';
import {latestOf} from '../state/pause.js';
import {beforeCaret, commandPrompt, outputOf, type CommandPrompt, type Output} from '../state/command-line/state.js';
import {isOptionLine, runOptionLine} from './settings.js';
import {defineCommand, quitOrAsk, warning, type EffectContext, type Outcome} from './command.js';

/** Lines that people type to quit, from habit with other programs. */
const quitting: ReadonlySet<string> = new Set(['q', 'quit', 'exit']);

/** If the output of the command line updates itself, opens that output. Otherwise returns false. */
export function openLiveOutput({store, ports: {commandLine}}: EffectContext, line: string, from?: Output): boolean {
	const liveOutput = commandLine?.liveOutputOf?.(line);
	if (commandLine === undefined || liveOutput === undefined) {
		return false;
	}

	const title = `$ ${commandLine.inShell(line)}`;
	store.dispatch({kind: 'opened', dialog: {...outputOf(title, []), liveOutput, from}});
	return true;
}

async function run(context: EffectContext, line: string): Promise<Outcome> {
	const {commandLine, lineHistory} = context.ports;
	if (line === '' || commandLine === undefined) {
		return {kind: 'put-away'};
	}

	if (quitting.has(line)) {
		const question = quitOrAsk(context);
		if (question !== undefined) {
			context.store.dispatch(question);
		}

		return undefined;
	}

	lineHistory?.add(line);
	if (/^(?:hosts? all|jobs)$/v.test(line)) {
		context.store.dispatch({kind: line === 'jobs' ? 'focus-jobs' : 'focus-hosts'});
		return {kind: 'put-away'};
	}

	if (isOptionLine(line)) {
		return runOptionLine(context, line);
	}

	if (openLiveOutput(context, line)) {
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

export function openChosenLine(context: EffectContext): void {
	const {dialog} = context.store.getState();
	if (dialog?.kind === 'output' && dialog.chosen !== undefined) {
		openLiveOutput(context, dialog.opens.get(dialog.chosen)!, dialog);
	}
}

export async function completeLine({store: {getState, dispatch}, ports: {commandLine}}: EffectContext): Promise<void> {
	const {dialog, events} = getState();
	if (dialog?.kind !== 'command' || dialog.isBusy || commandLine === undefined) {
		return;
	}

	const {snapshot, observation} = latestOf(getState());
	try {
		const completion = await commandLine.complete(beforeCaret(dialog.field), {
			snapshot,
			audit: events.entries,
			readings: observation?.gpus,
		});
		dispatch({kind: 'completed', completion, dialog});
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		const {message, hint = ''} = error;
		dispatch({kind: 'refused', complaint: {message: sanitize(message), hint: sanitize(hint)}, dialog});
	}
}

export const command = defineCommand<CommandPrompt>({
	name: 'command',
	keys: {modes: panelNames, keys: [':'], help: ['Monitor', 'type a command, :q quits'], footer: [':', 'Command', 1.5]},
	reasonAgainst: () => undefined,
	begin: ({ports: {commandLine, lineHistory}}) =>
		commandLine === undefined
			? warning('This monitor has no command line')
			: {kind: 'opened', dialog: commandPrompt(lineHistory?.load() ?? [])},
	perform: async (context, {field}) => run(context, field.value.trim()),
});
