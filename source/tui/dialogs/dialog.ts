/** Dialogs: the lines inside their frames, and where they stand. */
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import {gpuTitles} from '../panels/gpus/columns.js';
import {helpOf} from '../panels/help.js';
import {outputRowsOf} from '../state/command-line/reduce.js';
import type {Output} from '../state/command-line/state.js';
import type {Dialog} from '../state/dialogs.js';
import type {State} from '../state/state.js';
import {listedColumns, type ColumnsDialog} from '../state/view/state.js';
import {sides, type DialogView} from '../widgets/dialog-parts.js';
import {glyphsOf, type Glyphs} from '../widgets/drawing.js';
import {rangeText, windowOf} from '../widgets/panel-frames.js';
import {span, type Line} from '../widgets/styled-text.js';
import {askingView} from './asking.js';
import {processView} from './process.js';

const columnsWidth = 58;

/** The list of the table's columns: which are shown, and in which order. The table follows at once. */
function columnsView({selected}: ColumnsDialog, state: State): DialogView {
	const {shown, all} = listedColumns(state);
	const lines = all.map((name, index): Line => {
		const isSelected = index === selected;
		const {short, meaning} = gpuTitles[name];
		return [
			span(isSelected ? '> ' : '  ', 'key'),
			span(shown.includes(name) ? '[x] ' : '[ ] ', isSelected ? 'strong' : 'plain'),
			span(fit(short.trim(), 9), isSelected ? 'strong' : 'plain'),
			span(fit(meaning, columnsWidth - sides - 15), 'dim'),
		];
	});
	// The message line and the footer stay in view, and so does the table's head.
	const rows = Math.max(3, Math.min(lines.length, state.size.rows - 10));
	const {from, to} = windowOf(selected - Math.floor(rows / 2), {total: lines.length, shown: rows});
	return {
		title: 'Columns of the GPUs',
		width: columnsWidth,
		lines: [...lines.slice(from, to), [], [span('S', 'key'), span(' keeps them in your config, for the next monitor')]],
		end: rangeText(from, to, lines.length),
	};
}

/** What the tables of the command line are drawn with, for terminals that know only ASCII. */
const plainly: Readonly<Record<string, string>> = {
	'│': '|',
	'─': '-',
	'┼': '+',
	'●': '*',
	'⚠': '!',
	'✓': '+',
	'✗': 'x',
	'█': '#',
	'…': '~',
};

const inAscii = (text: string): string => text.replaceAll(/\P{ASCII}/gv, (sign) => plainly[sign] ?? sign);

/** What a command of the `:` line printed: the part that is scrolled to. */
function outputView({title, top, left, lines, chosen, tones}: Output, state: State): DialogView {
	const rows = outputRowsOf(state);
	// What verbs print has passed the boundary for text; a character that acts would still spoil the frame.
	const harmless = (text: string): string => text.replaceAll(/[\p{Bidi_Control}\p{Control}]/gv, '');
	const shown = lines.slice(top, top + rows).map((text, row): Line => {
		const part = [...harmless(text)].slice(left).join('');
		const words = state.settings.isAscii ? inAscii(part) : part;
		const tone = tones.get(top + row) ?? 'plain';
		return chosen === undefined
			? [span(words, tone)]
			: top + row === chosen
				? [span('>', 'key'), span(words, 'strong')]
				: [span(' '), span(words, tone)];
	});
	const end = rangeText(top, Math.min(lines.length, top + rows), lines.length);
	return {title: sanitize(title), width: state.size.columns - 2, lines: shown, end};
}

/** Undefined for the command line, which stands at the foot of the screen. */
export function dialogView(dialog: Dialog, state: State, glyphs: Glyphs): DialogView | undefined {
	switch (dialog.kind) {
		case 'help': {
			const {lines, width, page, pages} = helpOf(state);
			return {title: pages > 1 ? `Keys, page ${page + 1} of ${pages}` : 'Keys', width: width + sides, lines};
		}

		case 'columns': {
			return columnsView(dialog, state);
		}

		case 'process': {
			return processView(dialog, state, glyphs);
		}

		case 'form':
		case 'confirmation':
		case 'choice': {
			return askingView(dialog, state, glyphs);
		}

		case 'output': {
			return outputView(dialog, state);
		}

		case 'command': {
			return undefined;
		}
	}
}

/** Where a dialog stands on the screen. */
type PlacedDialog = DialogView & {
	/** In cells from 0, its frame included. */
	readonly top: number;
	readonly left: number;
	readonly height: number;
};

/** Undefined where there is none, and for the command line, which stands at the foot of the screen. */
export function placedDialog(state: State): PlacedDialog | undefined {
	const {dialog, size} = state;
	const view = dialog && dialogView(dialog, state, glyphsOf(state));
	if (view === undefined) {
		return undefined;
	}

	const width = Math.min(view.width, size.columns - 2);
	const height = Math.min(size.rows, view.lines.length + 2);
	return {
		...view,
		width,
		height,
		top: Math.max(0, Math.floor((size.rows - height) / 2) - (size.rows > 18 ? 1 : 0)),
		left: Math.floor((size.columns - width) / 2),
	};
}
