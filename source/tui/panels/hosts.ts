/**
The panel of all hosts: one line for each GPU, and one for each host of which there is something to say. Texts of other hosts were made harmless
when their answers came.
*/
import {rowText, type Column, type GrowthRound, type Sacrifice} from '../../format/text/columns.js';
import {migText} from '../../format/status-labels.js';
import {states} from '../../format/states.js';
import {sanitize} from '../../format/text/text.js';
import {fit, truncate} from '../../format/text/width.js';
import {
	holdersOf,
	type GpuLine,
	hostLines,
	namedHost,
	selectedLineIndex,
	type HostLine,
	type NoteLine,
} from '../state/hosts/lines.js';
import type {State} from '../state/state.js';
import {idleWord} from '../state/table/row-state.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {span, type Line, type Span, fitLine, inBold, inTone, lineText, type Tone} from '../widgets/styled-text.js';
import {processText, shortModel} from '../../format/readings.js';
import {roughDuration} from '../../format/text/durations.js';
import type {Room} from '../regions.js';
import type {Pointed} from '../state/mouse.js';
import type {HostSortKey} from '../state/hosts/state.js';
import {isFiltered} from '../state/table/state.js';
import {rangeText, type PanelBody} from '../widgets/panel-frames.js';
import {orderText} from './shared/order-text.js';
import {stateTones, timeLeftText} from './shared/labels.js';
import {
	barNumberWidth,
	fitCell,
	leastWithBar,
	loadColumns,
	type LoadColumn,
	memoryCell,
	nothing,
	temperatureCell,
	utilizationCell,
} from './shared/load-cells.js';

type HostColumnName =
	'host' | 'gpu' | 'state' | 'owner' | 'ends' | 'utilization' | 'memory' | 'temperature' | 'model' | 'process';

type HostColumn = LoadColumn<HostColumnName>;

/** The mark of the selected line. */
const hostMarkWidth = 2;

const leastColumns: ReadonlyArray<Column<HostColumnName>> = [
	{name: 'host', width: 12},
	{name: 'gpu', width: 3, align: 'end'},
	{name: 'state', width: 10},
	{name: 'owner', width: 8},
	{name: 'ends', width: 7},
	{name: 'utilization', width: leastWithBar},
	{name: 'memory', width: leastWithBar},
	{name: 'temperature', width: 5, align: 'end'},
	{name: 'model', width: 10},
	{name: 'process', width: 14},
];

/** What goes first when there is no room for all. Which host it is, and whether it can be had, is shown to the last. */
const sacrifices: ReadonlyArray<Sacrifice<HostColumnName>> = [
	['process', 0],
	['memory', 8, 'at once'],
	['utilization', 4, 'at once'],
	['temperature', 0],
	['model', 0],
];

const growth: ReadonlyArray<GrowthRound<HostColumnName>> = [
	{host: 15},
	{owner: 10},
	{host: 20, process: 20},
	{host: 24, owner: 16, model: 16, process: 30},
	{utilization: 12 + barNumberWidth, memory: 12 + barNumberWidth, model: 24},
	{utilization: 20 + barNumberWidth, memory: 20 + barNumberWidth, process: 60},
];

/** By width; every line of a frame asks for the same. */
const known = new Map<number, readonly HostColumn[]>();

/** The most that fits into `width`. */
function hostColumnsFor(width: number): readonly HostColumn[] {
	const room = {width: width - hostMarkWidth, gap: 1};
	const columns = known.get(width) ?? loadColumns(leastColumns, room, {sacrifices, growth, last: ['process', 'host']});
	known.set(width, columns);
	return columns;
}

function ownerCell({gpu, state}: GpuLine): Span {
	const holders = holdersOf(gpu);
	if (holders.length > 0) {
		// As in the table of one host.
		return span(gpu.user ?? `${holders.length} shared`, state === 'mine' ? 'mine' : 'plain');
	}

	const users = (gpu.unreserved_users ?? []).join(',');
	// The question mark: they use it, and nothing says that they may.
	return state === 'unreserved' ? span(`${users === '' ? 'unknown' : users}?`, 'warning') : nothing;
}

function endCell({gpu, state, atMs}: GpuLine, nowMs: number): Span {
	if (holdersOf(gpu).length === 0 || state === 'unreserved') {
		return nothing;
	}

	if (gpu.held_for_queue !== undefined) {
		return span('queued');
	}

	const {remaining_seconds: remaining, reservation_type: type} = gpu;
	return remaining === undefined
		? span(type === 'run' ? 'on-exit' : type === undefined ? '-' : 'never')
		: timeLeftText(Math.max(0, remaining - (nowMs - atMs) / 1000));
}

/** Where it is, for a host that answers for a cluster; or how many parts it has. */
function quietCell({mig_instances: parts, node, node_gpu_id: index}: GpuLine['gpu']): Span {
	if (node !== undefined) {
		return span(`GPU ${index ?? '?'} of ${node}`);
	}

	const instances = migText({isMigEnabled: parts !== undefined, migInstances: parts});
	return instances === undefined ? nothing : span(instances);
}

/** What is wrong with it, or else the largest process and how many more there are. */
function processCell({gpu, state}: GpuLine): Span {
	const {drain, health = [], error, processes = [], process_info: use} = gpu;
	if (state === 'drained') {
		const by = drain?.by === undefined ? '' : ` by ${drain.by}`;
		return span(`drained${by}${drain?.reason === undefined ? '' : `: ${drain.reason}`}`, 'warning');
	}

	const fault = health[0] ?? (state === 'error' ? (error ?? 'error') : undefined);
	if (fault !== undefined) {
		return span(fault, 'error');
	}

	const [first, ...others] = processes.toSorted((a, b) => (b.memory_used_mb ?? -1) - (a.memory_used_mb ?? -1));
	const more = others.length > 0 ? ` +${others.length}` : '';
	const words =
		first === undefined ? use : processText({pid: first.pid, name: first.name, commandLine: first.command}) + more;
	if (state === 'unreserved') {
		return span(words ?? 'used without a reservation', 'warning');
	}

	return words === undefined ? quietCell(gpu) : span(words);
}

/** The question mark: so it was before the host stopped answering; how it is now is unknown. */
function stateCell({gpu, state: kind, isLast}: GpuLine, {width}: HostColumn, state: State): Span {
	const words = kind === 'idle' ? idleWord(gpu.idle_seconds) : states[kind].short;
	return span(isLast ? `${truncate(words, width - 1, ellipsisOf(state))}?` : words, stateTones[kind]);
}

type CellOf = (line: GpuLine, column: HostColumn, state: State) => Line;

const cells: Readonly<Record<HostColumnName, CellOf>> = {
	host: (line) => [span(sanitize(namedHost(line)), line.isOwn ? 'strong' : 'plain')],
	gpu: ({gpu}) => [span(String(gpu.gpu_id), 'strong')],
	state: (line, column, state) => [stateCell(line, column, state)],
	owner: (line) => [ownerCell(line)],
	ends: (line, _, {nowMs}) => [endCell(line, nowMs)],
	utilization: ({gpu}, column, state) => utilizationCell(gpu.utilization, column, state),
	memory: ({gpu}, column, state) =>
		memoryCell({usedMiB: gpu.memory_used_mb, totalMiB: gpu.memory_total_mb}, column, state),
	temperature: ({gpu}) => [temperatureCell(gpu.temperature)],
	model: ({gpu: {gpu_model: model}}) => [model === undefined ? nothing : span(shortModel(model))],
	process: (line) => [processCell(line)],
};

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

const head = (width: number): Line => [
	span(fit(' '.repeat(hostMarkWidth) + rowText(hostColumnsFor(width), titles, {gap: 1}), width), 'heading'),
];

/** The values of a host that does not answer are dim: whether they still hold is unknown. */
function gpuPieces(line: GpuLine, state: State, width: number): readonly Line[] {
	return hostColumnsFor(width).map((column) => {
		const cell = fitCell(cells[column.name](line, column, state), column, ellipsisOf(state));
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
	const pieces = isSelected
		? [span(`> ${lineText(first!)}`, 'marked'), ...inBold(following)]
		: [span(' '.repeat(hostMarkWidth)), ...first!, ...following];
	return fitLine(pieces, width, ellipsisOf(state));
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
		beside: orderText({...state.hosts, tagged: 0}, (key) => sortTitles[key]),
		end: rangeText(from, to, all.length),
		lines: [head(width), ...shown, ...(words === undefined ? [] : [[], [span(`  ${words}`, 'dim')]])],
	};
}
