/** The help, built from the table of keys: in as many columns as are needed. */
import {bindings} from '../keys.js';
import {fit, widthOf} from '../../format/width.js';
import {block} from './panels.js';
import {span, type Line} from './spans.js';

const names: Readonly<Record<string, string>> = {
	up: 'Up',
	down: 'Down',
	pageup: 'PgUp',
	pagedown: 'PgDn',
	home: 'Home',
	end: 'End',
	tab: 'Tab',
	enter: 'Enter',
	escape: 'Esc',
	' ': 'Space',
};

const keyWords = (key: string): string =>
	names[key] ?? key.replace(/^ctrl-.$/v, (match) => `Ctrl-${match.slice(-1).toUpperCase()}`);

/** The keys of each line of the help, with what they do. */
function entries(): ReadonlyArray<readonly [help: string, keys: string]> {
	const keysOf = new Map<string, string>();
	for (const {help, keys} of bindings) {
		if (help === undefined) {
			continue;
		}

		const written = keys.map((key) => keyWords(key)).join(' ');
		const before = keysOf.get(help);
		keysOf.set(help, before === undefined ? written : `${before} ${written}`);
	}

	return [...keysOf];
}

const gap = 2;

export type HelpView = {readonly lines: readonly Line[]; readonly width: number};

/** At most `rows` lines of at most `columns`: keys first, and shorter words rather than none. */
export function helpView(rows: number, columns: number): HelpView {
	const all = entries();
	const most = Math.max(1, Math.min(rows, all.length));
	// Columns of even height.
	const height = Math.ceil(all.length / Math.ceil(all.length / most));
	const parts = Array.from({length: Math.ceil(all.length / height)}, (_, part) =>
		all.slice(part * height, (part + 1) * height),
	);
	const keysWidths = parts.map((part) => Math.max(...part.map(([, keys]) => widthOf(keys))) + gap);
	const wholeWidths = parts.map((part, place) => keysWidths[place]! + Math.max(...part.map(([help]) => widthOf(help))));
	const whole = wholeWidths.reduce((sum, width) => sum + width + gap, -gap);
	const even = Math.floor((columns + gap) / parts.length) - gap;
	const widths = whole <= columns ? wholeWidths : wholeWidths.map((width) => Math.min(width, even));
	const blocks = parts.map((part, place) =>
		block(
			part.map(([help, keys]): Line => [span(fit(keys, keysWidths[place]!), 'key'), span(help)]),
			height,
			widths[place]!,
		),
	);
	const lines = Array.from({length: height}, (_, row) =>
		blocks.flatMap((column, place) => (place === 0 ? column[row]! : [span(' '.repeat(gap)), ...column[row]!])),
	);
	return {
		lines,
		width: Math.min(
			columns,
			widths.reduce((sum, width) => sum + width + gap, -gap),
		),
	};
}
