/** What the rows of the table of GPUs are sorted by. */
import type {GpuState, StatusRow} from '../../../core/rules/pool/status.js';
import {inOrder, type SortValue} from './order.js';
import type {Sort, SortKey} from './state.js';

/** What needs somebody first comes first. */
const urgency: Readonly<Record<GpuState, number>> = {error: 0, unreserved: 1, 'in-use': 2, available: 3};

const endOf = ({lease, remainingSeconds}: StatusRow): SortValue =>
	lease === undefined ? undefined : (remainingSeconds ?? Infinity);

const valueOf: Readonly<Record<SortKey, (row: StatusRow) => SortValue>> = {
	gpu: ({index}) => index,
	state: ({state}) => urgency[state],
	owner: ({owner, shares, unreservedUsers}) => owner ?? shares?.[0]?.owner ?? unreservedUsers[0],
	held: ({heldSeconds}) => heldSeconds,
	ends: endOf,
	utilization: ({reading}) => reading?.utilizationPercent,
	memory: ({reading}) => reading?.memoryUsedMiB,
	temperature: ({reading}) => reading?.temperatureCelsius,
	power: ({reading}) => reading?.powerWatts,
};

/** The first GPU of each reservation, by its id. */
function firstOfLeases(rows: readonly StatusRow[]): ReadonlyMap<string, number> {
	const first = new Map<string, number>();
	for (const {lease, index} of rows) {
		const id = lease?.leaseId;
		if (id !== undefined) {
			first.set(id, Math.min(index, first.get(id) ?? Infinity));
		}
	}

	return first;
}

/** The rows in another order. By owner, the GPUs of one reservation stay together. */
export function sorted<Row extends StatusRow>(rows: readonly Row[], sort: Sort): readonly Row[] {
	const byIndex = (a: StatusRow, b: StatusRow): number => a.index - b.index;
	if (sort.by !== 'owner') {
		return inOrder(rows, sort, valueOf, byIndex);
	}

	const first = firstOfLeases(rows);
	const positionOf = ({lease, index}: StatusRow): number => first.get(lease?.leaseId ?? '') ?? index;
	return inOrder(rows, sort, valueOf, (a, b) => {
		const order = positionOf(a) - positionOf(b);
		return order === 0 ? byIndex(a, b) : order;
	});
}
