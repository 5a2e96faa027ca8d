/** Readings in few characters. Unknown is `N/A` or `-`, never 0. */
import type {GpuProcess, GpuReading} from '../core/model/types.js';
import {sanitize} from './text/text.js';

/** `61G`, `9.5G`, `0G`. */
export function gibibytes(mebibytes: number): string {
	const amount = mebibytes / 1024;
	return amount >= 9.95 || amount < 0.05 ? `${Math.round(amount)}G` : `${amount.toFixed(1)}G`;
}

/** What all have in common that tell it: a broken GPU tells nothing of itself. */
function common<Value>(values: ReadonlyArray<Value | undefined>): Value | undefined {
	const known = new Set(values.filter((value) => value !== undefined));
	return known.size === 1 ? [...known][0] : undefined;
}

/** The size of each GPU's memory, when they are all alike. */
export const commonMemory = (readings: readonly GpuReading[]): number | undefined =>
	common(readings.map(({memoryTotalMiB}) => memoryTotalMiB));

/** Words of a GPU's name that say nothing about its model. */
const noise = /\b(?:nvidia|amd|geforce|instinct|tesla|quadro|radeon|graphics|generation|pcie|hbm\w*|sxm\d*|\d+gb)\b/giv;

/** `NVIDIA H100 80GB HBM3` -> `H100`. */
export function shortModel(name: string): string {
	const short = sanitize(name)
		.replaceAll(noise, ' ')
		.replaceAll(/[\s\-]+/gv, '-')
		.replaceAll(/^-|-$/gv, '');
	return short === '' ? sanitize(name) : short;
}

/** `8xH100`, and the memory of each in its own piece: `80G`. Undefined while nothing is known. */
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

/** What runs, in the words of its command line: without the path of the program. */
export function processText({commandLine, name, pid}: GpuProcess): string {
	const words = [sanitize(commandLine ?? '').replace(/^\S*\/(?=\S)/v, ''), sanitize(name ?? '')];
	return words.find((word) => word !== '') ?? `PID ${pid}`;
}

/** `81234  60G  vllm serve Llama-3-70B`. */
export const processLine = (process: GpuProcess): string =>
	[
		String(process.pid),
		...(process.memoryUsedMiB === undefined ? [] : [gibibytes(process.memoryUsedMiB)]),
		processText(process),
	].join('  ');

/** Largest memory first; of equals, the lowest pid: so that lines do not jump. */
export const byMemory = (processes: readonly GpuProcess[]): readonly GpuProcess[] =>
	processes.toSorted((a, b) => {
		const more = (b.memoryUsedMiB ?? -1) - (a.memoryUsedMiB ?? -1);
		return more === 0 ? a.pid - b.pid : more;
	});

/** `00000000:3A:00.0` -> `0000:3A:00.0`, as the kernel writes a domain. */
export const shortBusId = (busId: string): string => sanitize(busId).replace(/^0000(?=[\da-f]{4}:)/iv, '');
