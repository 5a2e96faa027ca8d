/** The list of the table's columns: which are shown, and in which order. The table follows at once. */
import {fit} from '../../format/text/width.js';
import {gpuTitles} from '../panels/shared/gpu-titles.js';
import {listedColumns, type ColumnsDialog} from '../state/view/state.js';
import type {State} from '../state/state.js';
import {windowOf} from '../widgets/scroll.js';
import {span, type Line} from '../widgets/styled-text.js';
import {sides, type DialogView} from '../widgets/dialog-parts.js';

const width = 58;

export function columnsView({selected}: ColumnsDialog, state: State): DialogView {
	const {shown, all} = listedColumns(state);
	const lines = all.map((name, index): Line => {
		const isSelected = index === selected;
		const {short, meaning} = gpuTitles[name];
		return [
			span(isSelected ? '> ' : '  ', 'key'),
			span(shown.includes(name) ? '[x] ' : '[ ] ', isSelected ? 'strong' : 'plain'),
			span(fit(short.trim(), 9), isSelected ? 'strong' : 'plain'),
			span(fit(meaning, width - sides - 15), 'dim'),
		];
	});
	// The message line and the footer stay in view, and so does the table's head.
	const rows = Math.max(3, Math.min(lines.length, state.size.rows - 10));
	const {from, to} = windowOf(selected - Math.floor(rows / 2), {total: lines.length, shown: rows});
	return {
		title: 'Columns of the GPUs',
		width,
		lines: [...lines.slice(from, to), [], [span('S', 'key'), span(' keeps them in your config, for the next monitor')]],
		end: to - from < lines.length ? `${from + 1}-${to} of ${lines.length}` : undefined,
	};
}
