/** The larger cells of the table of hosts. Texts from other hosts were sanitized when they arrived. */
import type {ReactElement} from 'react';
import {gibibytes, processText} from '../../../format/readings.js';
import {states} from '../../../format/states.js';
import {migText} from '../../../format/status-labels.js';
import {truncate} from '../../../format/text/width.js';
import {holderOf, holdersOf, type GpuLine, type TotalLine} from '../../state/hosts/lines.js';
import {idleWord} from '../../state/gpus/row-state.js';
import {nameIn, severalLabelsOfHosts} from '../../state/labels.js';
import {useMonitor} from '../../state/use-monitor.js';
import {loadTone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';
import {Nothing, Utilization, Value} from '../shared/readings.js';
import {drainText, ShortIdleWords, stateTones, TimeLeft} from '../shared/row-words.js';

type Properties = {readonly line: GpuLine; readonly width: number};

export function Owner({line: {gpu, state}}: Properties): ReactElement {
	const accounts = useMonitor(severalLabelsOfHosts);
	const holder = holderOf(gpu);
	const holders = holdersOf(gpu);
	if (holders.length > 0) {
		const name = holder === undefined ? `${holders.length} shared` : nameIn(accounts, holder);
		return <Label tone={state === 'mine' ? 'mine' : 'plain'}>{name}</Label>;
	}

	const users = (gpu.unreserved_users ?? []).join(',');
	return state === 'unreserved' ? <Label tone="warning">{users === '' ? 'unknown' : users}?</Label> : <Nothing />;
}

export function End({line: {gpu, state, atMs}}: Properties): ReactElement {
	const nowMs = useMonitor((monitor) => monitor.nowMs);
	if (holdersOf(gpu).length === 0 || state === 'unreserved') {
		return <Nothing />;
	}

	if (gpu.held_for_queue !== undefined) {
		return <Label>queued</Label>;
	}

	const {remaining_seconds: remaining, reservation_type: type} = gpu;
	return remaining === undefined ? (
		<Label>{type === 'run' ? 'on-exit' : type === undefined ? '-' : 'never'}</Label>
	) : (
		<TimeLeft seconds={Math.max(0, remaining - (nowMs - atMs) / 1000)} />
	);
}

/** On a cluster, returns the place of a GPU, such as `GPU 1 of box2`. On other hosts, returns the number of MIG instances. */
function placeText({mig_instances: instances, node, node_gpu_id: index}: GpuLine['gpu']): string | undefined {
	return node === undefined
		? migText({isMigEnabled: instances !== undefined, migInstances: instances})
		: `GPU ${index ?? '?'} of ${node}`;
}

const secondsOf = (time: string | undefined): number | undefined =>
	time === undefined ? undefined : Date.parse(time) / 1000;

/** Returns when a GPU goes back, since when it is parked, or until when an unused GPU is kept. */
function idleOf(
	{reclaim_at: reclaimAt, beyond_limit: isBeyondLimit, parked_since: parked, keep_until: kept}: GpuLine['gpu'],
	isUsed: boolean,
) {
	const deadline = secondsOf(reclaimAt);
	const since = secondsOf(parked);
	const keepUntil = isUsed ? undefined : secondsOf(kept);
	return (deadline ?? since ?? keepUntil) === undefined && isBeyondLimit !== true
		? undefined
		: {
				warning: deadline === undefined ? undefined : {deadline},
				isBeyondLimit: isBeyondLimit === true,
				parked: since === undefined ? undefined : {since},
				keepUntil,
			};
}

/** Shows the fault of a GPU. If there is none, shows its largest process and the number of other processes. */
export function Process({line: {gpu, state}, width}: Properties): ReactElement {
	const {drain, health = [], error, processes = [], process_info: use} = gpu;
	if (state === 'drained') {
		return <Label tone="warning">{drainText(drain ?? {})}</Label>;
	}

	const fault = health[0] ?? (state === 'error' ? (error ?? 'error') : undefined);
	if (fault !== undefined) {
		return <Label tone="error">{fault}</Label>;
	}

	const [first, ...others] = processes.toSorted((a, b) => (b.memory_used_mb ?? -1) - (a.memory_used_mb ?? -1));
	const more = others.length > 0 ? ` +${others.length}` : '';
	const words =
		first === undefined ? use : processText({pid: first.pid, name: first.name, commandLine: first.command}) + more;
	if (state === 'unreserved') {
		return <Label tone="warning">{words ?? 'used without a reservation'}</Label>;
	}

	const idle = idleOf(gpu, words !== undefined);
	return idle === undefined ? (
		<Value>{words ?? placeText(gpu)}</Value>
	) : (
		<ShortIdleWords row={idle} width={width} words={words} />
	);
}

/** Shows the state of a GPU. If the host no longer answers, a question mark follows the last known state. */
export function State({line: {gpu, state, isLast}, width}: Properties): ReactElement {
	const words = state === 'idle' ? idleWord(gpu.idle_seconds) : states[state].short;
	return <Label tone={stateTones[state]}>{isLast ? `${truncate(words, width - 1)}?` : words}</Label>;
}

type TotalProperties = {readonly line: TotalLine; readonly width: number};

/** Shows the memory in use and in total. If there is no room for both, shows a percentage. */
export function TotalMemory({line, width}: TotalProperties): ReactElement | undefined {
	const {memoryUsedMiB: used, memoryTotalMiB: total} = line.totals;
	if (total === 0) {
		return undefined;
	}

	const text = `${gibibytes(used).slice(0, -1)}/${gibibytes(total)}`;
	return (
		<Label tone={loadTone('memory', used / total)}>
			{text.length > width ? `${Math.round((used / total) * 100)}%` : text}
		</Label>
	);
}

export function TotalUtilization({line: {totals}, width}: TotalProperties): ReactElement | undefined {
	return totals.utilization === undefined ? undefined : (
		<Utilization percent={totals.utilization * 100} width={width} />
	);
}

export const TotalFree = ({line: {totals}}: TotalProperties): ReactElement => (
	<Label tone={totals.free.whole > 0 ? 'free' : 'plain'}>
		{totals.free.whole}/{totals.gpuCount} free
	</Label>
);
