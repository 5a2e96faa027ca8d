/** The help, built from the table of keys. */
import {bindings} from '../keys.js';
import {fit} from '../../format/width.js';
import {span, type Line} from './spans.js';

const names: Readonly<Record<string, string>> = {
	up: 'Up',
	down: 'Down',
	pageup: 'PgUp',
	pagedown: 'PgDn',
	home: 'Home',
	end: 'End',
};

const keyWords = (key: string): string =>
	names[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

/** At most `rows` lines. */
export function helpLines(rows: number): readonly Line[] {
	const keysOf = new Map<string, string>();
	for (const {help, keys} of bindings) {
		if (help === undefined) {
			continue;
		}

		const written = keys.map((key) => keyWords(key)).join(' ');
		const before = keysOf.get(help);
		keysOf.set(help, before === undefined ? written : `${before} ${written}`);
	}

	return [...keysOf].slice(0, rows).map(([help, keys]): Line => [span(fit(keys, 13), 'key'), span(help)]);
}
