/** The cells of the table of processes. */
import {processRightText} from '../../../format/process-right.js';
import {sanitize} from '../../../format/text/text.js';
import {fit} from '../../../format/text/width.js';
import type {ProcessRight} from '../../../core/rules/pool/process-right.js';
import type {ProcessRow, ProcessSortKey} from '../../state/processes/state.js';
import type {State} from '../../state/state.js';
import {ellipsisOf, glyphsOf} from '../../widgets/glyphs.js';
import {loadTone, span, type Line, type Span, type Tone} from '../../widgets/styled-text.js';
import {processCells} from '../shared/process-rows.js';
import {gibibytes, processText} from '../../../format/readings.js';
import type {ProcessColumn} from './columns.js';

const nothing = span('-', 'dim');

/** Whether someone ought to do something about it. */
export const isAlarming = (right: ProcessRight): boolean => right === 'not-holder' || right === 'unreserved';

const rightTones: Readonly<Record<ProcessRight, Tone>> = {
	'not-holder': 'warning',
	unreserved: 'warning',
	unknown: 'dim',
	little: 'dim',
	desktop: 'dim',
	holder: 'plain',
};

/** Levels of a tree that are drawn: a deeper one moves no further to the right. */
const deepest = 8;

/** The line that leads from a parent to its child. */
const branchOf = ({depth}: ProcessRow, state: State): string =>
	depth === 0 ? '' : `${' '.repeat(2 * Math.min(depth, deepest) - 2)}${glyphsOf(state).branch} `;

function userCell({process, right}: ProcessRow, {settings}: State): Span {
	const words = sanitize(process.user ?? '?');
	return span(words, isAlarming(right) ? 'warning' : process.user === settings.requester.account ? 'mine' : 'plain');
}

function memoryCell({process, row}: ProcessRow, words: string): Span {
	const total = row.reading?.memoryTotalMiB;
	return process.memoryUsedMiB === undefined
		? span(words, 'dim')
		: span(words, total === undefined ? 'plain' : loadTone('memory', process.memoryUsedMiB / total));
}

/** What stands in each column of a row, of any width. */
function cellsOf(placed: ProcessRow, state: State): Readonly<Record<ProcessSortKey, Span>> {
	const {process, row, right} = placed;
	const cells = processCells(process, state);
	const {utilizationPercent, hostMemoryMiB, containerId} = process;
	return {
		gpu: span(String(row.index), 'strong'),
		pid: span(cells.pid),
		user: userCell(placed, state),
		right: span(processRightText[right].short, rightTones[right]),
		load: utilizationPercent === undefined ? nothing : span(cells.load, loadTone('load', utilizationPercent / 100)),
		memory: memoryCell(placed, cells.memory),
		cpu: cells.cpu === '-' ? nothing : span(cells.cpu),
		hostMemory: hostMemoryMiB === undefined ? nothing : span(gibibytes(hostMemoryMiB)),
		time: cells.time === '-' ? nothing : span(cells.time),
		container: containerId === undefined ? nothing : span(sanitize(containerId)),
		command: span(branchOf(placed, state) + processText(process), isAlarming(right) ? 'warning' : 'plain'),
	};
}

/** The cells of a row, each exactly as wide as its column, with blanks between them. */
export function processCellsLine(
	placed: ProcessRow,
	columns: readonly ProcessColumn[],
	gap: number,
	state: State,
): Line {
	const cells = cellsOf(placed, state);
	const ellipsis = ellipsisOf(state);
	return columns.flatMap(({name, width, align}, index): Line => {
		const {text, tone} = cells[name];
		const piece = span(fit(text, width, align, ellipsis), tone);
		return index === 0 ? [piece] : [span(' '.repeat(gap)), piece];
	});
}
