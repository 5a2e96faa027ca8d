import {presetNames, type GpuColumnName, type PresetName} from '../../../format/monitor-settings.js';
import {isFolded} from '../../layout.js';
import {foldedCount} from '../gpus/fold.js';
import type {PanelName} from '../panels/state.js';
import {neighborOf} from '../ring.js';
import {withFlash, type State} from '../state.js';
import {initialTables} from '../table/state.js';
import {listedColumns, type Remembered, type ViewState} from './state.js';

export const presetMeanings: Readonly<Record<PresetName, string>> = {
	default: 'GPUs, queue, detail and events',
	dense: 'as many GPUs as fit',
	processes: 'GPUs, and the processes of all of them',
	queue: 'GPUs, and who waits for whom',
};

const focusOf: Readonly<Record<PresetName, PanelName>> = {
	default: 'gpus',
	dense: 'gpus',
	processes: 'processes',
	queue: 'queue',
};

/** The initial tables of a preset. The preset for many GPUs sorts by owner, which keeps the GPUs of a reservation together. */
const initialIn = (preset: PresetName): Remembered =>
	preset === 'dense'
		? {...initialTables, gpus: {...initialTables.gpus, sort: {by: 'owner', isInverted: false}}}
		: initialTables;

/** Switches to a preset, and restores the last order and filter of that preset. */
export function withPreset(state: State, preset: PresetName): State {
	const {gpus, processes, view, panels} = state;
	const found = view.remembered[preset] ?? initialIn(preset);
	const restored = ({sort, filter}: Remembered['gpus']): Remembered['gpus'] => ({sort, filter});
	return {
		...state,
		view: {...view, preset, remembered: {...view.remembered, [view.preset]: {gpus, processes}}},
		gpus: {...gpus, ...restored(found.gpus)},
		processes: {...processes, ...restored(found.processes)},
		panels: {...panels, focus: focusOf[preset], isZoomed: false},
	};
}

export function startingWith(state: State, {preset = 'default', ...kept}: Partial<ViewState>): State {
	const begun: State = {...state, view: {...state.view, columns: kept.columns, isFolded: kept.isFolded}};
	return preset === 'default' || state.settings.hasNoPool === true ? begun : withPreset(begun, preset);
}

const needingPool =
	(change: (state: State) => State) =>
	(state: State): State =>
		state.settings.hasNoPool === true
			? withFlash(state, 'warning', 'Without a pool on this host, there is only this table')
			: change(state);

function nextPreset(state: State): State {
	const preset = neighborOf(presetNames, state.view.preset, 1);
	return withFlash(withPreset(state, preset), 'ok', `Preset ${preset}: ${presetMeanings[preset]}. S saves it`);
}

function toggleFold(state: State): State {
	const {snapshot, settings, view} = state;
	if (settings.isLinear) {
		return withFlash(state, 'warning', 'The screen-reader view always shows each GPU on its own');
	}

	if (snapshot === undefined || foldedCount(snapshot) === snapshot.gpus.length) {
		return withFlash(state, 'warning', 'No reservation has several GPUs');
	}

	const isNowFolded = !isFolded(state);
	// If the choice is the default for this screen size, it is not stored.
	const isUsual = isFolded({...state, view: {...view, isFolded: undefined}}) === isNowFolded;
	return withFlash(
		{...state, view: {...view, isFolded: isUsual ? undefined : isNowFolded}},
		'ok',
		isNowFolded
			? 'One row for each reservation; g unfolds them, S saves it'
			: 'One row for each GPU; g folds reservations, S saves it',
	);
}

const withColumns = (state: State, columns: readonly GpuColumnName[] | undefined, selected: number): State => ({
	...state,
	view: {...state.view, columns},
	dialog: {kind: 'columns', selected},
});

const selectedOf = ({dialog}: State): number => (dialog?.kind === 'columns' ? dialog.selected : 0);

const selectColumn = (state: State, by: 1 | -1): State => {
	const {length} = listedColumns(state).all;
	return {...state, dialog: {kind: 'columns', selected: (selectedOf(state) + by + length) % length}};
};

const gpuStays = 'The GPU column cannot be hidden';

/** Shows the selected column after the others, or hides a shown column. The column with the GPU's number cannot be hidden. */
function toggleColumn(state: State): State {
	const {shown, all} = listedColumns(state);
	const name = all[selectedOf(state)]!;
	if (name === 'gpu') {
		return withFlash(state, 'warning', gpuStays);
	}

	const columns = shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name];
	const next = withColumns(state, columns, 0);
	return withColumns(next, columns, listedColumns(next).all.indexOf(name));
}

function moveColumn(state: State, by: 1 | -1): State {
	const {shown} = listedColumns(state);
	const index = selectedOf(state);
	const target = index + by;
	if (index === 0) {
		return withFlash(state, 'warning', gpuStays);
	}

	if (index >= shown.length) {
		return withFlash(state, 'warning', 'A hidden column has no position: Space shows it');
	}

	if (target < 1 || target >= shown.length) {
		return state;
	}

	const moved = shown.with(index, shown[target]!).with(target, shown[index]!);
	return withColumns(state, moved, target);
}

export const viewIntents = {
	'next-preset': needingPool(nextPreset),
	'toggle-fold': needingPool(toggleFold),
	'open-columns': needingPool((state) => ({...state, dialog: {kind: 'columns', selected: 0}})),
	'previous-column': (state) => selectColumn(state, -1),
	'next-column': (state) => selectColumn(state, 1),
	'toggle-column': toggleColumn,
	'move-column-left': (state) => moveColumn(state, -1),
	'move-column-right': (state) => moveColumn(state, 1),
	'usual-columns': (state) => withColumns(state, undefined, 0),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type ViewIntent = keyof typeof viewIntents;
