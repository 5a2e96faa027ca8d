/** Changes and saves the options and the view, which come from their dialogs or from typed lines such as `:theme light`. */
import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {checkScanInterval, themeNames} from '../../format/monitor-settings.js';
import {sanitize} from '../../format/text/text.js';
import type {OptionValues, Saved} from '../ports.js';
import {panelNames} from '../state/panels/state.js';
import {changesText, offeredOptions, openedOptions, presentOptions, savedOptions} from '../state/view/options.js';
import type {OptionName} from '../state/view/state.js';
import {defineCommand, succeeded, warning, type EffectContext, type Outcome} from './command.js';

/** Applies options. If the GPUs cannot be scanned at the new interval, changes no option and throws a CanhazgpuError. */
async function applyOptions(
	{store, changeInterval}: EffectContext,
	values: OptionValues,
	chosen: ReadonlySet<OptionName>,
): Promise<void> {
	if (values.scanIntervalMs !== presentOptions(store.getState()).scanIntervalMs) {
		await changeInterval(values.scanIntervalMs);
	}

	store.dispatch({kind: 'options-applied', values, chosen});
}

const changedText = (changes: string): string => `Until this monitor ends: ${changes}`;

/** Enter in the options dialog: applies the chosen options until the monitor ends. */
export const applyChosenOptions = defineCommand({
	name: 'apply-options',
	keys: {modes: ['options'], keys: ['enter'], footer: ['Enter', 'Apply']},
	reasonAgainst: () => undefined,
	async perform(context) {
		const {getState, dispatch} = context.store;
		const {dialog} = getState();
		if (dialog?.kind !== 'options') {
			return undefined;
		}

		const changes = changesText(getState(), dialog.values);
		await applyOptions(context, dialog.values, dialog.chosen);
		dispatch({kind: 'put-away', dialog});
		return changes === '' ? undefined : succeeded(changedText(changes));
	},
});

const noConfig: Outcome = {
	kind: 'refused',
	complaint: {message: 'This monitor has no config file to save this in'},
};

const savedOutcome = ({file, isChanged}: Saved, what: string): Outcome =>
	succeeded(
		isChanged
			? `Saved in ${sanitize(file)}: ${what}`
			: `${sanitize(file)} needs no change: it already contains these values`,
	);

/** `S` in the options dialog: applies the options, and saves the changed ones in the user's config. */
export const keepOptions = defineCommand({
	name: 'keep-options',
	keys: {modes: ['options'], keys: ['S'], footer: ['S', 'Save']},
	reasonAgainst: () => undefined,
	async perform(context) {
		const {store, ports} = context;
		const {dialog} = store.getState();
		if (dialog?.kind !== 'options') {
			return undefined;
		}

		if (ports.saveOptions === undefined) {
			return noConfig;
		}

		if (dialog.chosen.size === 0) {
			return warning('Nothing to save: change an option first');
		}

		await applyOptions(context, dialog.values, dialog.chosen);
		const {values, text} = savedOptions(store.getState());
		const saved = await ports.saveOptions(values);
		store.dispatch({kind: 'put-away', dialog});
		return savedOutcome(saved, text);
	},
});

/** `S`: saves the preset, the columns and the folding of rows in the user's config. */
export const saveView = defineCommand({
	name: 'save-view',
	keys: {modes: [...panelNames, 'columns'], keys: ['S'], help: ['Panels', 'preset, columns, save']},
	reasonAgainst: () => undefined,
	async perform({store, ports}) {
		const {preset, columns, isFolded} = store.getState().view;
		if (ports.saveView === undefined) {
			return noConfig;
		}

		const foldText = isFolded === undefined ? '' : isFolded ? ', folded' : ', unfolded';
		return savedOutcome(
			await ports.saveView({preset, columns, isFolded}),
			`preset ${preset}, ${columns === undefined ? 'usual' : 'chosen'} columns${foldText}`,
		);
	},
});

function parseTheme(text: string): Partial<OptionValues> {
	const theme = themeNames.find((name) => name === text);
	if (theme === undefined) {
		throw new CanhazgpuError('usage', `Unknown theme ${quoted(text)}`, {
			// Variants for light backgrounds come last, because a narrow screen cuts off the end of the list.
			hint: themeNames.toSorted((a, b) => Number(a.endsWith('-light')) - Number(b.endsWith('-light'))).join(' '),
		});
	}

	return {theme};
}

function parseInterval(text: string): Partial<OptionValues> {
	if (/^\d+(?:\.\d+)?$/v.test(text)) {
		checkScanInterval(Number(text), 'interval');
		throw new CanhazgpuError('usage', `interval: ${quoted(text)} has no unit`, {hint: `Did you mean ${text}s?`});
	}

	// Leaves zero to `checkScanInterval`, whose error names the shortest interval. The error of `parseDuration` does not.
	const seconds = /^0+[dhms]$/v.test(text) ? 0 : parseDuration(text, 'interval');
	checkScanInterval(seconds, 'interval');
	return {scanIntervalMs: Math.round(seconds * 1000)};
}

type Line = {readonly option: OptionName; readonly parse: (text: string) => Partial<OptionValues>};

const lines: Readonly<Record<string, Line>> = {
	theme: {option: 'theme', parse: parseTheme},
	interval: {option: 'scanIntervalMs', parse: parseInterval},
};

/** Whether a typed line changes an option, such as `theme light`. */
export const isOptionLine = (line: string): boolean => Object.hasOwn(lines, line.split(/\s+/v, 1)[0]!);

/** Changes an option. If the line has no value, opens the options dialog at that option. Throws a CanhazgpuError for an invalid value. */
export async function runOptionLine(context: EffectContext, line: string): Promise<Outcome> {
	const {getState, dispatch} = context.store;
	const [word = '', text, ...others] = line.split(/\s+/v);
	const {option, parse} = lines[word]!;
	if (!offeredOptions(getState()).includes(option)) {
		throw new CanhazgpuError('usage', `${word} has no effect: this monitor scans no GPUs`);
	}

	if (text === undefined) {
		dispatch({kind: 'opened', dialog: openedOptions(getState(), option)});
		return undefined;
	}

	if (others.length > 0) {
		throw new CanhazgpuError('usage', `${word} takes one value`, {hint: `Type ${word} alone to see its values.`});
	}

	const values = {...presentOptions(getState()), ...parse(text)};
	const changes = changesText(getState(), values);
	await applyOptions(context, values, new Set([...(getState().view.chosenOptions ?? []), option]));
	return succeeded(changes === '' ? `${word} is already ${text}` : changedText(changes));
}
