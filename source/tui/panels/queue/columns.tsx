/** The columns of the queue: their texts, which of them fit, and their widths. */
import type {ComponentType} from 'react';
import type {InstanceNeed} from '../../../core/model/mig.js';
import type {QueueEntry} from '../../../core/model/types.js';
import {labelOf, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import {instanceText} from '../../../core/rules/mig/instances.js';
import {wantedOf} from '../../../core/rules/queue/eligible.js';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {memoryText, sizeText} from '../../../core/rules/request/memory-size.js';
import {limitText} from '../../../format/queue/over-limit.js';
import {partsOutText} from '../../../format/queue/waiting-progress.js';
import {blockersText, endsWithJobs, outageText} from '../../../format/queue/why.js';
import {shortDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {noteWords} from '../../../format/text/note.js';
import {counted} from '../../../format/text/numbers.js';
import {sanitize} from '../../../format/text/text.js';
import {widthOf} from '../../../format/text/width.js';
import {clockText} from '../../state/clock.js';
import {nameIn, severalLabels} from '../../state/labels.js';
import {keepingEqual, remembering} from '../../state/memo.js';
import {waitingOf} from '../../state/queue/rows.js';
import {storeNow, type State} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties} from '../../table/data-table.js';
import {Label} from '../../widgets/label.js';

/** The columns of the queue. `blockedBy` has the reservations that an entry waits for. If it does not fit, they are listed below the rows. */
export type QueueColumnName = 'position' | 'user' | 'want' | 'got' | 'waited' | 'estimate' | 'note' | 'blockedBy';

/** The columns whose width depends on their longest value. */
const measuredColumns = ['position', 'user', 'want', 'got', 'note'] as const satisfies readonly QueueColumnName[];

/** The width of the longest value of each measured column, in terminal columns. */
export type QueueNeeds = Readonly<Record<(typeof measuredColumns)[number], number>>;

const gotText = ({held}: QueueRow, entry: QueueEntry): string => `${held.length}/${wantedOf(entry).count}`;

const instancesText = (mig: InstanceNeed, count: number): string =>
	'instances' in mig
		? `MIG ${mig.instances.map((instance) => instanceText(instance)).join(',')}`
		: `${count} MIG ${sanitize(mig.profile)}`;

/** Returns a request as text: `GPUs 0-3,5` for given GPUs, `2 GPUs 40G+ h100` for requirements, `1 GPU 8G share` for a share. */
const wantText = ({requestedIds, requestedCount, need = {}}: QueueEntry): string =>
	[
		need.mig === undefined
			? requestedIds.length > 0
				? gpuList(requestedIds)
				: counted(requestedCount, 'GPU')
			: instancesText(need.mig, requestedCount),
		...(need.shareMiB === undefined ? [] : [`${sizeText(need.shareMiB)} share`]),
		...(need.models === undefined ? [] : [sanitize(need.models.join('|'))]),
		...(need.minMemoryMiB === undefined ? [] : [`${memoryText(need.minMemoryMiB)}+`]),
		...(need.minCompute === undefined ? [] : [`cc${sanitize(need.minCompute)}+`]),
		...(need.nvlink === true ? ['NVLink'] : []),
	].join(' ');

/** Returns when the request is expected to be served: at a time, or when a job ends. */
function estimateText(row: QueueRow): string {
	const {estimateSeconds, isPossible, isUnknown, outages, blockers} = row;
	if (!isPossible) {
		return 'never';
	}

	if (isUnknown) {
		return 'unknown';
	}

	if (limitText(row) !== undefined) {
		return 'at limit';
	}

	const [outage] = outages;
	if (outage !== undefined) {
		return {
			drained: 'drained',
			unreadable: 'broken',
			broken: 'broken',
			used: 'in use',
			unknown: 'unknown',
			mode: 'unknown',
		}[outage.kind];
	}

	if (estimateSeconds === undefined) {
		return blockers.length === 0 || endsWithJobs(blockers) ? 'on-exit' : 'unknown';
	}

	return estimateSeconds < 1 ? 'now' : `~${shortDuration(estimateSeconds)}`;
}

/** Returns the reservations that an entry waits for, such as `bob on GPU 3 until 14:44`. Empty if there are none. */
export const blockersOf = ({blockers}: QueueRow, state: State): string =>
	blockersText(blockers, storeNow(state) ?? 0, (seconds) => clockText(seconds, state));

/** Returns what an entry waits for. If that is not a reservation, returns a reason such as `GPU 3: used by zoe without a reservation`. */
function blockedByText(row: QueueRow, state: State): string {
	const limit = limitText(row);
	if (limit !== undefined) {
		return limit;
	}

	const blocked = blockersOf(row, state);
	const [outage] = row.outages;
	return blocked === '' && outage !== undefined
		? `${partsOutText(row.outages, gpuList)}: ${outageText(outage)}`
		: blocked;
}

type EntryProperties = {readonly row: QueueRow; readonly entry: QueueEntry; readonly state: State};

type QueueColumn = {readonly title: string; readonly text: (properties: EntryProperties) => string};

export const queueColumns: Readonly<Record<QueueColumnName, QueueColumn>> = {
	position: {title: '#', text: ({row}) => String(row.position)},
	user: {
		title: 'USER',
		text: ({entry, state}) => nameIn(severalLabels(state), {account: ownerOf(entry), label: labelOf(entry)}),
	},
	want: {title: 'WANT', text: ({entry}) => wantText(entry)},
	got: {title: 'GOT', text: ({row, entry}) => gotText(row, entry)},
	waited: {title: 'WAITED', text: ({row}) => shortDuration(row.waitedSeconds)},
	estimate: {title: 'ESTIMATE', text: ({row}) => estimateText(row)},
	note: {title: 'NOTE', text: ({entry}) => noteWords(entry)},
	blockedBy: {title: 'BLOCKED BY', text: ({row, state}) => blockedByText(row, state)},
};

const cellOf = ({text: textOf}: QueueColumn): ComponentType<CellProperties<QueueRow>> =>
	function QueueCell({row}) {
		const {requester} = useSettings();
		const {entry} = row;
		const text = useMonitor((state) => (entry === undefined ? '' : textOf({row, entry, state})));
		return <Label tone={entry !== undefined && owns(requester, entry) ? 'mine' : 'plain'}>{text}</Label>;
	};

export const queueCells = Object.fromEntries(
	Object.entries(queueColumns).map(([name, column]) => [name, cellOf(column)]),
) as Readonly<Record<QueueColumnName, ComponentType<CellProperties<QueueRow>>>>;

/** Returns the width of the longest value of each measured column. A list with one element, because `keepingEqual` compares lists. */
export const queueNeeds = keepingEqual(
	remembering(
		(state: State) => [waitingOf(state), severalLabels(state)],
		(state): readonly QueueNeeds[] => {
			const entries = waitingOf(state).flatMap((row) =>
				row.entry === undefined ? [] : [{row, entry: row.entry, state}],
			);
			const longest = (name: QueueColumnName): number =>
				Math.max(0, ...entries.map((entry) => widthOf(queueColumns[name].text(entry))));
			return [Object.fromEntries(measuredColumns.map((name) => [name, longest(name)])) as QueueNeeds];
		},
	),
);
