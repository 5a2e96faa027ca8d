/** The help, built from the table of keys: in as many columns as are needed. */
import {bindings} from '../keys/bindings.js';
import {fit, widthOf} from '../../format/text/width.js';
import type {State} from '../state/state.js';
import {block} from '../widgets/panel-frames.js';
import {span, type Line} from '../widgets/styled-text.js';
import {sides} from '../dialogs/dialog-parts.js';

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
function entries(): readonly Entry[] {
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

export type HelpView = {
	readonly lines: readonly Line[];
	readonly width: number;
	readonly page: number;
	readonly pages: number;
};

type Entry = readonly [help: string, keys: string];

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => widthOf(text)));

/** One column: the keys, and what they do. */
const columnOf = (entriesOfIt: readonly Entry[], keysWidth: number): readonly Line[] =>
	entriesOfIt.map(([help, keys]) => [span(fit(keys, keysWidth), 'key'), span(help)]);

/** A page of lines, at most `rows` of at most `columns` each, in as many columns as fit. */
function helpView({rows, columns}: {readonly rows: number; readonly columns: number}, page: number): HelpView {
	const all = entries();
	const keysWidth = widest(all.map(([, keys]) => keys)) + gap;
	const width = Math.min(columns, keysWidth + widest(all.map(([help]) => help)));
	const across = Math.max(1, Math.floor((columns + gap) / (width + gap)));
	const least = Math.max(1, rows);
	const pages = Math.ceil(all.length / (across * least));
	const perPage = Math.ceil(all.length / pages);
	// No more columns than are needed, of even height.
	const used = Math.ceil(perPage / least);
	const height = Math.ceil(perPage / used);
	const shown = ((page % pages) + pages) % pages;
	const first = shown * height * used;
	const blocks = Array.from({length: used}, (_, column) => {
		const start = first + column * height;
		return block(columnOf(all.slice(start, start + height), keysWidth), height, width);
	});
	const lines = Array.from({length: height}, (_, row) =>
		blocks.flatMap((column, place) => (place === 0 ? column[row]! : [span(' '.repeat(gap)), ...column[row]!])),
	);
	return {lines, width: used * (width + gap) - gap, page: shown, pages};
}

/** The page that is open, as it fits the screen. */
export const helpOf = ({size, panels}: State): HelpView =>
	helpView({rows: size.rows - 2, columns: size.columns - 2 - sides}, panels.helpPage);
