/** The order of the GPUs of all hosts. Whatever is unknown comes last, and equals stay as they were: so lines do not jump. */
import type {RemoteGpu} from '../../../format/hosts/remote-gpu.js';
import type {MonitorState} from '../../../format/states.js';
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

type Value = number | string | undefined;

/** The largest is what people look for. */
const largestFirst = (value: number | undefined): Value => (value === undefined ? undefined : -value);

/** Nobody holds it, so that there is nothing to end. */
const isUnheld = (state: MonitorState): boolean => ['available', 'unreserved', 'error', 'drained'].includes(state);

const endOf = ({gpu, state}: Sortable): Value => (isUnheld(state) ? undefined : (gpu.remaining_seconds ?? Infinity));

/** The host itself is the order that the lines have. */
const valueOf: Readonly<Record<Exclude<HostSortKey, 'host'>, (line: Sortable) => Value>> = {
	state: ({state}) => urgency[state],
	owner: ({gpu}) => gpu.user ?? gpu.sharers?.[0] ?? gpu.unreserved_users?.[0],
	ends: endOf,
	utilization: ({gpu}) => largestFirst(gpu.utilization),
	memory: ({gpu}) => largestFirst(gpu.memory_used_mb),
	temperature: ({gpu}) => largestFirst(gpu.temperature),
	model: ({gpu}) => gpu.gpu_model,
};

const compare = (a: NonNullable<Value>, b: NonNullable<Value>): number => (a === b ? 0 : a < b ? -1 : 1);

export function sortedGpuLines<Line extends Sortable>(
	lines: readonly Line[],
	{by, isInverted}: HostsState['sort'],
): readonly Line[] {
	if (by === 'host') {
		return isInverted ? lines.toReversed() : lines;
	}

	const value = valueOf[by];
	return lines.toSorted((first, second) => {
		const [a, b] = [value(first), value(second)];
		if (a === undefined || b === undefined) {
			return a === b ? 0 : a === undefined ? 1 : -1;
		}

		return compare(a, b) * (isInverted ? -1 : 1);
	});
}
