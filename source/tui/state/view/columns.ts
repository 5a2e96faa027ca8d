/** The columns of the table of GPUs: which are shown, and which there are. */
import {gpuColumnNames, usualGpuColumns, type GpuColumnName} from '../../../format/monitor-settings.js';
import {remembering} from '../memo.js';
import type {State} from '../state.js';

/** With GPUs of several models, the number of a GPU does not tell which it is. */
const isMixed = remembering(
	({observation}: Pick<State, 'observation'>) => [observation],
	({observation}) => new Set(observation?.gpus.map(({name}) => name).filter((name) => name !== undefined)).size > 1,
);

const usualWithModel = usualGpuColumns.flatMap((name) => (name === 'gpu' ? (['gpu', 'model'] as const) : [name]));

/** Those that were chosen, or else the usual ones of this box. */
export const shownColumns = (state: Pick<State, 'view' | 'observation'>): readonly GpuColumnName[] =>
	state.view.columns ?? (isMixed(state) ? usualWithModel : usualGpuColumns);

/** Columns in the order of the dialog: the shown ones, then the others. */
export function listedColumns(state: Pick<State, 'view' | 'observation'>): {
	readonly shown: readonly GpuColumnName[];
	readonly all: readonly GpuColumnName[];
} {
	const shown = shownColumns(state);
	return {shown, all: [...shown, ...gpuColumnNames.filter((name) => !shown.includes(name))]};
}
