/** `K`: sends a signal to a process of the user's own on the selected GPU. */
import type {GpuProcess} from '../../core/model/types.js';
import {ownTargets, problemWith} from '../../core/rules/leases/process-targets.js';
import {shellCommand} from '../../format/text/shell.js';
import {sanitize} from '../../format/text/text.js';
import type {SignalName} from '../ports.js';
import {choose, type Choice} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {selectedRow} from '../state/table/rows.js';
import {byMemory, processLine} from '../panels/shared/readings.js';
import {joined, span, type Line} from '../widgets/styled-text.js';
import {ownProcesses, problemWords, scanProcesses} from './shared/own-scan.js';
import {firstReason, reasonAgainstDoing, reasonAgainstGpus} from './shared/reasons.js';
import {defineVerb, failed, succeeded, warning} from './verb.js';

const signals = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const satisfies readonly SignalName[];

/** Which signal, and to which of the user's processes on a GPU. */
type Signal = {
	readonly gpu: number;
	readonly processes: readonly GpuProcess[];
	readonly chosen: number;
	readonly signal: SignalName;
};

export type SignalChoice = Choice<Signal>;

/** None is sent yet. */
export const signalChoice = (gpu: number, processes: readonly GpuProcess[]): SignalChoice =>
	choose('signal', {gpu, processes, chosen: 0, signal: 'SIGTERM'});

const chosenProcess = ({processes, chosen}: Signal): GpuProcess => processes[chosen]!;

const around = (place: number, by: number, count: number): number => (place + by + count) % count;

export const chooseProcess =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({...choice, chosen: around(choice.chosen, by, choice.processes.length)});

export const chooseSignal =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({
		...choice,
		signal: signals[around(signals.indexOf(choice.signal), by, signals.length)]!,
	});

function reasonAgainstProcesses(state: State): string | undefined {
	const gpu = `GPU ${state.selectedGpu}`;
	if (ownProcesses(state).length > 0) {
		return undefined;
	}

	const users = [...new Set((selectedRow(state)?.processes ?? []).map(({user}) => user ?? 'an unknown user'))];
	return users.length === 0
		? `No process is visible on ${gpu}`
		: `No process of yours is on ${gpu}, only of ${sanitize(users.join(', '))}`;
}

/** With a capital at its beginning. */
const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** Processes shown at once. */
const mostProcesses = 6;

export const signal = defineVerb<SignalChoice>({
	name: 'signal',
	keys: {
		modes: ['table', 'detail'],
		keys: ['K'],
		help: ['Queue and processes', 'signal your process'],
		footer: ['K', 'Kill', 5],
	},
	// The pool has no say in it.
	reasonAgainst: firstReason(reasonAgainstDoing, reasonAgainstGpus, reasonAgainstProcesses),
	async begin({store: {getState, dispatch}, scanSelected}) {
		const [shown] = ownProcesses(getState());
		const seen = await scanSelected();
		if (seen === undefined) {
			return;
		}

		const {gpu, scan} = seen;
		const targets = byMemory(ownTargets(scan, gpu));
		if (targets.length > 0) {
			dispatch({kind: 'opened', dialog: signalChoice(gpu, targets)});
			return;
		}

		const problem = problemWith(shown!, gpu, scan);
		const words =
			problem === undefined ? `no process of yours is on GPU ${gpu}` : problemWords(shown!.pid, gpu, problem);
		dispatch(warning(sentence(words)));
	},
	command: (choice) => shellCommand(['kill', `-${choice.signal.slice(3)}`, String(chosenProcess(choice).pid)]),
	async perform({world, ports: {sendSignal, inspectProcesses}}, choice) {
		const {gpu, signal: name} = choice;
		const process = chosenProcess(choice);
		const {pid, startTicks} = process;
		const problem = problemWith(process, gpu, await scanProcesses(world, inspectProcesses, gpu, [pid]));
		if (problem !== undefined) {
			return failed(`Nothing sent: ${problemWords(pid, gpu, problem)}`);
		}

		// The start time is compared once more immediately before the signal.
		const outcome = sendSignal?.({pid, startTicks}, name);
		switch (outcome) {
			case 'sent': {
				return succeeded(`sent ${name} to process ${pid}`, `kill -${name.slice(3)} ${pid}`);
			}

			case 'gone': {
				return failed(`Nothing sent: process ${pid} has ended meanwhile`);
			}

			case 'not-yours': {
				return failed(`Nothing sent: process ${pid} is not yours`);
			}

			case 'unknown':
			case undefined: {
				return failed(`Nothing sent: process ${pid} has no known start time, so it cannot be identified`);
			}
		}
	},
	dialogKeys: [
		{keys: ['right', 'tab'], change: chooseSignal(1), footer: ['Tab', 'Signal']},
		{keys: ['left', 'shift-tab'], change: chooseSignal(-1)},
		{keys: ['down'], change: chooseProcess(1), footer: ['Up Down', 'Process']},
		{keys: ['up'], change: chooseProcess(-1)},
	],
	view(choice) {
		const {processes, chosen, signal: name, gpu} = choice;
		const first = Math.max(0, Math.min(chosen - 2, processes.length - mostProcesses));
		const listed = processes.slice(first, first + mostProcesses).map((process, place): Line => {
			const isChosen = first + place === chosen;
			return [span(isChosen ? '> ' : '  ', 'key'), span(processLine(process), isChosen ? 'strong' : 'plain')];
		});
		const choices = signals.map((each): Line => [
			each === name ? span(`[${each.slice(3)}]`, 'marked') : span(` ${each.slice(3)} `),
		]);
		return {
			title: `Signal a process on GPU ${gpu}`,
			end: processes.length > mostProcesses ? `${chosen + 1} of ${processes.length}` : undefined,
			lines: [...listed, [], joined([[span('Signal')], ...choices])],
			question: `Send ${name} to process ${chosenProcess(choice).pid}?`,
		};
	},
});
