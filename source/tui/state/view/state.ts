/** The preset and the columns. Each preset keeps its order and filter while the monitor runs. */
import {
	type GpuColumnName,
	type PresetName,
	gpuColumnNames,
	usualGpuColumns,
} from '../../../format/monitor-settings.js';
import type {SortKey} from '../gpus/state.js';
import type {ProcessSortKey} from '../processes/state.js';
import type {TableState} from '../table/state.js';
import type {KeptView, OptionValues} from '../../ports.js';
import {remembering} from '../memo.js';
import type {Observation} from '../../../core/model/types.js';

export type Remembered = {
	readonly table: Pick<TableState<SortKey>, 'sort' | 'filter'>;
	readonly processes: Pick<TableState<ProcessSortKey>, 'sort' | 'filter'>;
};

export type ViewState = Pick<KeptView, 'preset'> &
	Partial<KeptView> & {
		/** Settings of the presets that are not shown. */
		readonly remembered: Readonly<Partial<Record<PresetName, Remembered>>>;
	};

/** The column chooser. Visible columns come first. */
export type ColumnsDialog = {readonly kind: 'columns'; readonly selected: number};

export type OptionName = keyof OptionValues;

/** The options dialog. Its values take effect with Enter. Until then the screen previews the theme and the graphs. */
export type OptionsDialog = {
	readonly kind: 'options';
	readonly selected: OptionName;
	readonly values: OptionValues;
};

type Viewed = {readonly view: ViewState; readonly observation?: Observation};

/** Whether the box has several GPU models, so that a model column is useful. */
const isMixed = remembering(
	({observation}: Pick<Viewed, 'observation'>) => [observation],
	({observation}) => new Set(observation?.gpus.map(({name}) => name).filter((name) => name !== undefined)).size > 1,
);

const usualWithModel = usualGpuColumns.flatMap((name) => (name === 'gpu' ? (['gpu', 'model'] as const) : [name]));

/** Returns the chosen columns, or the default columns of this box. */
export const shownColumns = (state: Viewed): readonly GpuColumnName[] =>
	state.view.columns ?? (isMixed(state) ? usualWithModel : usualGpuColumns);

/** Returns the columns in the order of the chooser: visible ones first. */
export function listedColumns(state: Viewed): {
	readonly shown: readonly GpuColumnName[];
	readonly all: readonly GpuColumnName[];
} {
	const shown = shownColumns(state);
	return {shown, all: [...shown, ...gpuColumnNames.filter((name) => !shown.includes(name))]};
}
