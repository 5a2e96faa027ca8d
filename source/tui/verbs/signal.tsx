/** `K`: sends a signal to one of the user's processes on the selected GPU, or to the chosen processes in the process table. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {GpuProcess} from '../../core/model/types.js';
import {ownTargets, problemWith} from '../../core/rules/processes/process-targets.js';
import {shellCommand} from '../../format/text/shell.js';
import {sanitize} from '../../format/text/text.js';
import {gpuList} from '../../format/text/gpu-list.js';
import type {SendSignal, SignalName} from '../ports.js';
import {Confirm} from '../dialogs/confirm.js';
import {choose, type Choice} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {chosenProcesses} from '../state/processes/rows.js';
import type {ProcessRow} from '../state/processes/state.js';
import {gpuTable, rowWith, selectedGpus} from '../state/gpus/rows.js';
import {byMemory, processLine} from '../../format/readings.js';
import {Label} from '../widgets/label.js';
import {ownProcesses, problemText, scanProcesses} from './shared/own-scan.js';
import {firstReason, reasonAgainstDoing, reasonAgainstGpus} from './shared/reasons.js';
import {defineVerb, failed, halfDone, succeeded, warning, type EffectContext} from './verb.js';

const signals = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const satisfies readonly SignalName[];

/** A process on a GPU, from a scan by this monitor. */
type Target = {readonly gpu: number; readonly process: GpuProcess};

/** The signal, and its targets: the chosen process, or all of them. */
type Signal = {
	readonly targets: readonly Target[];
	readonly chosen: number;
	readonly isTogether: boolean;
	/** Why some tagged processes get no signal. */
	readonly leftOut?: string;
	readonly signal: SignalName;
};

type SignalChoice = Choice<Signal>;

/** Returns the dialog before a signal is chosen. */
export const signalChoice = (targets: readonly Target[], more: Partial<Signal> = {}): SignalChoice =>
	choose('signal', {targets, chosen: 0, isTogether: false, signal: 'SIGTERM', ...more});

const sentTo = ({targets, chosen, isTogether}: Signal): readonly Target[] =>
	isTogether ? targets : [targets[chosen]!];

const around = (index: number, by: number, count: number): number => (index + by + count) % count;

export const chooseProcess =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({...choice, chosen: around(choice.chosen, by, choice.targets.length)});

export const chooseSignal =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({
		...choice,
		signal: signals[around(signals.indexOf(choice.signal), by, signals.length)]!,
	});

const isInTable = ({panels}: State): boolean => panels.focus === 'processes';

const isOwn = ({process}: ProcessRow, {settings}: State): boolean => process.user === settings.requester.account;

/** Returns a text such as `81238 of carol, 81240 of dave`. */
const notOwnText = (rows: readonly ProcessRow[]): string =>
	rows.map(({process: {pid, user}}) => `${pid} of ${sanitize(user ?? 'an unknown user')}`).join(', ');

function reasonAgainstChosen(state: State): string | undefined {
	const chosen = chosenProcesses(state);
	if (chosen.length === 0) {
		return 'No process is shown';
	}

	return chosen.some((row) => isOwn(row, state)) ? undefined : `Not yours: process ${notOwnText(chosen)}`;
}

function reasonAgainstOnGpu(state: State): string | undefined {
	const gpu = gpuList(selectedGpus(state));
	if (ownProcesses(state).length > 0) {
		return undefined;
	}

	const users = [
		...new Set((gpuTable.selected(state)?.processes ?? []).map(({user}) => user ?? 'an unknown user')),
	];
	if (users.length === 0) {
		return selectedGpus(state).some((index) => rowWith(state, index)?.reading?.isUnread === true)
			? `What runs on ${gpu} is not read from here: x ends a job of yours, with all that runs in it`
			: `No process is visible on ${gpu}`;
	}

	return `No process of yours is on ${gpu}, only of ${sanitize(users.join(', '))}`;
}

const reasonAgainstProcesses = (state: State): string | undefined =>
	isInTable(state) ? reasonAgainstChosen(state) : firstReason(reasonAgainstGpus, reasonAgainstOnGpu)(state);

/** Capitalizes the first letter. */
const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const pidsOf = (targets: readonly Target[]): readonly number[] => [...new Set(targets.map(({process}) => process.pid))];

const gpusOf = (targets: readonly Target[]): readonly number[] => [...new Set(targets.map(({gpu}) => gpu))];

const outcomeText = {
	gone: 'has ended meanwhile',
	'not-yours': 'is not yours',
	unknown: 'has no known start time, so it cannot be identified',
} as const satisfies Readonly<Record<Exclude<ReturnType<SendSignal>, 'sent'>, string>>;

/** Returns the user's processes on the selected row's GPUs, or why there are none. Undefined if the user moved on meanwhile. */
async function choiceOnGpu({
	store: {getState},
	scanSelected,
}: EffectContext): Promise<SignalChoice | string | undefined> {
	const [shown] = ownProcesses(getState());
	const seen = await scanSelected();
	if (seen === undefined) {
		return undefined;
	}

	const {gpus, scan} = seen;
	const found = gpus.flatMap((gpu) => ownTargets(scan, gpu).map((process): Target => ({gpu, process})));
	const targetsByPid = new Map(found.toReversed().map((target) => [target.process.pid, target]));
	if (targetsByPid.size > 0) {
		// Lists a process on several GPUs once.
		const processes = targetsByPid
			.values()
			.map(({process}) => process)
			.toArray();
		return signalChoice(byMemory(processes).map(({pid}) => targetsByPid.get(pid)!));
	}

	const problems = gpus.map((gpu) => problemWith(shown!, gpu, scan));
	const [problem] = problems;
	return problem === undefined || problems.includes(undefined)
		? `no process of yours is on ${gpuList(gpus)}`
		: problemText(shown!.pid, gpus, problem);
}

/** Returns the tagged or selected processes that belong to the user, by a scan of this monitor. */
async function choiceInTable({store: {getState}, scanOwn}: EffectContext): Promise<SignalChoice | string | undefined> {
	const chosen = chosenProcesses(getState());
	const own = chosen.filter((row) => isOwn(row, getState()));
	const scan = await scanOwn(
		[...new Set(own.map(({row}) => row.index))],
		own.map(({process}) => process.pid),
	);
	if (scan === undefined || !isInTable(getState())) {
		return undefined;
	}

	const targets = own.flatMap(({process, row}): readonly Target[] => {
		const found =
			problemWith(process, row.index, scan) === undefined
				? ownTargets(scan, row.index).find(({pid}) => pid === process.pid)
				: undefined;
		return found === undefined ? [] : [{gpu: row.index, process: found}];
	});
	if (targets.length === 0) {
		const {process, row} = own[0]!;
		const problem = problemWith(process, row.index, scan);
		return problem === undefined
			? `process ${process.pid} is not on GPU ${row.index}`
			: problemText(process.pid, row.index, problem);
	}

	const others = chosen.filter((row) => !isOwn(row, getState()));
	return signalChoice(targets, {
		isTogether: true,
		leftOut: others.length === 0 ? undefined : notOwnText(others),
	});
}

/** Maximum number of processes shown. */
const mostProcesses = 6;

function SignalDialog({dialog}: {readonly dialog: SignalChoice}): ReactElement {
	const {targets, chosen, isTogether, signal: name, leftOut, isBusy} = dialog;
	const first = isTogether ? 0 : Math.max(0, Math.min(chosen - 2, targets.length - mostProcesses));
	const shown = targets.slice(first, first + mostProcesses);
	const hidden = isTogether ? targets.length - shown.length : 0;
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

export const signal = defineVerb<SignalChoice>({
	name: 'signal',
	keys: {
		modes: ['table', 'detail', 'processes'],
		keys: ['K'],
		help: ['Queue and processes', 'signal your process'],
		footer: ['K', 'Kill', 5],
	},
	// The state of the pool does not matter here.
	reasonAgainst: firstReason(reasonAgainstDoing, reasonAgainstProcesses),
	async begin(context) {
		const {getState, dispatch} = context.store;
		const opened = isInTable(getState()) ? await choiceInTable(context) : await choiceOnGpu(context);
		if (opened !== undefined) {
			dispatch(typeof opened === 'string' ? warning(sentence(opened)) : {kind: 'opened', dialog: opened});
		}
	},
	command: (choice) => shellCommand(['kill', `-${choice.signal.slice(3)}`, ...pidsOf(sentTo(choice)).map(String)]),
	async perform({world, ports: {sendSignal, inspectProcesses}}, choice) {
		const {signal: name} = choice;
		const targets = sentTo(choice);
		const scan = await scanProcesses(world, inspectProcesses, gpusOf(targets), pidsOf(targets));
		const sent = new Set<number>();
		const failures: string[] = [];
		for (const {gpu, process} of targets) {
			const {pid, startTicks} = process;
			// Sends one signal to a process on several GPUs.
			if (sent.has(pid)) {
				continue;
			}

			const problem = problemWith(process, gpu, scan);
			if (problem !== undefined) {
				failures.push(problemText(pid, gpu, problem));
				continue;
			}

			// `sendSignal` compares the start time again right before it sends.
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
		return failure === undefined ? succeeded(words, command) : halfDone(`${words}, but ${failure}`, command);
	},
	dialogKeys: [
		{keys: ['right', 'tab'], change: chooseSignal(1), footer: ['Tab', 'Signal']},
		{keys: ['left', 'shift-tab'], change: chooseSignal(-1)},
		{keys: ['down'], change: chooseProcess(1), footer: ['Up Down', 'Process']},
		{keys: ['up'], change: chooseProcess(-1)},
	],
	Dialog: SignalDialog,
});
