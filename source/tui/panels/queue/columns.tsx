/** The columns of the queue. `fit.ts` has their order and their widths. */
import type {ComponentType} from 'react';
import type {QueueEntry} from '../../../core/model/types.js';
import {labelOf, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {shortDuration} from '../../../format/text/durations.js';
import {noteWords} from '../../../format/text/note.js';
import {widthOf} from '../../../format/text/width.js';
import {nameIn, severalLabels} from '../../state/labels.js';
import {keepingEqual, remembering} from '../../state/memo.js';
import {waitingOf} from '../../state/queue/rows.js';
import type {State} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {CellProperties} from '../../table/data-table.js';
import {Label} from '../../widgets/label.js';
import {blockedByText, estimateText, gotText, wantText} from './entry-text.js';
import {measuredColumns, type QueueColumnName, type QueueNeeds} from './fit.js';

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

/** Returns the width of the longest value of each measured column, as a list with one element. */
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
