/** Which preset and which columns are shown. Each preset remembers its order and its filter for as long as the monitor runs. */
import {
	type GpuColumnName,
	type PresetName,
	gpuColumnNames,
	usualGpuColumns,
} from '../../../format/monitor-settings.js';
import type {ProcessesState} from '../processes/state.js';
import type {KeptView} from '../../ports.js';
import type {TableState} from '../table/state.js';
import {remembering} from '../memo.js';
import type {Observation} from '../../../core/model/types.js';

/** What a preset remembers. */
export type Remembered = {
	readonly table: Pick<TableState, 'sort' | 'filter'>;
	readonly processes: Pick<ProcessesState, 'sort' | 'filter'>;
};

export type ViewState = Pick<KeptView, 'preset'> &
	Partial<KeptView> & {
		/** The settings of presets that were left. */
		readonly remembered: Readonly<Partial<Record<PresetName, Remembered>>>;
	};

/** What a list of columns is being made of: those that are shown stand first, in their order. */
export type ColumnsDialog = {readonly kind: 'columns'; readonly selected: number};

/** What the columns of the monitor's state depend on. */
type Viewed = {readonly view: ViewState; readonly observation?: Observation};

/** With GPUs of several models, the number of a GPU does not say which it is. */
const isMixed = remembering(
	({observation}: Pick<Viewed, 'observation'>) => [observation],
	({observation}) => new Set(observation?.gpus.map(({name}) => name).filter((name) => name !== undefined)).size > 1,
);

const usualWithModel = usualGpuColumns.flatMap((name) => (name === 'gpu' ? (['gpu', 'model'] as const) : [name]));

/** Those that were chosen, or else the usual ones of this box. */
export const shownColumns = (state: Viewed): readonly GpuColumnName[] =>
	state.view.columns ?? (isMixed(state) ? usualWithModel : usualGpuColumns);

/** Columns in the order of the dialog: the shown ones, then the others. */
export function listedColumns(state: Viewed): {
	readonly shown: readonly GpuColumnName[];
	readonly all: readonly GpuColumnName[];
} {
	const shown = shownColumns(state);
	return {shown, all: [...shown, ...gpuColumnNames.filter((name) => !shown.includes(name))]};
}
