/** What the rows of the table of GPUs are sorted by. */
import type {GpuState, StatusRow} from '../../../core/rules/pool/status.js';
import {inOrder, largestFirst, type SortValue} from './order.js';
import type {Sort, SortKey} from './state.js';

/** What needs somebody first comes first. */
const urgency: Readonly<Record<GpuState, number>> = {error: 0, unreserved: 1, 'in-use': 2, available: 3};

const endOf = ({lease, remainingSeconds}: StatusRow): SortValue =>
	lease === undefined ? undefined : (remainingSeconds ?? Infinity);

const valueOf: Readonly<Record<SortKey, (row: StatusRow) => SortValue>> = {
	gpu: ({index}) => index,
	state: ({state}) => urgency[state],
	owner: ({owner, unreservedUsers}) => owner ?? unreservedUsers[0],
	held: ({heldSeconds}) => largestFirst(heldSeconds),
	ends: endOf,
	utilization: ({reading}) => largestFirst(reading?.utilizationPercent),
	memory: ({reading}) => largestFirst(reading?.memoryUsedMiB),
	temperature: ({reading}) => largestFirst(reading?.temperatureCelsius),
	power: ({reading}) => largestFirst(reading?.powerWatts),
};

/** The rows in another order. */
export const sorted = (rows: readonly StatusRow[], sort: Sort): readonly StatusRow[] =>
	inOrder(rows, sort, valueOf, (a, b) => a.index - b.index);
