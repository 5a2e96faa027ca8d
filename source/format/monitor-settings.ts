import {CanhazgpuError} from '../errors.js';

/** Columns of the table of GPUs. `model` appears if the models differ, and the columns after `process` only if the user chose them. */
export const gpuColumnNames = [
	'gpu',
	'model',
	'state',
	'owner',
	'kind',
	'held',
	'ends',
	'utilization',
	'memory',
	'temperature',
	'power',
	'history',
	'note',
	'process',
	'fan',
	'clock',
	'pci',
	'numa',
] as const;

export type GpuColumnName = (typeof gpuColumnNames)[number];

/** Columns that appear by default, if there is room. */
export const usualGpuColumns: readonly GpuColumnName[] = gpuColumnNames.filter(
	(name) => !['model', 'fan', 'clock', 'pci', 'numa'].includes(name),
);

/** Presets, in the order of the key that cycles through them. */
export const presetNames = ['default', 'dense', 'processes', 'queue'] as const;

export type PresetName = (typeof presetNames)[number];

/** The shortest interval between two scans in seconds, and the longest one that still keeps the screen up to date. */
const scanIntervals = {least: 0.5, most: 3600} as const;

/** Throws a CanhazgpuError if GPUs cannot be scanned at this interval. `name` names the interval in the message. */
export function checkScanInterval(seconds: number, name: string): void {
	const {least, most} = scanIntervals;
	if (seconds >= least && seconds <= most) {
		return;
	}

	const bound = seconds < least ? `${least}s or more` : '1h or less';
	throw new CanhazgpuError('usage', `${name} must be ${bound}`, {hint: `Write ${least}s to 1h, such as 5s.`});
}

/** Scan intervals to choose from, in seconds. */
export const usualScanIntervals = [0.5, 1, 2, 5, 10, 30, 60] as const;

export const graphCharacters = ['braille', 'blocks'] as const;

export type GraphCharacters = (typeof graphCharacters)[number];

/** Alternative colors. `terminal` uses the terminal's own palette of 16 colors. */
export const colorSchemes = ['high-contrast', 'color-blind', 'terminal'] as const;

export type ColorScheme = (typeof colorSchemes)[number] | 'usual';

/** Themes. `auto` and those without a background of their own adapt to that of the terminal. If it is unknown, they assume a dark one. */
export const themeNames = [
	'auto',
	'dark',
	'light',
	'high-contrast',
	'high-contrast-light',
	'color-blind',
	'color-blind-light',
	'terminal',
] as const;

export type ThemeName = (typeof themeNames)[number];
