/** Changes options of the running monitor, which come from the options dialog or from typed lines such as `:theme light`. */
import {parseDuration} from '../../../core/rules/leases/durations.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {leastScanIntervalSeconds, themeNames} from '../../../format/monitor-settings.js';
import type {OptionValues} from '../../ports.js';
import {changesText, offeredOptions, openedOptions, presentOptions} from '../../state/view/options.js';
import type {OptionName} from '../../state/view/state.js';
import {succeeded, type EffectContext, type Outcome} from '../command.js';

/** Applies options. Throws a CanhazgpuError if the GPUs cannot be scanned at the new interval. Then no option is changed. */
export async function applyOptions(
	{store, changeInterval}: Pick<EffectContext, 'store' | 'changeInterval'>,
	values: OptionValues,
): Promise<void> {
	if (values.scanIntervalMs !== presentOptions(store.getState()).scanIntervalMs) {
		await changeInterval(values.scanIntervalMs);
	}

	store.dispatch({kind: 'options-applied', values});
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

/** Maximum scan interval, so that the screen is updated often enough. `top --interval` accepts longer intervals. */
const longestIntervalSeconds = 3600;

function parseInterval(text: string): Partial<OptionValues> {
	const hint = `Write ${leastScanIntervalSeconds}s to 1h, such as 5s.`;
	const isPlainNumber = /^\d+(?:\.\d+)?$/v.test(text);
	let seconds = 0;
	try {
		// A duration of zero is accepted at this point, and refused below with a message about the shortest interval.
		seconds = isPlainNumber ? Number(text) : /^0+[dhms]$/v.test(text) ? 0 : parseDuration(text, 'interval');
	} catch (error) {
		throw error instanceof CanhazgpuError ? new CanhazgpuError('usage', error.message, {hint, cause: error}) : error;
	}

	if (seconds < leastScanIntervalSeconds || seconds > longestIntervalSeconds) {
		const bound = seconds < leastScanIntervalSeconds ? `at least ${leastScanIntervalSeconds}s` : 'at most 1h';
		throw new CanhazgpuError('usage', `interval must be ${bound}, not ${quoted(text)}`, {hint});
	}

	if (isPlainNumber) {
		throw new CanhazgpuError('usage', `interval: ${quoted(text)} has no unit`, {hint: `Did you mean ${text}s?`});
	}

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
	await applyOptions(context, values);
	return succeeded(changes === '' ? `${word} is already ${text}` : `Until this monitor ends: ${changes}`);
}
