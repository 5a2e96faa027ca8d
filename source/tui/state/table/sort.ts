/** The order of the rows. Whatever is unknown comes last, and equals stand by index: so rows do not jump. */
import type {GpuState, StatusRow} from '../../../core/rules/pool/status.js';
import type {Sort, SortKey} from './state.js';

/** What needs somebody first comes first. */
const urgency: Readonly<Record<GpuState, number>> = {error: 0, unreserved: 1, 'in-use': 2, available: 3};

type Value = number | string | undefined;

const endOf = ({lease, remainingSeconds}: StatusRow): Value =>
	lease === undefined ? undefined : (remainingSeconds ?? Infinity);

/** The largest is what people look for. */
const largestFirst = (value: number | undefined): Value => (value === undefined ? undefined : -value);

const valueOf: Readonly<Record<SortKey, (row: StatusRow) => Value>> = {
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

function compare(a: NonNullable<Value>, b: NonNullable<Value>): number {
	return a === b ? 0 : a < b ? -1 : 1;
}

/** The rows in another order. */
export function sorted(rows: readonly StatusRow[], {by, isInverted}: Sort): readonly StatusRow[] {
	const value = valueOf[by];
	return rows.toSorted((first, second) => {
		const [a, b] = [value(first), value(second)];
		if (a === undefined || b === undefined) {
			return a === b ? first.index - second.index : a === undefined ? 1 : -1;
		}

		const order = compare(a, b) * (isInverted ? -1 : 1);
		return order === 0 ? first.index - second.index : order;
	});
}
