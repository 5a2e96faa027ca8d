/** The help: the keys by what they are for, as their table has them, and a legend of what is on the screen. In as many columns as are needed. */
import type {Binding} from '../keys/bindings.js';
import {bindingsWith} from '../keys/custom.js';
import {keyText} from '../keys/key-names.js';
import {helpGroups, type HelpGroup} from '../state/keys.js';
import {states, stateText, type MonitorState} from '../../format/states.js';
import {fit} from '../../format/text/width.js';
import type {State} from '../state/state.js';
import {block, sideBySide} from '../widgets/panel-frames.js';
import {bar} from '../widgets/bar.js';
import {fitLine, lineWidth, loadTone, span, type Line} from '../widgets/styled-text.js';
import {sides} from '../widgets/dialog-parts.js';
import {stateTones} from './shared/labels.js';

/** The keys of each line of one group, with what they do. */
function keysOf(group: HelpGroup, bindings: readonly Binding[]): ReadonlyArray<readonly [help: string, keys: string]> {
	const lines = new Map<string, string>();
	for (const {help, keys} of bindings) {
		if (help?.[0] !== group || keys.length === 0) {
			continue;
		}

		const written = keys.map((key) => keyText(key)).join(' ');
		const before = lines.get(help[1]);
		lines.set(help[1], before === undefined ? written : `${before} ${written}`);
	}

	return [...lines];
}

const gap = 2;

type HelpView = {
	readonly lines: readonly Line[];
	readonly width: number;
	readonly page: number;
	readonly pages: number;
};

/** Lines that stay together below their title. */
type Group = readonly Line[];

const keyWidth = 12;

/** In the order of the list: what everyone needs first. */
const keyGroups = ({settings}: State): readonly Group[] =>
	helpGroups.map((group) => [
		[span(group, 'heading')],
		...keysOf(group, bindingsWith(settings.keys)).map(([help, keys]): Line => [
			span(fit(keys, keyWidth), 'key'),
			span(help),
		]),
	]);

const shownStates = [
	'available',
	'mine',
	'in-use',
	'idle',
	'waiting',
	'unreserved',
	'drained',
	'error',
] as const satisfies readonly MonitorState[];

/** The states, with the words that `status` has for scripts; the marks; and what the colours of loads mean. */
function legend({settings}: State): readonly Group[] {
	const mark = (text: string, meaning: string): Line => [span(fit(text, keyWidth), 'strong'), span(meaning)];
	const load = [0.2, 0.7, 1].map((share) => span(bar(share, 4, settings.isAscii).filled, loadTone('load', share)));
	const memory = [span(bar(0.7, 6, settings.isAscii).filled, loadTone('memory', 0.7))];
	return [
		[
			[span('States', 'heading'), span(' (and in canhazgpu status)', 'dim')],
			...shownStates.map((state): Line => [
				span(fit(states[state].short, 11), stateTones[state]),
				span(fit(stateText[state], 11), 'dim'),
				span(states[state].meaning),
			]),
		],
		[
			[span('Marks', 'heading')],
			mark('> *', 'selected, tagged'),
			mark('0-7 (8)', '8 GPUs of a reservation'),
			mark('dave?', 'uses it, and holds no reservation'),
			mark('! dave: x', 'runs x on a GPU of someone else'),
			mark('!12m', 'ends in less than 15 minutes'),
			mark('on-exit', 'ends when its job does'),
			mark('80C!', 'hot'),
			mark('hidden', 'the GPU tool tells no processes'),
			[...fitLine(load, keyWidth), span('load: calm, busy, nearly full')],
			[...fitLine(memory, keyWidth), span('memory in use')],
		],
	];
}

const widest = (lines: readonly Line[]): number => Math.max(0, ...lines.map((line) => lineWidth(line)));

/** Groups one below another, an empty line between them, in columns of at most so many rows. */
function inColumns(groups: readonly Group[], rows: number): ReadonlyArray<readonly Line[]> {
	const columns: Line[][] = [];
	let column: Line[] | undefined;
	for (const group of groups) {
		const needed = group.length + (column === undefined || column.length === 0 ? 0 : 1);
		if (column !== undefined && column.length + needed <= rows) {
			column.push(...(column.length === 0 ? [] : [[]]), ...group);
			continue;
		}

		// A group that is higher than the screen goes on in the next column.
		for (let from = 0; from < group.length; from += rows) {
			column = group.slice(from, from + rows);
			columns.push(column);
		}
	}

	return columns;
}

type HelpRoom = {
	readonly rows: number;
	readonly columns: number;
	/** Nothing stands beside it: what is read aloud comes in the order of the lines. */
	readonly isAlone: boolean;
};

/** A page of lines, at most `rows` of at most `columns` each, in as many columns as fit. */
function helpView(groups: readonly Group[], size: HelpRoom, page: number) {
	const rows = Math.max(1, size.rows);
	const columns = inColumns(groups, rows);
	const pages: Array<Array<readonly Line[]>> = [];
	let width = 0;
	for (const column of columns) {
		const last = pages.at(-1);
		const wide = widest(column);
		if (last !== undefined && !size.isAlone && width + gap + wide <= size.columns) {
			last.push(column);
			width += gap + wide;
		} else {
			pages.push([column]);
			width = wide;
		}
	}

	const shown = ((page % pages.length) + pages.length) % pages.length;
	const blocks = pages[shown]!.map((column) => {
		const columnWidth = Math.min(widest(column), size.columns);
		return {column, columnWidth};
	});
	const height = Math.max(...blocks.map(({column}) => column.length));
	const drawn = blocks.map(({column, columnWidth}) => block(column, height, columnWidth));
	const lines = sideBySide(drawn, span(' '.repeat(gap)));
	return {lines, width: widest(lines), page: shown, pages: pages.length};
}

/** The page that is open, as it fits the screen. */
export const helpOf = (state: State): HelpView =>
	helpView(
		[...keyGroups(state), ...legend(state)],
		// The message line and the footer stay in view.
		{rows: state.size.rows - 4, columns: state.size.columns - 2 - sides, isAlone: state.settings.isLinear},
		state.panels.helpPage,
	);
