/** Finds the processes that `K` can signal: those of the user on the selected GPUs, or those chosen in the process table. */
import type {GpuProcess} from '../../../core/model/types.js';
import {ownTargets, problemWith} from '../../../core/rules/processes/process-targets.js';
import {byMemory} from '../../../format/readings.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {SignalName} from '../../ports.js';
import {choose, type Choice} from '../../state/dialogs.js';
import {gpuTable, rowWith, selectedGpus} from '../../state/gpus/rows.js';
import {processTable} from '../../state/processes/rows.js';
import type {ProcessRow} from '../../state/processes/state.js';
import {neighborOf} from '../../state/ring.js';
import type {State} from '../../state/state.js';
import type {EffectContext} from '../command.js';
import {firstReason, reasonAgainstGpus} from '../reasons.js';
import {ownProcesses, problemText} from './own-scan.js';

export const signals = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const satisfies readonly SignalName[];

/** A process on a GPU, as this monitor's own scan found it. */
export type Target = {readonly gpu: number; readonly process: GpuProcess};

/** The choices in the dialog: the signal, and whether one target or all targets get the signal. */
type Signal = {
	readonly targets: readonly Target[];
	readonly chosen: number;
	readonly isTogether: boolean;
	/** Why some of the tagged processes get no signal. */
	readonly leftOut?: string;
	readonly signal: SignalName;
};

export type SignalChoice = Choice<Signal>;

export const signalChoice = (targets: readonly Target[], more: Partial<Signal> = {}): SignalChoice =>
	choose('signal', {targets, chosen: 0, isTogether: false, signal: 'SIGTERM', ...more});

export const sentTo = ({targets, chosen, isTogether}: Signal): readonly Target[] =>
	isTogether ? targets : [targets[chosen]!];

export const chooseProcess =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({
		...choice,
		chosen: (choice.chosen + by + choice.targets.length) % choice.targets.length,
	});

export const chooseSignal =
	(by: 1 | -1) =>
	(choice: SignalChoice): SignalChoice => ({...choice, signal: neighborOf(signals, choice.signal, by)});

const isInTable = ({panels}: State): boolean => panels.focus === 'processes';

const isOwn = ({process}: ProcessRow, {settings}: State): boolean => process.user === settings.requester.account;

const notOwnText = (rows: readonly ProcessRow[]): string =>
	rows.map(({process: {pid, user}}) => `${pid} of ${sanitize(user ?? 'an unknown user')}`).join(', ');

function reasonAgainstChosen(state: State): string | undefined {
	const chosen = processTable.chosen(state);
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

	const users = [...new Set((gpuTable.selected(state)?.processes ?? []).map(({user}) => user ?? 'an unknown user'))];
	if (users.length === 0) {
		return selectedGpus(state).some((index) => rowWith(state, index)?.reading?.isUnread === true)
			? `The processes on ${gpu} cannot be read from here: press x to end one of your jobs`
			: `No process is visible on ${gpu}`;
	}

	return `No process of yours is on ${gpu}, only of ${sanitize(users.join(', '))}`;
}

export const reasonAgainstProcesses = (state: State): string | undefined =>
	isInTable(state) ? reasonAgainstChosen(state) : firstReason(reasonAgainstGpus, reasonAgainstOnGpu)(state);

/** Returns the user's processes on the selected row's GPUs, or why there are none. Undefined if the user selected another row meanwhile. */
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
		// A process that uses several GPUs is listed only once.
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

/** Returns the tagged or selected processes that belong to the user. Scans first, because a pid on the screen may now belong to another process. */
async function choiceInTable({store: {getState}, scanOwn}: EffectContext): Promise<SignalChoice | string | undefined> {
	const chosen = processTable.chosen(getState());
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
			: problemText(process.pid, [row.index], problem);
	}

	const others = chosen.filter((row) => !isOwn(row, getState()));
	return signalChoice(targets, {
		isTogether: true,
		leftOut: others.length === 0 ? undefined : notOwnText(others),
	});
}

/** Returns the choice for the focused table, or why there is no process to signal. Undefined if the user selected another row meanwhile. */
export const signalChoiceFor = async (context: EffectContext): Promise<SignalChoice | string | undefined> =>
	isInTable(context.store.getState()) ? choiceInTable(context) : choiceOnGpu(context);
