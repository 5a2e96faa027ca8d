/** Changes options of the running monitor, which come from the options dialog or from typed lines such as `:theme light`. */
import {parseDuration} from '../../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {checkScanInterval, themeNames} from '../../../format/monitor-settings.js';
import type {OptionValues} from '../../ports.js';
import {changesText, offeredOptions, openedOptions, presentOptions} from '../../state/view/options.js';
import type {OptionName} from '../../state/view/state.js';
import {succeeded, type EffectContext, type Outcome} from '../command.js';

/** Applies options. Throws a CanhazgpuError if the GPUs cannot be scanned at the new interval. Then no option is changed. */
export async function applyOptions(
	{store, changeInterval}: Pick<EffectContext, 'store' | 'changeInterval'>,
	values: OptionValues,
	chosen: ReadonlySet<OptionName>,
): Promise<void> {
	if (values.scanIntervalMs !== presentOptions(store.getState()).scanIntervalMs) {
		await changeInterval(values.scanIntervalMs);
	}

	store.dispatch({kind: 'options-applied', values, chosen});
}

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

	// A duration of zero is refused with the message about the shortest interval.
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

/**
Changes an option. If the line has no value, opens the options dialog at that option.

@throws CanhazgpuError for an invalid value.
*/
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
	return succeeded(changes === '' ? `${word} is already ${text}` : `Until this monitor ends: ${changes}`);
}
