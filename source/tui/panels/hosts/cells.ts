/** The cells of the table of all hosts. Texts of other hosts were made harmless when their answers came. */
import {states} from '../../../format/states.js';
import {sanitize} from '../../../format/text/text.js';
import {fit} from '../../../format/text/width.js';
import {holdersOf, namedHost, type GpuLine} from '../../state/hosts/lines.js';
import type {State} from '../../state/state.js';
import {idleWord} from '../../state/table/row-state.js';
import {ellipsisOf} from '../../widgets/glyphs.js';
import {span, type Line, type Span} from '../../widgets/styled-text.js';
import {hotCelsius, stateTones, timeLeftText} from '../shared/labels.js';
import {memoryCell, utilizationCell} from '../shared/load-cells.js';
import {processText, shortModel} from '../../../format/readings.js';
import {type HostColumn, type HostColumnName} from './columns.js';

const nothing = span('-', 'dim');

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

	return parts === undefined ? nothing : span(`MIG: ${parts.length} parts`);
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

/** The question mark: so it was before the host stopped to answer, and nobody knows how it is now. */
function stateCell({gpu, state, isLast}: GpuLine): Span {
	const words = state === 'idle' ? idleWord(gpu.idle_seconds) : states[state].short;
	return span(isLast ? `${words}?` : words, stateTones[state]);
}

type CellOf = (line: GpuLine, column: HostColumn, state: State) => Line;

const cells: Readonly<Record<HostColumnName, CellOf>> = {
	host: (line) => [span(sanitize(namedHost(line)), line.isOwn ? 'strong' : 'plain')],
	gpu: ({gpu}) => [span(String(gpu.gpu_id), 'strong')],
	state: (line) => [stateCell(line)],
	owner: (line) => [ownerCell(line)],
	ends: (line, _, {nowMs}) => [endCell(line, nowMs)],
	utilization: ({gpu}, column, state) => utilizationCell(gpu.utilization, column, state),
	memory: ({gpu}, column, state) =>
		memoryCell({usedMiB: gpu.memory_used_mb, totalMiB: gpu.memory_total_mb}, column, state),
	temperature({gpu: {temperature: celsius}}) {
		return [
			celsius === undefined
				? nothing
				: celsius >= hotCelsius
					? span(`${Math.round(celsius)}C!`, 'warning')
					: span(`${Math.round(celsius)}C `),
		];
	},
	model: ({gpu: {gpu_model: model}}) => [model === undefined ? nothing : span(shortModel(model))],
	process: (line) => [processCell(line)],
};

/** A cell exactly as wide as its column. Only cells of a single piece can be too long. */
export function hostCell(line: GpuLine, column: HostColumn, state: State): Line {
	const cell = cells[column.name](line, column, state);
	const [first] = cell;
	return cell.length === 1 && first !== undefined
		? [span(fit(first.text, column.width, column.align, ellipsisOf(state)), first.tone)]
		: cell;
}
