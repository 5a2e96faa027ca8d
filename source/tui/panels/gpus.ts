/** The panel of the GPUs: one line each. */
import type {StatusRow} from '../../core/rules/pool/status.js';
import {sanitize} from '../../format/text/text.js';
import {fit, widthOf} from '../../format/text/width.js';
import type {Room} from '../layout.js';
import type {State} from '../state/state.js';
import {taggedGpus, visibleRows} from '../state/table/rows.js';
import {isFiltered, tagOf, type SortKey} from '../state/table/state.js';
import {rangeWords} from '../widgets/scroll.js';
import {inTone, lineText, span, type Line} from '../widgets/styled-text.js';
import {columnsFor, markerWidth, type GpuColumn} from './gpu-columns.js';
import {gpuCell} from './gpu-cells.js';
import type {PanelBody} from './shared/panel-body.js';
import {commonMemory, gibibytes} from './shared/readings.js';

const titles = {
	gpu: 'GPU',
	state: 'STATE',
	owner: 'OWNER',
	kind: 'KIND',
	held: 'HELD',
	ends: 'ENDS',
	utilization: 'UTIL',
	memory: 'MEM',
	temperature: 'TEMP ',
	power: 'PWR',
	history: '5-MIN',
	note: 'NOTE',
	process: 'PROCESS',
} as const;

/** The title of a column, as the frame names the order. */
const sortTitle = (name: SortKey): string => titles[name].trim();

/** The line of titles above the table. */
function tableHead(state: State, width: number): Line {
	const memory = commonMemory(state.observation?.gpus ?? []);
	const text = columnsFor(width).map(({name, width: columnWidth, align, barWidth}) => {
		const isCommon = name === 'memory' && barWidth !== undefined && memory !== undefined;
		return fit(isCommon ? `${titles.memory}/${gibibytes(memory)}` : titles[name], columnWidth, align);
	});
	return [span(fit(' '.repeat(markerWidth) + text.join(' '), width), 'heading')];
}

/** The selected line stands out, beside its mark. */
const inBold = (line: Line): Line => line.map(({text, tone}) => ({text, tone: tone === 'plain' ? 'strong' : tone}));

/** What the store says goes dim when it is lost, what the tool says when scans fail. */
const fromStore = new Set<GpuColumn['name']>(['state', 'owner', 'kind', 'held', 'ends', 'note']);

function tableRow(row: StatusRow, state: State, width: number): Line {
	const isSelected = row.index === state.selectedGpu;
	const isStale = state.connection.kind === 'lost';
	const cells = columnsFor(width).map((column) => {
		const fitted = gpuCell(row, column, state);
		const isOld = fromStore.has(column.name) ? isStale : column.name !== 'gpu' && state.scanFailure !== undefined;
		return isOld ? inTone(fitted, 'dim') : fitted;
	});
	const [first, ...rest] = cells;
	const following = rest.flatMap((fitted) => [span(' '), ...fitted]);
	const marks = `${isSelected ? '>' : ' '}${state.table.tags.has(tagOf(row.index, row.reading)) ? '*' : ' '}`;
	const line = isSelected
		? [span(`${marks}${lineText(first!)}`, 'marked'), ...inBold(following)]
		: [span(marks, 'key'), ...first!, ...following];
	const spare = width - line.reduce((sum, {text}) => sum + widthOf(text), 0);
	return spare > 0 ? [...line, span(' '.repeat(spare))] : line;
}

/** `sort GPU^  filter -  tagged 2`. */
function orderWords(state: State): readonly Line[] {
	const {sort, filter} = state.table;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	const tagged = taggedGpus(state).length;
	return [
		[span('sort '), span(`${sortTitle(sort.by)}${sort.isInverted ? 'v' : '^'}`, 'strong')],
		isFiltered(filter) ? [span('filter '), span(sanitize(words), 'warning')] : [],
		tagged > 0 ? [span(`tagged ${tagged}`, 'warning')] : [],
	];
}

export function gpusPanel(state: State, {rows, width}: Room): PanelBody {
	const all = visibleRows(state);
	const to = Math.min(all.length, state.firstRow + rows - 1);
	const shown = all.slice(state.firstRow, to).map((row) => tableRow(row, state, width));
	const isFilteredOut = all.length === 0 && isFiltered(state.table.filter);
	return {
		beside: orderWords(state),
		end: rangeWords(state.firstRow, to, all.length),
		lines: [
			tableHead(state, width),
			...shown,
			...(isFilteredOut ? [[span('  No GPU matches; Esc clears the filter', 'dim')]] : []),
		],
	};
}
