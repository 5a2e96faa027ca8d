/** The preset and the columns. While the monitor runs, each preset keeps its own order and filter. */
import {
	type GpuColumnName,
	type PresetName,
	gpuColumnNames,
	usualColumnsOfMixed,
	usualGpuColumns,
} from '../../../format/monitor-settings.js';
import type {TableState} from '../table/state.js';
import type {KeptView, OptionValues} from '../../ports.js';
import {remembering} from '../memo.js';
import type {Observation} from '../../../core/model/types.js';

export type Remembered = Readonly<Record<'gpus' | 'processes', Pick<TableState, 'sort' | 'filter'>>>;

export type ViewState = Pick<KeptView, 'preset'> &
	Partial<KeptView> & {
		/** The order and the filter of the presets that are not shown now. */
		readonly remembered: Readonly<Partial<Record<PresetName, Remembered>>>;
		/** The options that the user has set in the options dialog or by a typed line. `S` in the dialog saves only these. */
		readonly chosenOptions?: ReadonlySet<OptionName>;
	};

/** The dialog that chooses columns. Visible columns come first. */
export type ColumnsDialog = {readonly kind: 'columns'; readonly selected: number};

export type OptionName = keyof OptionValues;

/** The options dialog. Enter applies its values. Until then, the screen only previews the theme and the graphs. */
export type OptionsDialog = {
	readonly kind: 'options';
	readonly selected: OptionName;
	readonly values: OptionValues;
	readonly chosen: ReadonlySet<OptionName>;
};

type Viewed = {readonly view: ViewState; readonly observation?: Observation};

/** Whether this machine has several GPU models, so that a column with the model is useful. */
const isMixed = remembering(
	({observation}: Pick<Viewed, 'observation'>) => [observation],
	({observation}) => new Set(observation?.gpus.map(({name}) => name).filter((name) => name !== undefined)).size > 1,
);

export const shownColumns = (state: Viewed): readonly GpuColumnName[] =>
	state.view.columns ?? (isMixed(state) ? usualColumnsOfMixed : usualGpuColumns);

export function listedColumns(state: Viewed): {
	readonly shown: readonly GpuColumnName[];
	readonly all: readonly GpuColumnName[];
} {
	const shown = shownColumns(state);
	return {shown, all: [...shown, ...gpuColumnNames.filter((name) => !shown.includes(name))]};
}
