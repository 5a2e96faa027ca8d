/** The words of the monitor's settings: what a config may say of columns, presets and colours. */

/** Columns of the table of GPUs, in their usual order. `model` is there by itself where models differ; those behind `process` only where chosen. */
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

/** Those that are shown without a choice, where there is room. */
export const usualGpuColumns: readonly GpuColumnName[] = gpuColumnNames.filter(
	(name) => !['model', 'fan', 'clock', 'pci', 'numa'].includes(name),
);

/** What the screen is for, in the order of the key that goes through them. */
export const presetNames = ['default', 'dense', 'processes', 'queue'] as const;

export type PresetName = (typeof presetNames)[number];

/** What the graphs of the monitor are drawn with, unless it draws with plain characters. */
export const graphCharacters = ['braille', 'blocks'] as const;

export type GraphCharacters = (typeof graphCharacters)[number];

/** Colours other than the usual ones. `terminal` is the palette of the terminal, in 16 colours. */
export const colorSchemes = ['high-contrast', 'color-blind', 'terminal'] as const;

export type ColorScheme = (typeof colorSchemes)[number] | 'usual';

/** `auto` and those without a ground go by what the terminal says, else they are for a dark one. */
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
