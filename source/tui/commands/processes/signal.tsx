/** `K`: sends a signal to one of the user's processes on the selected GPU, or to the chosen processes in the process table. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {problemWith} from '../../../core/rules/processes/process-targets.js';
import {processLine} from '../../../format/readings.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {Confirm} from '../../dialogs/confirm.js';
import type {SendSignal} from '../../ports.js';
import {Label} from '../../widgets/label.js';
import {firstReason, reasonAgainstDoing} from '../reasons.js';
import {defineCommand, failed, succeeded, warning} from '../command.js';
import {problemText, scanProcesses} from './own-scan.js';
import {
	chooseProcess,
	chooseSignal,
	reasonAgainstProcesses,
	sentTo,
	signalChoiceFor,
	signals,
	type SignalChoice,
	type Target,
} from './signal-choice.js';

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const pidsOf = (targets: readonly Target[]): readonly number[] => [...new Set(targets.map(({process}) => process.pid))];

/** Returns the targets to list. A process that uses several GPUs is listed only once. */
const oncePerProcess = (targets: readonly Target[]): readonly Target[] =>
	new Map(targets.map((target) => [target.process.pid, target])).values().toArray();

const gpusOf = (targets: readonly Target[]): readonly number[] => [...new Set(targets.map(({gpu}) => gpu))];

const outcomeText = {
	gone: 'has already ended',
	'not-yours': 'is not yours',
	unknown: 'has no known start time, so it cannot be identified',
} as const satisfies Readonly<Record<Exclude<ReturnType<SendSignal>, 'sent'>, string>>;

const mostProcesses = 6;

function SignalDialog({dialog}: {readonly dialog: SignalChoice}): ReactElement {
	const {targets, chosen, isTogether, signal: name, leftOut, isBusy} = dialog;
	const listed = oncePerProcess(targets);
	const first = isTogether ? 0 : Math.max(0, Math.min(chosen - 2, listed.length - mostProcesses));
	const shown = listed.slice(first, first + mostProcesses);
	const hidden = isTogether ? listed.length - shown.length : 0;
	const pids = pidsOf(sentTo(dialog));
	const gpus = gpuList(gpusOf(targets));
	const whom = pids.length > 1 ? `${pids.length} processes` : `process ${pids[0]}`;
	return (
		<Confirm
			title={pids.length > 1 ? `Signal ${pids.length} processes on ${gpus}` : `Signal a process on ${gpus}`}
			question={`Send ${name} to ${whom}?`}
			end={!isTogether && targets.length > mostProcesses ? `${chosen + 1} of ${targets.length}` : undefined}
			isBusy={isBusy}
			isWide
		>
			{shown.map(({process}, index) => {
				const isChosen = isTogether || first + index === chosen;
				return (
					<Label key={process.pid}>
						<Label tone="key">{isChosen ? '> ' : '  '}</Label>
						<Label tone={isChosen ? 'strong' : 'plain'}>{processLine(process)}</Label>
					</Label>
				);
			})}
			{hidden > 0 ? <Label tone="dim"> and {hidden} more</Label> : undefined}
			{leftOut === undefined ? undefined : <Label tone="warning">Left out: {leftOut}</Label>}
			<Box gap={2} marginTop={1} flexShrink={0}>
				<Label>Signal</Label>
				{signals.map((each) => (
					<Label key={each} tone={each === name ? 'marked' : 'plain'}>
						{each === name ? `[${each.slice(3)}]` : ` ${each.slice(3)} `}
					</Label>
				))}
			</Box>
		</Confirm>
	);
}

export const signal = defineCommand<SignalChoice>({
	name: 'signal',
	keys: {
		modes: ['gpus', 'detail', 'processes'],
		keys: ['K'],
		help: ['Queue and processes', 'signal your process'],
		footer: ['K', 'Kill', 5],
	},
	// Signals can be sent even while the store is unreachable.
	reasonAgainst: firstReason(reasonAgainstDoing, reasonAgainstProcesses),
	async begin(context) {
		const opened = await signalChoiceFor(context);
		return typeof opened === 'string' ? warning(sentence(opened)) : opened && {kind: 'opened', dialog: opened};
	},
	shellCommand: (choice) => shellCommand(['kill', `-${choice.signal.slice(3)}`, ...pidsOf(sentTo(choice)).map(String)]),
	async perform({world, ports: {sendSignal, inspectProcesses}}, choice) {
		const {signal: name} = choice;
		const targets = sentTo(choice);
		const scan = await scanProcesses(world, inspectProcesses, gpusOf(targets), pidsOf(targets));
		const sent = new Set<number>();
		const failures: string[] = [];
		for (const {gpu, process} of targets) {
			const {pid, startTicks} = process;
			// A process that uses several GPUs gets only one signal.
			if (sent.has(pid)) {
				continue;
			}

			const problem = problemWith(process, gpu, scan);
			if (problem !== undefined) {
				failures.push(problemText(pid, [gpu], problem));
				continue;
			}

			// Right before it sends the signal, `sendSignal` compares the start time again.
			const outcome = sendSignal?.({pid, startTicks}, name) ?? 'unknown';
			if (outcome === 'sent') {
				sent.add(pid);
			} else {
				failures.push(`process ${pid} ${outcomeText[outcome]}`);
			}
		}

		const [failure] = failures;
		if (sent.size === 0) {
			return failed(`Nothing sent: ${failure}`);
		}

		const pids = [...sent];
		const words = `sent ${name} to process${pids.length === 1 ? '' : 'es'} ${pids.join(', ')}`;
		const command = `kill -${name.slice(3)} ${pids.join(' ')}`;
		return failure === undefined ? succeeded(words, command) : warning(`${words}, but ${failure}`, command);
	},
	dialogKeys: [
		{keys: ['right', 'tab'], change: chooseSignal(1), footer: ['Tab', 'Signal']},
		{keys: ['left', 'shift-tab'], change: chooseSignal(-1)},
		{keys: ['down'], change: chooseProcess(1), footer: ['Up Down', 'Process']},
		{keys: ['up'], change: chooseProcess(-1)},
	],
	Dialog: SignalDialog,
});
