/**
The load history: the mean load of each GPU in each minute. A minute is a line `MINUTE SCANS CELLS` in the text of its
hour. CELLS has ten characters for each GPU: six for its name, two for the utilization and two for the memory, in
percent and base 36. `--` means unknown. Any process can write to the store, so invalid lines are ignored.
*/
import {mostGpus, type Load, type MinuteLoads} from '../../model/observation.js';
import type {GpuReading, Observation} from '../../model/types.js';

const secondsPerMinute = 60;
const minutesPerHour = 60;

/** Maximum number of scans in a minute, because two scans are at least a quarter of a second apart. */
const mostScans = 240;

const nameLength = 6;
const percentLength = 2;
const cellLength = nameLength + 2 * percentLength;

export const minuteOf = (time: number): number => Math.floor(time / secondsPerMinute);

export const hourOf = (minute: number): number => Math.floor(minute / minutesPerHour);

/** The largest prime below 2 ** 31. The hash is smaller, so it has at most six digits in base 36. */
const prime = 2_147_483_647;

/** Returns the key of a GPU in the load history: a hash of its UUID or index. Of a million machines with 64 GPUs, about one has two GPUs with the same key. */
export function loadName({index, uuid}: Pick<GpuReading, 'index' | 'uuid'>): string {
	let hash = 0;
	for (const character of uuid ?? `#${index}`) {
		hash = (hash * 65_599 + character.codePointAt(0)!) % prime;
	}

	return hash.toString(36).padStart(nameLength, '0');
}

const share = (used: number | undefined, total: number | undefined): number | undefined =>
	used === undefined || total === undefined || total <= 0 ? undefined : Math.min(1, used / total);

export const loadOf = ({utilizationPercent, memoryUsedMiB, memoryTotalMiB}: GpuReading): Load => ({
	utilization: share(utilizationPercent, 100),
	memory: share(memoryUsedMiB, memoryTotalMiB),
});

type Sum = {readonly total: number; readonly count: number};

const withValue = (sum: Sum | undefined, value: number | undefined): Sum | undefined =>
	value === undefined ? sum : {total: (sum?.total ?? 0) + value, count: (sum?.count ?? 0) + 1};

type Sums = {readonly utilization?: Sum; readonly memory?: Sum};

export type MinuteUnderWay = {
	readonly minute: number;
	readonly scans: number;
	readonly sums: ReadonlyMap<string, Sums>;
};

/** Adds a scan to the current minute. A failed scan adds nothing. Also returns the previous minute if this scan began a new one. */
export function withScan(
	before: MinuteUnderWay | undefined,
	{gpus, failure}: Pick<Observation, 'gpus' | 'failure'>,
	time: number,
): {readonly underWay: MinuteUnderWay | undefined; readonly over?: MinuteUnderWay} {
	const minute = minuteOf(time);
	const isOver = before !== undefined && before.minute !== minute;
	const known = isOver ? undefined : before;
	if (failure !== undefined || (known?.scans ?? 0) >= mostScans) {
		return {underWay: known, ...(isOver && {over: before})};
	}

	const sums = new Map(known?.sums);
	for (const reading of gpus) {
		const name = loadName(reading);
		const load = loadOf(reading);
		const sum = sums.get(name);
		sums.set(name, {
			utilization: withValue(sum?.utilization, load.utilization),
			memory: withValue(sum?.memory, load.memory),
		});
	}

	return {underWay: {minute, scans: (known?.scans ?? 0) + 1, sums}, ...(isOver && {over: before})};
}

const unknownPercent = '--';

const percentText = (sum: Sum | undefined): string =>
	sum === undefined
		? unknownPercent
		: Math.round((sum.total / sum.count) * 100)
				.toString(36)
				.padStart(percentLength, '0');

export function encodeMinute({minute, scans, sums}: MinuteUnderWay): string {
	const cells = Array.from(
		sums,
		([name, {utilization, memory}]) => `${name}${percentText(utilization)}${percentText(memory)}`,
	);
	return `${minute} ${scans} ${cells.join('')}`;
}

const linePattern =
	/^(?<minute>[1-9]\d{0,8}) (?<scans>[1-9]\d{0,2}) (?<cells>(?:[0-9a-z]{6}(?:[0-2][0-9a-z]|--){2})+)$/v;

function decodeLine(line: string): MinuteLoads | undefined {
	const {minute, scans, cells} = linePattern.exec(line)?.groups ?? {};
	return minute === undefined || cells!.length > mostGpus * cellLength || Number(scans) > mostScans
		? undefined
		: {minute: Number(minute), scans: Number(scans), cells: cells!};
}

/** Maximum number of lines for one minute. A minute has a second line if another scanner took over. */
const mostLinesOfMinute = 8;

/** Parses the text of an hour, oldest first. Omits invalid lines, and lines after `nowMinute`. */
export function decodeHour(hour: number, text: string, nowMinute: number): readonly MinuteLoads[] {
	const counts = new Map<number, number>();
	return text
		.split('\n')
		.flatMap((line) => {
			const loads = decodeLine(line);
			if (loads === undefined || hourOf(loads.minute) !== hour || loads.minute > nowMinute) {
				return [];
			}

			const count = (counts.get(loads.minute) ?? 0) + 1;
			counts.set(loads.minute, count);
			return count > mostLinesOfMinute ? [] : [loads];
		})
		.toSorted((a, b) => a.minute - b.minute);
}

function percentOf(text: string): number | undefined {
	const percent = text === unknownPercent ? NaN : Number.parseInt(text, 36);
	return percent <= 100 ? percent / 100 : undefined;
}

function loadAt({cells}: MinuteLoads, start: number): Load {
	const end = start + cellLength;
	return {
		utilization: percentOf(cells.slice(start + nameLength, end - percentLength)),
		memory: percentOf(cells.slice(end - percentLength, end)),
	};
}

export function loadIn(line: MinuteLoads, name: string): Load | undefined {
	for (let start = 0; start < line.cells.length; start += cellLength) {
		if (line.cells.startsWith(name, start)) {
			return loadAt(line, start);
		}
	}

	return undefined;
}

export const loadsIn = (line: MinuteLoads): ReadonlyMap<string, Load> =>
	new Map(namesIn(line).map((name, index) => [name, loadAt(line, index * cellLength)]));

export const namesIn = ({cells}: MinuteLoads): readonly string[] =>
	Array.from({length: cells.length / cellLength}, (_, index) =>
		cells.slice(index * cellLength, index * cellLength + nameLength),
	);
