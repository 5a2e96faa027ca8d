/** The order of the GPUs of all hosts. Whatever is unknown comes last, and equals stay as they were: so lines do not jump. */
import type {RemoteGpu} from '../../../format/hosts/remote-gpu.js';
import type {MonitorState} from '../../../format/states.js';
import {compareIn, type SortValue} from '../table/order.js';
import type {HostSortKey, HostsState} from './state.js';

/** What needs somebody first comes first. */
const urgency: Readonly<Record<MonitorState, number>> = {
	error: 0,
	unreserved: 1,
	mine: 2,
	waiting: 3,
	idle: 3,
	'in-use': 3,
	unknown: 4,
	drained: 5,
	available: 6,
};

type Sortable = {readonly gpu: RemoteGpu; readonly state: MonitorState};

/** Nobody holds it, so that there is nothing to end. */
const isUnheld = (state: MonitorState): boolean => ['available', 'unreserved', 'error', 'drained'].includes(state);

const endOf = ({gpu, state}: Sortable): SortValue =>
	isUnheld(state) ? undefined : (gpu.remaining_seconds ?? Infinity);

/** The host itself is the order that the lines have. */
const valueOf: Readonly<Record<Exclude<HostSortKey, 'host'>, (line: Sortable) => SortValue>> = {
	state: ({state}) => urgency[state],
	owner: ({gpu}) => gpu.user ?? gpu.sharers?.[0] ?? gpu.unreserved_users?.[0],
	ends: endOf,
	utilization: ({gpu}) => gpu.utilization,
	memory: ({gpu}) => gpu.memory_used_mb,
	temperature: ({gpu}) => gpu.temperature,
	model: ({gpu}) => gpu.gpu_model,
};

export function sortedGpuLines<Line extends Sortable>(
	lines: readonly Line[],
	sort: HostsState['sort'],
): readonly Line[] {
	const {by, isInverted} = sort;
	if (by === 'host') {
		return isInverted ? lines.toReversed() : lines;
	}

	const value = valueOf[by];
	return lines.toSorted((a, b) => compareIn(sort, value(a), value(b)));
}
