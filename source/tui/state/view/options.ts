/** The options that can be changed while the monitor runs, and the dialog that changes them. */
import {
	graphCharacters,
	presetNames,
	themeNames,
	usualScanIntervals,
	type ThemeName,
} from '../../../format/monitor-settings.js';
import {intervalText} from '../../../format/text/durations.js';
import type {OptionValues} from '../../ports.js';
import {withTheme, type Appearance} from '../../theme.js';
import {remembering} from '../memo.js';
import {behindPause} from '../pause.js';
import {neighborOf} from '../ring.js';
import {emptyGraphs, processStepMs, type State} from '../state.js';
import {presetMeanings, withPreset} from './reduce.js';
import type {OptionName, OptionsDialog} from './state.js';

type Option<Value> = {
	readonly label: string;
	readonly choices: (state: State) => readonly Value[];
	readonly text: (value: Value) => string;
	readonly meaning: (value: Value, state: State) => string;
	/** Whether the option is available in this monitor. Defaults to true. */
	readonly isOffered?: (state: State) => boolean;
};

const themeMeanings: Readonly<Record<ThemeName, string>> = {
	auto: 'follows the background of the terminal',
	dark: 'for a dark background',
	light: 'for a light background',
	'high-contrast': 'strong contrast',
	'high-contrast-light': 'strong contrast, for a light background',
	'color-blind': 'tells states apart without red and green',
	'color-blind-light': 'no red and green, for a light background',
	terminal: 'the 16 colors of the terminal',
};

const usualIntervals = usualScanIntervals.map((seconds) => seconds * 1000);

const hasPool = ({settings}: State): boolean => settings.hasNoPool !== true;

/** All options, in the order of the dialog. */
const options: {readonly [Name in OptionName]: Option<OptionValues[Name]>} = {
	theme: {
		label: 'Theme',
		choices: () => themeNames,
		text: (theme) => theme,
		meaning: (theme, {settings}) =>
			settings.hasColor ? themeMeanings[theme] : 'no effect: this monitor has no colors',
	},
	scanIntervalMs: {
		label: 'Interval',
		choices: ({settings}) => [...new Set([...usualIntervals, settings.scanIntervalMs])].toSorted((a, b) => a - b),
		text: intervalText,
		meaning: () => 'time between two scans of the GPUs',
		isOffered: hasPool,
	},
	graphs: {
		label: 'Graphs',
		choices: () => graphCharacters,
		text: (characters) => characters,
		meaning: (characters, {settings}) =>
			settings.isAscii
				? 'no effect: this monitor draws in ASCII'
				: characters === 'braille'
					? 'fine lines of braille dots'
					: 'for terminal fonts without braille',
	},
	isMouseOn: {
		label: 'Mouse',
		choices: () => [true, false],
		text: (isOn) => (isOn ? 'on' : 'off'),
		meaning: (isOn) => (isOn ? 'clicks and wheel work; Shift selects text' : 'the mouse selects text in the terminal'),
		isOffered: ({settings}) => settings.hasMouse === true,
	},
	preset: {
		label: 'Preset',
		choices: () => presetNames,
		text: (preset) => preset,
		meaning: (preset) => presetMeanings[preset],
		isOffered: hasPool,
	},
	columns: {
		label: 'Columns',
		choices: ({view}) => (view.columns === undefined ? [undefined] : [undefined, view.columns]),
		text: (columns) => (columns === undefined ? 'usual' : `${columns.length} chosen`),
		meaning: (columns) => columns?.join(', ') ?? 'to choose other columns, press C in a panel',
		isOffered: hasPool,
	},
};

const names = Object.keys(options) as readonly OptionName[];

export const offeredOptions = (state: State): readonly OptionName[] =>
	names.filter((name) => options[name].isOffered?.(state) !== false);

export const presentOptions = ({settings, view, isMouseOn}: State): OptionValues => ({
	theme: settings.theme ?? 'auto',
	scanIntervalMs: settings.scanIntervalMs,
	graphs: settings.graphs ?? 'braille',
	isMouseOn: isMouseOn === true,
	preset: view.preset,
	columns: view.columns,
});

export const openedOptions = (state: State, selected: OptionName = offeredOptions(state)[0]!): OptionsDialog => ({
	kind: 'options',
	selected,
	values: presentOptions(state),
	chosen: state.view.chosenOptions ?? new Set(),
});

const textOf = <Name extends OptionName>(name: Name, values: OptionValues): string => options[name].text(values[name]);

function lineOf<Name extends OptionName>(state: State, {values}: OptionsDialog, name: Name) {
	const {label, choices, meaning} = options[name];
	const value = textOf(name, values);
	const present = textOf(name, presentOptions(state));
	const all = choices(state);
	return {
		name,
		label,
		value,
		/** The value in effect. Set only if the dialog shows another value. */
		present: present === value ? undefined : present,
		meaning: meaning(values[name], state),
		position: all.indexOf(values[name]) + 1,
		count: all.length,
	};
}

export type OptionLine = ReturnType<typeof lineOf>;

export const optionLines = remembering(
	({dialog, settings, view, isMouseOn}: State) => [dialog, settings, view, isMouseOn],
	(state): readonly OptionLine[] => {
		const {dialog} = state;
		return dialog?.kind === 'options' ? offeredOptions(state).map((name) => lineOf(state, dialog, name)) : [];
	},
);

/** Returns the options that differ from those in effect, such as `theme light, interval 5s`. Empty if no option differs. */
export const changesText = (state: State, values: OptionValues): string =>
	offeredOptions(state)
		.filter((name) => textOf(name, values) !== textOf(name, presentOptions(state)))
		.map((name) => `${options[name].label.toLowerCase()} ${textOf(name, values)}`)
		.join(', ');

/** Returns the options to save: those that the user has chosen in the monitor. Leaves out values from a flag or from the config. */
export function savedOptions(state: State): {readonly values: Partial<OptionValues>; readonly text: string} {
	const present = presentOptions(state);
	const chosen = offeredOptions(state).filter((name) => state.view.chosenOptions?.has(name));
	return {
		values: Object.fromEntries(chosen.map((name) => [name, present[name]])),
		text: chosen.map((name) => `${options[name].label.toLowerCase()} ${textOf(name, present)}`).join(', '),
	};
}

/** Returns the appearance of the screen. While the options dialog is open, the appearance is a preview of its values. */
export const shownAppearance = remembering(
	({settings, dialog}: State) => [settings, dialog?.kind === 'options' ? dialog.values : undefined],
	({settings, dialog}): Appearance => {
		if (dialog?.kind !== 'options') {
			return settings;
		}

		const {theme, graphs} = dialog.values;
		return {...(theme === (settings.theme ?? 'auto') ? settings : withTheme(settings, theme)), graphs};
	},
);

/** Sets the scan interval. Adapts the graphs, so that they draw no gap between two scans. */
function withInterval(state: State, scanIntervalMs: number): State {
	const {samples: _none, ...limits} = emptyGraphs(scanIntervalMs);
	return behindPause({...state, settings: {...state.settings, scanIntervalMs}}, (live) => ({
		...live,
		history: {...live.history, ...limits},
		processHistory: {...live.processHistory, stepMs: processStepMs(scanIntervalMs)},
	}));
}

export function withOptions(before: State, values: OptionValues, chosenOptions: ReadonlySet<OptionName>): State {
	const {theme, scanIntervalMs, graphs, isMouseOn, preset, columns} = values;
	const present = presentOptions(before);
	const state = scanIntervalMs === present.scanIntervalMs ? before : withInterval(before, scanIntervalMs);
	const next: State = {
		...state,
		settings: {...(theme === present.theme ? state.settings : withTheme(state.settings, theme)), graphs},
		isMouseOn,
		view: {...state.view, columns, chosenOptions},
	};
	return preset === present.preset ? next : withPreset(next, preset);
}

const onDialog =
	(change: (dialog: OptionsDialog, state: State) => OptionsDialog) =>
	(state: State): State =>
		state.dialog?.kind === 'options' ? {...state, dialog: change(state.dialog, state)} : state;

const selected = (by: 1 | -1) =>
	onDialog((dialog, state) => ({...dialog, selected: neighborOf(offeredOptions(state), dialog.selected, by)}));

const changedValue = <Name extends OptionName>(
	{values}: OptionsDialog,
	{name, state, by}: {readonly name: Name; readonly state: State; readonly by: 1 | -1},
): OptionValues => ({...values, [name]: neighborOf(options[name].choices(state), values[name], by)});

const changed = (by: 1 | -1) =>
	onDialog((dialog, state) => ({
		...dialog,
		values: changedValue(dialog, {name: dialog.selected, state, by}),
		chosen: new Set([...dialog.chosen, dialog.selected]),
	}));

export const optionIntents = {
	'open-options': (state) => ({...state, dialog: openedOptions(state)}),
	'open-themes': (state) => ({...state, dialog: openedOptions(state, 'theme')}),
	'previous-option': selected(-1),
	'next-option': selected(1),
	'previous-choice': changed(-1),
	'next-choice': changed(1),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type OptionIntent = keyof typeof optionIntents;
