/** Dialogs that ask before something is done that cannot simply be taken back. */
import {ownerOf} from '../../core/rules/leases/ownership.js';
import {reasonAgainstUndo} from '../../core/operations/undo.js';
import type {GpuProcess} from '../../core/model/types.js';
import {shortDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {wantedWords} from '../../format/waiting-progress.js';
import {wrap} from '../../format/text/width.js';
import {signals, type Confirmation, type SignalChoice, type Targets} from '../state/dialogs.js';
import {storeNow, type State} from '../state/state.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {gibibytes, processWords} from '../view/readings.js';
import {joined, span, type Line} from '../widgets/styled-text.js';
import {asking, commandLines, dialogWidth, sides, type DialogView} from './dialog-parts.js';
import {targetLines, targetNames} from './targets.js';

/** `81234  60G  vllm serve Llama-3-70B`. */
const wordsOfProcess = (process: GpuProcess): string =>
	[
		String(process.pid),
		...(process.memoryUsedMiB === undefined ? [] : [gibibytes(process.memoryUsedMiB)]),
		processWords(process),
	].join('  ');

type Words = {
	readonly title: string;
	/** What it is about. */
	readonly about?: string;
	/** What to mind. */
	readonly warning?: string;
	readonly question: string;
};

/** What a release of running jobs means. */
function jobWarning({targets, leftOut}: Targets): string | undefined {
	const jobs = targets.filter(({lease}) => reasonAgainstUndo(lease) !== undefined);
	if (jobs.length === 0) {
		return undefined;
	}

	if (targets.length + leftOut.length === 1) {
		return 'Its job goes on, on a GPU that others get. Not to be undone.';
	}

	return jobs.length === 1
		? `The job on ${targetNames(jobs)} goes on, on a GPU that others get. Not to be undone.`
		: `The jobs on ${targetNames(jobs)} go on, on GPUs that others get. Not to be undone.`;
}

function wordsOf(dialog: Confirmation, state: State): Words {
	switch (dialog.verb) {
		case 'release': {
			const names = targetNames(dialog.targets);
			return {
				title: `Release ${names}`,
				warning: jobWarning(dialog),
				question: `Release ${names} now?`,
			};
		}

		case 'leave': {
			const {entry, held} = dialog;
			const wanted = {
				count: entry.requestedCount,
				ids: entry.requestedIds.length > 0 ? entry.requestedIds : undefined,
			};
			const waited = shortDuration((storeNow(state) ?? entry.enqueueTime) - entry.enqueueTime);
			return {
				title: 'Leave the queue',
				about: `${sanitize(ownerOf(entry))}, for ${wantedWords(wanted)}, waiting for ${waited}`,
				warning: held.length > 0 ? `What it holds by now goes with it: GPU ${held.join(',')}.` : undefined,
				question: 'Give up this place in the queue?',
			};
		}

		case 'adopt': {
			return {
				title: `Adopt on GPU ${dialog.gpu}`,
				about: wordsOfProcess(dialog.process),
				question: 'Hold the GPUs it uses for this process, until it ends?',
			};
		}

		case 'quit': {
			const {waiting} = dialog;
			return {
				title: 'Quit',
				about: `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} in the queue from this monitor`,
				warning: 'The queue is left with it. A shell can wait: canhazgpu reserve',
				question: 'Leave the queue and quit?',
			};
		}
	}
}

const questionLine = (question: string): Line => [span(`${question} `, 'strong'), span('y/N', 'warning')];

/** More than one line about what it is about. */
const isLong = (dialog: Confirmation): boolean =>
	dialog.verb === 'release' && dialog.targets.length + dialog.leftOut.length > 1;

export function confirmationView(dialog: Confirmation, state: State, glyphs: Glyphs): DialogView {
	const {title, about = '', warning, question} = wordsOf(dialog, state);
	const width = isLong(dialog) ? dialogWidth(state) : Math.min(66, dialogWidth(state));
	return {
		title,
		width,
		lines: [
			...(dialog.verb === 'release' ? targetLines(dialog, state, glyphs) : [[span(about, 'dim')]]),
			...(warning === undefined
				? [[]]
				: wrap(warning, width - sides, 2, glyphs.ellipsis).map((line) => [span(line, 'warning')])),
			dialog.isBusy ? asking : questionLine(question),
			[],
			...(dialog.verb === 'quit' ? [] : commandLines(dialog, state, glyphs)),
		],
	};
}

/** Processes shown at once. */
const mostProcesses = 6;

export function signalView(dialog: SignalChoice, state: State, glyphs: Glyphs): DialogView {
	const {processes, chosen, signal, gpu, isBusy} = dialog;
	const first = Math.max(0, Math.min(chosen - 2, processes.length - mostProcesses));
	const listed = processes.slice(first, first + mostProcesses).map((process, place): Line => {
		const isChosen = first + place === chosen;
		return [span(isChosen ? '> ' : '  ', 'key'), span(wordsOfProcess(process), isChosen ? 'strong' : 'plain')];
	});
	const choices = signals.map((name): Line => [
		name === signal ? span(`[${name.slice(3)}]`, 'marked') : span(` ${name.slice(3)} `),
	]);
	return {
		title: `Signal a process on GPU ${gpu}`,
		width: dialogWidth(state),
		end: processes.length > mostProcesses ? `${chosen + 1} of ${processes.length}` : undefined,
		lines: [
			...listed,
			[],
			joined([[span('Signal')], ...choices]),
			isBusy ? asking : questionLine(`Send ${signal} to process ${processes[chosen]!.pid}?`),
			[],
			...commandLines(dialog, state, glyphs),
		],
	};
}
