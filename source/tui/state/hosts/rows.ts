/** The rows of the host table: the GPUs of all hosts, their subtotals, and messages about hosts with a problem. */
import type {RemoteGpu} from '../../../format/hosts/remote-gpu.js';
import {states, type MonitorState} from '../../../format/states.js';
import {byUrgency} from '../gpus/row-state.js';
import type {State} from '../state.js';
import type {SortValue} from '../table/order.js';
import {tableOf} from '../table/table.js';
import {accountsOf, allHostLines, holdersOf, namedHost, type GpuLine, type HostLine} from './lines.js';
import {hostSubtotals} from './totals.js';

const textOf = (line: HostLine): string => {
	if (line.kind !== 'gpu') {
		return `${line.host} ${line.kind === 'note' ? line.words : ''}`;
	}

	const {host, gpu, state} = line;
	return [
		host,
		gpu.node,
		`gpu${gpu.gpu_id}`,
		states[state].short,
		gpu.reservation_type,
		gpu.note,
		gpu.via,
		gpu.gpu_model,
		gpu.uuid,
		gpu.error,
		gpu.process_info,
		...holdersOf(gpu),
		...accountsOf(gpu),
		...(gpu.processes ?? []).flatMap(({pid, name, command}) => [String(pid), name, command]),
	].join(' ');
};

/** Whether nobody holds the GPU, so that no reservation can end. */
const isUnheld = (state: MonitorState): boolean => ['available', 'unreserved', 'error', 'drained'].includes(state);

const ofGpu =
	(valueOf: (gpu: RemoteGpu, line: GpuLine) => SortValue) =>
	(line: HostLine): SortValue =>
		line.kind === 'gpu' ? valueOf(line.gpu, line) : undefined;

/** Returns the values for sorting by host. In inverted order, messages about hosts have no value, so that they still come last. */
function hostValue({hosts}: State, lines: readonly HostLine[]): (line: HostLine) => SortValue {
	const places = new Map(lines.map((line, index) => [line, index]));
	return (line) => (line.kind === 'note' && hosts.sort.isInverted ? undefined : places.get(line));
}

/** Inserts the subtotals of each host above its GPUs, if the table is sorted by host. */
const withSubtotals = (lines: readonly HostLine[], state: State): readonly HostLine[] =>
	lines.flatMap((line, index) => {
		const name = namedHost(line);
		const above = lines[index - 1];
		const isFirst = above?.kind !== 'gpu' || namedHost(above) !== name;
		const total = line.kind === 'gpu' && isFirst ? hostSubtotals(state).get(name) : undefined;
		return total === undefined ? [line] : [total, line];
	});

export const hostTable = tableOf<HostLine>({
	name: 'hosts',
	noun: 'host',
	rowsOf: allHostLines,
	nest: (lines, state) => (state.hosts.sort.by === 'host' ? withSubtotals(lines, state) : lines),
	partsOf: (state) => [hostSubtotals(state)],
	// Ensures that the row that is selected at the start is no subtotal.
	placeOf: (line, index) => (line.kind === 'total' ? Infinity : index),
	keysOf: ({key}) => [key],
	textOf,
	// The message of a host that does not answer is never filtered out, because the host may have matching GPUs.
	isOf: (line, account) => line.kind !== 'gpu' || accountsOf(line.gpu).includes(account),
	isMine: (line) => line.kind !== 'gpu' || line.state === 'mine',
	userOf: (line) => (line.kind === 'gpu' ? accountsOf(line.gpu)[0] : undefined),
	noUser: 'This line has no user: select a GPU that has one',
	valuesOf: (state, lines) => ({
		host: hostValue(state, lines),
		state: ofGpu((_, line) => byUrgency.indexOf(line.state)),
		owner: ofGpu(({user, sharers, unreserved_users: users}) => user ?? sharers?.[0] ?? users?.[0]),
		ends: ofGpu(({remaining_seconds: seconds}, line) => (isUnheld(line.state) ? undefined : (seconds ?? Infinity))),
		utilization: ofGpu(({utilization}) => utilization),
		memory: ofGpu(({memory_used_mb: memory}) => memory),
		temperature: ofGpu(({temperature}) => temperature),
		model: ofGpu(({gpu_model: model}) => model),
	}),
	wordsOf: (line) =>
		line.kind === 'gpu'
			? {state: states[line.state].short, owner: [...holdersOf(line.gpu), ...accountsOf(line.gpu)].join(' ')}
			: {},
	tieOf: () => (a, b) => Number(a.kind === 'note') - Number(b.kind === 'note'),
});

export const hostLines = hostTable.shown;

export const selectedHostLine = hostTable.selected;
