import type {GpuProcess, GpuReading, Snapshot} from '../../../core/model/types.js';
import {shownStateOf, type ShownState, type StatusRow} from '../../../core/rules/pool/status.js';
import {gpuRanges} from '../../../format/text/gpu-list.js';
import {remembering} from '../memo.js';

/** A row of the GPU table: either one GPU, or all GPUs of a reservation, which is called a folded row. */
export type TableRow = StatusRow & {
	/** The GPUs of a folded row, by index. Fields that cannot be combined have the values of the most urgent GPU. */
	readonly members?: readonly StatusRow[];
};

export const membersOf = (row: TableRow): readonly StatusRow[] => row.members ?? [row];

/** Returns the numbers of the GPUs in a row, such as `0-7 (8)`. */
export const gpuText = (row: TableRow): string => {
	const gpus = membersOf(row).map(({index}) => index);
	return gpus.length === 1 ? String(row.index) : `${gpuRanges(gpus)} (${gpus.length})`;
};

/** Returns the number of rows if reservations are folded. Reservations of the Go program have no id, so they are not folded. */
export const foldedCount = remembering(
	(snapshot: Pick<Snapshot, 'gpus'>) => [snapshot.gpus],
	({gpus}): number =>
		new Set(gpus.map((record) => (record.kind === 'leased' ? (record.lease.leaseId ?? record) : record))).size,
);

const known = <Value>(values: ReadonlyArray<Value | undefined>): readonly Value[] =>
	values.filter((value) => value !== undefined);

export const meanOf = (values: ReadonlyArray<number | undefined>): number | undefined => {
	const present = known(values);
	return present.length === 0 ? undefined : present.reduce((sum, value) => sum + value, 0) / present.length;
};

const largestOf = (values: ReadonlyArray<number | undefined>): number | undefined => {
	const present = known(values);
	return present.length === 0 ? undefined : Math.max(...present);
};

const sameOf = <Value>(values: ReadonlyArray<Value | undefined>): Value | undefined =>
	values.every((value) => value === values[0]) ? values[0] : undefined;

/** Returns each process once, even if it uses several GPUs, with the sum of its memory. */
function oncePerPid(processes: readonly GpuProcess[]): readonly GpuProcess[] {
	const merged = new Map<number, GpuProcess>();
	for (const process of processes) {
		const before = merged.get(process.pid);
		const memory = known([before?.memoryUsedMiB, process.memoryUsedMiB]);
		merged.set(process.pid, {
			...(before ?? process),
			memoryUsedMiB: memory.length === 0 ? undefined : memory.reduce((sum, value) => sum + value, 0),
		});
	}

	return merged.values().toArray();
}

const averaged = [
	'memoryUsedMiB',
	'memoryTotalMiB',
	'utilizationPercent',
	'powerWatts',
	'fanPercent',
	'smClockMHz',
] as const satisfies ReadonlyArray<keyof GpuReading>;

/** Returns the reading of a folded row: the mean of each load, and the highest temperature. */
function foldedReading(first: GpuReading, readings: readonly GpuReading[]): GpuReading {
	const means = Object.fromEntries(
		averaged.map((name) => [name, meanOf(readings.map((reading) => reading[name]))]),
	) as Pick<GpuReading, (typeof averaged)[number]>;
	const failed = readings.find(({failure}) => failure !== undefined);
	return {
		...(failed ?? first),
		index: first.index,
		uuid: first.uuid,
		name: sameOf(readings.map(({name}) => name)),
		...means,
		temperatureCelsius: largestOf(readings.map(({temperatureCelsius}) => temperatureCelsius)),
		pciBusId: undefined,
		numaNode: sameOf(readings.map(({numaNode}) => numaNode)),
		processes: readings.every(({processes}) => processes === undefined)
			? undefined
			: oncePerPid(readings.flatMap(({processes = []}) => processes)),
	};
}

const order: Readonly<Record<ShownState, number>> = {error: 0, drained: 1, unreserved: 2, 'in-use': 3, available: 4};

/** Returns a number for the urgency of a GPU's state. The most urgent state has the smallest number. A folded row shows its most urgent GPU. */
const urgencyOf = (row: StatusRow): number => 2 * order[shownStateOf(row)] + (row.problem === undefined ? 1 : 0);

function foldedRow(members: readonly StatusRow[]): TableRow {
	const ordered = members.toSorted((a, b) => a.index - b.index);
	const worst = ordered.toSorted((a, b) => urgencyOf(a) - urgencyOf(b))[0]!;
	const first = ordered[0]!;
	const readings = known(ordered.map(({reading}) => reading));
	const isIdle = ordered.every(({idleSeconds}) => idleSeconds !== undefined);
	const {idleSeconds: _idle, reading: _reading, use: _use, ...rest} = worst;
	return {
		...rest,
		index: first.index,
		...(isIdle && {idleSeconds: Math.min(...ordered.map(({idleSeconds = 0}) => idleSeconds))}),
		...(readings.length > 0 && {reading: foldedReading(readings[0]!, readings)}),
		parked: ordered.find(({parked}) => parked !== undefined)?.parked,
		use: (ordered.find(({use}) => use.kind !== 'idle') ?? first).use,
		processes: oncePerPid(ordered.flatMap(({processes}) => processes)),
		squatters: oncePerPid(ordered.flatMap(({squatters}) => squatters)),
		members: ordered,
	};
}

/** Returns one row for each reservation, in the position of its first GPU. */
export function folded(rows: readonly StatusRow[]): readonly TableRow[] {
	const groups = Map.groupBy(rows, (row) => row.lease?.leaseId ?? row);
	return groups
		.values()
		.map((members) => (members.length === 1 ? members[0]! : foldedRow(members)))
		.toArray();
}

/** Returns the key of a GPU for its tag and its history: the UUID or, while the UUID is unknown, the index. */
export const tagOf = (index: number, reading: Pick<GpuReading, 'uuid'> | undefined): string =>
	reading?.uuid ?? `#${index}`;
