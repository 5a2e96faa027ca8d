/** The panel of all hosts: one line for each GPU, and one for each host of which there is something to say. */
import {roughDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {fit} from '../../../format/text/width.js';
import type {Room} from '../../layout.js';
import {
	hostLines,
	namedHost,
	selectedLineIndex,
	type GpuLine,
	type HostLine,
	type NoteLine,
} from '../../state/hosts/lines.js';
import type {Pointed} from '../../state/mouse.js';
import type {HostSortKey} from '../../state/hosts/state.js';
import type {State} from '../../state/state.js';
import {arrowOf} from '../../state/table/order.js';
import {isFiltered} from '../../state/table/state.js';
import {ellipsisOf} from '../../widgets/glyphs.js';
import {rangeText} from '../../widgets/scroll.js';
import {fitLine, inTone, lineText, span, type Line, type Tone} from '../../widgets/styled-text.js';
import type {PanelBody} from '../shared/panel-body.js';
import {hostCell} from './cells.js';
import {hostColumnsFor, hostMarkWidth, type HostColumnName} from './columns.js';

const titles: Readonly<Record<HostColumnName, string>> = {
	host: 'HOST',
	gpu: 'GPU',
	state: 'STATE',
	owner: 'OWNER',
	ends: 'ENDS',
	utilization: 'UTIL',
	memory: 'MEM',
	temperature: 'TEMP ',
	model: 'MODEL',
	process: 'PROCESS',
};

const sortTitles: Readonly<Record<HostSortKey, string>> = {
	host: titles.host,
	state: titles.state,
	owner: titles.owner,
	ends: titles.ends,
	utilization: titles.utilization,
	memory: titles.memory,
	temperature: titles.temperature.trim(),
	model: titles.model,
};

function head(width: number): Line {
	const text = hostColumnsFor(width).map(({name, width: columnWidth, align}) => fit(titles[name], columnWidth, align));
	return [span(fit(' '.repeat(hostMarkWidth) + text.join(' '), width), 'heading')];
}

/** The values of a host that does not answer are dim: nobody knows whether they still are so. */
function gpuPieces(line: GpuLine, state: State, width: number): readonly Line[] {
	return hostColumnsFor(width).map((column) => {
		const cell = hostCell(line, column, state);
		return line.isLast && column.name !== 'host' ? inTone(cell, 'dim') : cell;
	});
}

const noteTones: Readonly<Record<NoteLine['level'], Tone>> = {asking: 'dim', problem: 'error', remark: 'warning'};

/** What is wrong with a host, and how old the values below are. */
function notePieces({host, words, level, valuesAtMs, isOwn}: NoteLine, state: State, width: number): readonly Line[] {
	const ellipsis = ellipsisOf(state);
	const hostWidth = hostColumnsFor(width)[0]!.width;
	const age = valuesAtMs === undefined ? '' : ` (values of ${roughDuration((state.nowMs - valuesAtMs) / 1000)} ago)`;
	const room = width - hostMarkWidth - hostWidth - 1;
	const mark = level === 'problem' ? '! ' : '';
	const text =
		level === 'asking' ? words : fit(mark + words, Math.max(0, room - age.length), 'start', ellipsis).trimEnd() + age;
	return [
		[span(fit(sanitize(host), hostWidth, 'start', ellipsis), isOwn ? 'strong' : 'plain')],
		[span(fit(text, room, 'start', ellipsis), noteTones[level])],
	];
}

type LineOptions = {
	readonly isSelected: boolean;
	/** The line above names the same host. */
	readonly isRepeated: boolean;
	readonly width: number;
};

function tableLine(line: HostLine, state: State, {isSelected, isRepeated, width}: LineOptions): Line {
	const [name, ...rest] = line.kind === 'gpu' ? gpuPieces(line, state, width) : notePieces(line, state, width);
	const first = isRepeated ? inTone(name!, 'dim') : name;
	const following = rest.flatMap((cell) => [span(' '), ...cell]);
	const bold = following.map(({text, tone}) => ({text, tone: tone === 'plain' ? ('strong' as const) : tone}));
	const pieces = isSelected
		? [span(`> ${lineText(first!)}`, 'marked'), ...bold]
		: [span(' '.repeat(hostMarkWidth)), ...first!, ...following];
	return fitLine(pieces, width, ellipsisOf(state));
}

/** `sort HOST^  filter -`. */
function orderText({hosts: {sort, filter}}: State): readonly Line[] {
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	return [
		[span('sort '), span(`${sortTitles[sort.by]}${arrowOf(sort)}`, 'strong')],
		isFiltered(filter) ? [span('filter '), span(sanitize(words), 'warning')] : [],
	];
}

/** The line of the table at this line of the panel. */
export function hostLineAt(state: State, {rows}: Room, line: number): Pointed | undefined {
	const position = state.hosts.firstLine + line - 1;
	return line >= 1 && line < rows && position < hostLines(state).length
		? {on: 'row', panel: 'hosts', index: position}
		: undefined;
}

export function hostsPanel(state: State, {rows, width}: Room): PanelBody {
	const all = hostLines(state);
	const from = state.hosts.firstLine;
	const to = Math.min(all.length, from + Math.max(0, rows - 1));
	const selected = selectedLineIndex(state);
	const shown = all.slice(from, to).map((line, row, inView) =>
		tableLine(line, state, {
			isSelected: from + row === selected,
			isRepeated: row > 0 && namedHost(inView[row - 1]!) === namedHost(line),
			width,
		}),
	);
	const others = state.settings.otherHosts ?? [];
	const words =
		all.length === 0 && isFiltered(state.hosts.filter)
			? 'No GPU of any host matches; Esc clears the filter'
			: others.length === 0
				? 'Name other hosts in the setting remote_hosts to see them here'
				: undefined;
	return {
		beside: orderText(state),
		end: rangeText(from, to, all.length),
		lines: [head(width), ...shown, ...(words === undefined ? [] : [[], [span(`  ${words}`, 'dim')]])],
	};
}
