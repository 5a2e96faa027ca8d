import {CanhazgpuError} from '../errors.js';

/** The columns of the GPU table in their order, and when they appear by default: always, if the GPU models differ, or never. */
const gpuColumns = {
	gpu: 'always',
	model: 'if models differ',
	state: 'always',
	owner: 'always',
	kind: 'always',
	held: 'always',
	ends: 'always',
	utilization: 'always',
	memory: 'always',
	temperature: 'always',
	power: 'always',
	history: 'always',
	note: 'always',
	process: 'always',
	fan: 'never',
	clock: 'never',
	pci: 'never',
	numa: 'never',
} as const;

export type GpuColumnName = keyof typeof gpuColumns;

export const gpuColumnNames = Object.keys(gpuColumns) as readonly GpuColumnName[];

export const usualGpuColumns = gpuColumnNames.filter((name) => gpuColumns[name] === 'always');

export const usualColumnsOfMixed = gpuColumnNames.filter((name) => gpuColumns[name] !== 'never');

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

/** Themes. `auto`, and themes that have no background, adapt to the terminal's background. If it is unknown, they assume a dark background. */
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
