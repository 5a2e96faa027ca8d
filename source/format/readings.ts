/** Formats GPU readings briefly. Unknown values are `N/A` or `-`, never 0. */
import type {GpuProcess, GpuReading} from '../core/model/types.js';
import {sanitize} from './text/text.js';

export function gibibytes(mebibytes: number): string {
	const amount = mebibytes / 1024;
	return amount >= 9.95 || amount < 0.05 ? `${Math.round(amount)}G` : `${amount.toFixed(1)}G`;
}

/** Returns the value that all GPUs have in common. Ignores unknown values, because a broken GPU reports nothing. */
function common<Value>(values: ReadonlyArray<Value | undefined>): Value | undefined {
	const known = new Set(values.filter((value) => value !== undefined));
	return known.size === 1 ? [...known][0] : undefined;
}

export const commonMemory = (readings: readonly GpuReading[]): number | undefined =>
	common(readings.map(({memoryTotalMiB}) => memoryTotalMiB));

/** Words in GPU names that do not identify the model. */
const noise = /\b(?:nvidia|amd|geforce|instinct|tesla|quadro|radeon|graphics|generation|pcie|hbm\w*|sxm\d*|\d+gb)\b/giv;

/** Shortens `NVIDIA H100 80GB HBM3` to `H100`. */
export function shortModel(name: string): string {
	const short = sanitize(name)
		.replaceAll(noise, ' ')
		.replaceAll(/[\s\-]+/gv, '-')
		.replaceAll(/^-|-$/gv, '');
	return short === '' ? sanitize(name) : short;
}

/** Returns the number and model of the GPUs, `8xH100`, and separately the memory of each, `80G`. Undefined if unknown. */
export function inventory(
	gpuCount: number,
	readings: readonly GpuReading[],
): {readonly model: string; readonly memory?: string} {
	const model = common(readings.map(({name}) => name));
	const memory = commonMemory(readings);
	return model === undefined
		? {model: `${gpuCount} GPU${gpuCount === 1 ? '' : 's'}`}
		: {model: `${gpuCount}x${shortModel(model)}`, memory: memory === undefined ? undefined : gibibytes(memory)};
}

export function processText({commandLine, name, pid}: GpuProcess): string {
	const words = [sanitize(commandLine ?? '').replace(/^\S*\/(?=\S)/v, ''), sanitize(name ?? '')];
	return words.find((word) => word !== '') ?? `PID ${pid}`;
}

export const processLine = (process: GpuProcess): string =>
	[
		String(process.pid),
		...(process.memoryUsedMiB === undefined ? [] : [gibibytes(process.memoryUsedMiB)]),
		processText(process),
	].join('  ');

/** Sorts by memory. Equal processes are sorted by pid, so that they do not swap places. */
export const byMemory = (processes: readonly GpuProcess[]): readonly GpuProcess[] =>
	processes.toSorted((a, b) => {
		const more = (b.memoryUsedMiB ?? -1) - (a.memoryUsedMiB ?? -1);
		return more === 0 ? a.pid - b.pid : more;
	});

/** Shortens `00000000:3A:00.0` to the kernel's form, `0000:3A:00.0`. */
export const shortBusId = (busId: string): string => sanitize(busId).replace(/^0000(?=[\da-f]{4}:)/iv, '');
