import {definitionOf} from '../../core/rules/policy/keys.js';
import type {PolicyChange, PolicyChanged} from '../../core/rules/policy/policy-changes.js';
import {policyDoubtOf, policyRows} from '../../core/rules/policy/policy.js';
import type {Snapshot} from '../../core/model/types.js';
import {clockTime} from '../text/days.js';
import {optionalTimestamp} from '../text/durations.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Sacrifices} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const longestValue = 60;

const harmless = (text: string): string => shorten(sanitize(text), longestValue);

const sacrifices: Sacrifices = [
	['WHAT IT DOES', 24],
	['SET BY', 8],
	['WHAT IT DOES', 0],
	['SET BY', 0],
	['DEFAULT', 0],
];

export const policyTable = (snapshot: Snapshot, paint: Paint, width: number | undefined): string =>
	ruledTable(
		['KEY', 'VALUE', 'DEFAULT', 'SET BY', 'WHAT IT DOES'],
		policyRows(snapshot).map(({key, value, fallback, summary, setting, problem, effect}) => [
			// A cut key could not be copied, and two keys of one account could look the same.
			sanitize(key),
			problem === undefined ? harmless(value) : {text: `${harmless(value)} (!)`, paint: paint.error},
			fallback ?? '-',
			setting === undefined
				? '-'
				: `${harmless(setting.by ?? 'an unknown user')}, ${clockTime(setting.since, snapshot.now)}`,
			problem === undefined
				? (summary ?? 'none: this version does not know the key')
				: `until it is set again, ${effect}: ${harmless(problem)}`,
		]),
		paint,
		{width, sacrifices},
	);

export const policyJson = (snapshot: Snapshot) => ({
	policy: policyRows(snapshot).map(({key, value, fallback, summary, setting, problem}) => ({
		key,
		value,
		default: fallback,
		summary,
		set_by: setting?.by,
		set_at: optionalTimestamp(setting?.since),
		problem,
	})),
	problem: policyDoubtOf(snapshot)?.problem,
});

export const policyChangesJson = (changed: readonly PolicyChanged[]) => ({
	changed: changed.map(({key, value, before}) => ({key, value, before})),
});

const defaultOf = (key: string): string | undefined => definitionOf(key)?.fallback;

/** @param isUnknown - Whether the former value is unknown. */
function changeText({key, value, before}: PolicyChanged, isUnknown: boolean): string {
	const name = sanitize(key);
	if (value !== undefined) {
		const was = before === undefined ? `${defaultOf(key)} by default` : harmless(before);
		return `Set ${name}=${harmless(value)}${isUnknown ? '' : `, which was ${was}`}`;
	}

	if (key === 'all') {
		return 'Removed the unreadable record of the policy';
	}

	const fallback = defaultOf(key);
	const was = before === undefined ? '' : `, which was ${harmless(before)}`;
	return `Unset ${name}${was}${fallback === undefined ? '' : `: the default, ${fallback}, applies again`}`;
}

/** Returns a line for each key that the user named. With `--unset all`, returns a line for each key that had a value. */
export function policyChangesText(asked: readonly PolicyChange[], changed: readonly PolicyChanged[]): string {
	const same = asked
		.filter(({key}) => key !== 'all' && changed.every((each) => each.key !== key))
		.map(({key, value}) =>
			value === undefined ? `${sanitize(key)} was not set` : `${sanitize(key)} is already ${harmless(value)}`,
		);
	const isReplaced = changed.some(({key}) => key === 'all');
	const lines = [...changed.map((each) => changeText(each, isReplaced)), ...same];
	return lines.length === 0 ? 'No key was set' : lines.join('\n');
}
