/** The live table: one line a GPU. */
import type {StatusRow} from '../../core/rules/pool/status.js';
import {shortDuration} from '../../format/text/durations.js';
import {fit, widthOf} from '../../format/text/width.js';
import {migWords} from '../../format/status-labels.js';
import {sanitize, shownNote} from '../../format/text/text.js';
import {seriesOf} from '../../core/live/utilization-history.js';
import {tagOf, type SortKey} from '../table/state.js';
import type {State} from '../state/state.js';
import {columnsFor, markerWidth, type Column} from '../widgets/columns.js';
import {sparkline} from '../widgets/graph.js';
import {bar, ellipsisOf} from '../widgets/glyphs.js';
import {inTone, lineText, lineWidth, loadTone, span, type Line, type Span} from '../widgets/styled-text.js';
import {byMemory, commonMemory, gibibytes, processWords} from './readings.js';
import {areProcessesHidden, endWords, faultOf, hotCelsius, ownerWords, serviceWords, stateWord} from './labels.js';

const nothing = span('-', 'dim');
const unavailable = span('N/A', 'dim');

type Load = {readonly of: 'load' | 'memory'; readonly share: number; readonly number: string};

/** A bar with its number, both in the colour of the load; without room for a bar the number alone. */
function barCell({of, share, number}: Load, {barWidth}: Column, isAscii: boolean): Line {
	const tone = loadTone(of, share);
	if (barWidth === undefined) {
		return [span(number, tone)];
	}

	const {filled, rest} = bar(share, barWidth, isAscii);
	return [span(filled, tone), span(rest, 'dim'), span(fit(number, 5, 'end'), tone)];
}

function utilizationCell({reading}: StatusRow, column: Column, isAscii: boolean): Line {
	const percent = reading?.utilizationPercent;
	return percent === undefined
		? [unavailable]
		: barCell({of: 'load', share: percent / 100, number: `${Math.round(percent)}%`}, column, isAscii);
}

function memoryCell({reading}: StatusRow, column: Column, isAscii: boolean): Line {
	const {memoryUsedMiB: used, memoryTotalMiB: total} = reading ?? {};
	if (used === undefined) {
		return [unavailable];
	}

	if (total === undefined) {
		return [span(gibibytes(used))];
	}

	const number =
		column.barWidth === undefined ? `${gibibytes(used).slice(0, -1)}/${gibibytes(total)}` : gibibytes(used);
	return barCell({of: 'memory', share: used / total, number}, column, isAscii);
}

function temperatureCell({reading}: StatusRow): Span {
	const celsius = reading?.temperatureCelsius;
	if (celsius === undefined) {
		return nothing;
	}

	return celsius >= hotCelsius ? span(`${Math.round(celsius)}C!`, 'warning') : span(`${Math.round(celsius)}C `);
}

/** The largest process, how many more there are, and before them whatever is wrong. */
function processCell(row: StatusRow, isScanned: boolean): Span {
	const fault = faultOf(row);
	if (fault !== undefined && isScanned) {
		return span(sanitize(fault), 'error');
	}

	const service = serviceWords(row);
	if (service !== undefined && (row.processes.length === 0 || row.health.length > 0)) {
		return service;
	}

	const [squatter] = byMemory(row.squatters);
	if (squatter !== undefined) {
		return span(`! ${sanitize(squatter.user ?? '')}: ${processWords(squatter)}`, 'warning');
	}

	const [first, ...others] = byMemory(row.processes);
	const parts = migWords(row.reading);
	if (first !== undefined) {
		const words = processWords(first) + (others.length > 0 ? ` +${others.length}` : '');
		return span(parts === undefined ? words : `MIG: ${words}`);
	}

	return parts === undefined ? (areProcessesHidden(row) ? span('hidden', 'dim') : nothing) : span(parts);
}

function cell(row: StatusRow, column: Column, state: State): Line {
	const {requester, isAscii} = state.settings;
	const isScanned = state.observation !== undefined;
	switch (column.name) {
		case 'gpu': {
			return [span(String(row.index), 'strong')];
		}

		case 'state': {
			return [stateWord(row, requester, isScanned)];
		}

		case 'owner': {
			return [ownerWords(row, requester)];
		}

		case 'kind': {
			return [row.lease ? span(row.lease.type === 'run' ? 'RUN' : 'MANUAL') : nothing];
		}

		case 'held': {
			return [row.heldSeconds === undefined ? nothing : span(shortDuration(row.heldSeconds))];
		}

		case 'ends': {
			return [endWords(row)];
		}

		case 'utilization': {
			return utilizationCell(row, column, isAscii);
		}

		case 'memory': {
			return memoryCell(row, column, isAscii);
		}

		case 'temperature': {
			return [temperatureCell(row)];
		}

		case 'power': {
			const watts = row.reading?.powerWatts;
			return [watts === undefined ? nothing : span(`${Math.round(watts)}W`)];
		}

		case 'history': {
			const when = {columns: column.width, nowMs: state.nowMs};
			return sparkline(seriesOf(state.history, tagOf(row.index, row.reading), 'utilization', when), isAscii);
		}

		case 'note': {
			const note = sanitize(shownNote(row.lease?.note ?? ''));
			return [note === '' ? nothing : span(note)];
		}

		case 'process': {
			return [processCell(row, isScanned)];
		}
	}
}

/** Exactly as wide as its column. Only cells of a single piece can be too long. */
function fitCell(line: Line, {width, align}: Column, ellipsis: string): Line {
	const [first] = line;
	return line.length === 1 && first !== undefined
		? [span(fit(first.text, width, align, ellipsis), first.tone)]
		: [...line, span(' '.repeat(Math.max(0, width - lineWidth(line))))];
}

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
export const sortTitle = (name: SortKey): string => titles[name].trim();

/** The line of titles above the table. */
export function tableHead(state: State, width: number): Line {
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
const fromStore = new Set<Column['name']>(['state', 'owner', 'kind', 'held', 'ends', 'note']);

export function tableRow(row: StatusRow, state: State, width: number): Line {
	const isSelected = row.index === state.selectedGpu;
	const isStale = state.connection.kind === 'lost';
	const cells = columnsFor(width).map((column) => {
		const fitted = fitCell(cell(row, column, state), column, ellipsisOf(state));
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
