/** Which preset and which columns are shown. Each preset remembers its order and its filter for as long as the monitor runs. */
import type {GpuColumnName, PresetName} from '../../../format/monitor-settings.js';
import type {ProcessesState} from '../processes/state.js';
import type {TableState} from '../table/state.js';

/** What a preset remembers. */
export type Remembered = {
	readonly table: Pick<TableState, 'sort' | 'filter'>;
	readonly processes: Pick<ProcessesState, 'sort' | 'filter'>;
};

export type ViewState = {
	readonly preset: PresetName;
	/** The settings of presets that were left. */
	readonly remembered: Readonly<Partial<Record<PresetName, Remembered>>>;
	/** Reservations of several GPUs as one row each. Undefined: where not all GPUs fit. */
	readonly isFolded?: boolean;
	/** Columns of the table of GPUs, in their order. Undefined: the usual ones. */
	readonly columns?: readonly GpuColumnName[];
};

/** What a list of columns is being made of: those that are shown stand first, in their order. */
export type ColumnsDialog = {readonly kind: 'columns'; readonly selected: number};
