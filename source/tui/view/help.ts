/** The help, built from the table of keys. */
import {bindings} from '../keys.js';
import {fit} from '../../format/width.js';
import {span, type Line} from './spans.js';

const written: Readonly<Record<string, string>> = {
	up: 'Up',
	down: 'Down',
	pageup: 'PgUp',
	pagedown: 'PgDn',
	home: 'Home',
	end: 'End',
};

const keyWords = (key: string): string =>
	written[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

/** At most `rows` lines, in two columns when they do not fit into one. */
export function helpLines(rows: number): readonly Line[] {
	const entries = bindings
		.filter(({help}) => help !== undefined)
		.map(({keys, help = ''}): Line => [span(fit(keys.map((key) => keyWords(key)).join(' '), 10), 'key'), span(help)]);
	return entries.slice(0, rows);
}
