import {useMemo, type ComponentType, type ReactElement} from 'react';
import {Box} from 'ink';
import {labelOf, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import type {QueueEntry} from '../../../core/model/types.js';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {stuckText} from '../../../format/queue/why.js';
import {shortDuration} from '../../../format/text/durations.js';
import {widthOf} from '../../../format/text/width.js';
import {hasQueueHead} from '../../layout.js';
import {nameIn, severalLabels} from '../../state/labels.js';
import {waitingOf} from '../../state/queue/rows.js';
import type {State} from '../../state/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {DataTable, markerWidth, type CellProperties, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/use-table.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {queueColumns, queueGap, type QueueColumnName, type QueueNeeds} from './columns.js';
import {blockedByText, blockersOf, entryProblem, estimateText, gotText, wantText} from './entry-text.js';

const titles: Readonly<Record<QueueColumnName, string>> = {
	position: '#',
	user: 'USER',
	want: 'WANT',
	got: 'GOT',
	waited: 'WAITED',
	estimate: 'ESTIMATE',
	blockedBy: 'BLOCKED BY',
};

const entryName = (entry: QueueEntry, accounts: ReadonlySet<string>): string =>
	nameIn(accounts, {account: ownerOf(entry), label: labelOf(entry)});

type EntryProperties = {readonly row: QueueRow; readonly entry: QueueEntry; readonly state: State};

const texts: Readonly<Record<Exclude<QueueColumnName, 'position'>, (properties: EntryProperties) => string>> = {
	user: ({entry, state}) => entryName(entry, severalLabels(state)),
	want: ({entry}) => wantText(entry),
	got: ({row, entry}) => gotText(row, entry),
	waited: ({row}) => shortDuration(row.waitedSeconds),
	estimate: ({row}) => estimateText(row),
	blockedBy: ({row, state}) => blockedByText(row, state),
};

const cellOf = (name: Exclude<QueueColumnName, 'position'>): ComponentType<CellProperties<QueueRow>> =>
	function QueueCell({row}) {
		const {requester} = useSettings();
		const {entry} = row;
		const text = useMonitor((state) => (entry === undefined ? '' : texts[name]({row, entry, state})));
		return <Label tone={entry !== undefined && owns(requester, entry) ? 'mine' : 'plain'}>{text}</Label>;
	};

const cells: Readonly<Record<QueueColumnName, ComponentType<CellProperties<QueueRow>>>> = {
	position: ({row}) => <Label>{row.position}</Label>,
	user: cellOf('user'),
	want: cellOf('want'),
	got: cellOf('got'),
	waited: cellOf('waited'),
	estimate: cellOf('estimate'),
	blockedBy: cellOf('blockedBy'),
};

/** Shows a position of the queue whose entry cannot be read, and why. */
function DamagedEntry({row}: {readonly row: QueueRow}): ReactElement {
	const problem = useMonitor((state) => entryProblem(row, state));
	return (
		<Label tone="error">
			{String(row.position).padStart(2)} {problem}
		</Label>
	);
}

function needsOf(rows: readonly QueueRow[], accounts: ReadonlySet<string>): QueueNeeds {
	const entries = rows.flatMap((row) => (row.entry === undefined ? [] : [{row, entry: row.entry}]));
	return {
		position: String(rows.length).length,
		user: Math.max(0, ...entries.map(({entry}) => widthOf(entryName(entry, accounts)))),
		want: Math.max(0, ...entries.map(({entry}) => widthOf(wantText(entry)))),
		got: Math.max(0, ...entries.map(({row, entry}) => gotText(row, entry).length)),
	};
}

/** Shows in full why an entry waits, if there is room below the rows. */
function Reason({row, columnWidth}: {readonly row: QueueRow; readonly columnWidth: number}): ReactElement {
	const stuck = stuckText(row);
	const blocked = useMonitor((state) => blockersOf(row, state));
	// An engine such as Slurm gives the reason as a complete sentence.
	const isSentence = row.blockers[0]?.kind === 'engine';
	return (
		<Box flexDirection="column" marginLeft={markerWidth} flexShrink={0}>
			{stuck === undefined ? undefined : (
				<Label tone="warning" wrap="wrap">
					#{row.position} {stuck}
				</Label>
			)}
			{blocked === '' || widthOf(blocked) <= columnWidth ? undefined : (
				<Label tone="dim" wrap="wrap">
					#{row.position} {isSentence ? 'waits:' : 'waits for'} {blocked}
				</Label>
			)}
		</Box>
	);
}

export function QueuePanel({width, rows: height}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width);
	const rows = useMonitor(waitingOf);
	const accounts = useMonitor(severalLabels);
	const isStale = useMonitor(({connection}) => connection.kind === 'lost');
	const hasHead = useMonitor(hasQueueHead) && rows.length > 0;
	const {position, user, want, got} = needsOf(rows, accounts);
	const columns = useMemo(() => {
		const gap = queueGap(innerWidth - markerWidth);
		return queueColumns(innerWidth - markerWidth, {position, user, want, got}).map((column): DataColumn<QueueRow> => ({
			...column,
			gap,
			title: titles[column.name],
			Cell: cells[column.name],
			emphasisOf: isStale ? () => 'old' : undefined,
		}));
	}, [innerWidth, position, user, want, got, isStale]);
	const shown = Math.max(0, height - (hasHead ? 1 : 0));
	const {table, range} = useTable('queue', shown);
	const tableHeight = Math.min(height, rows.length + (hasHead ? 1 : 0));
	const blockerWidth = columns.find(({name}) => name === 'blockedBy')?.width ?? 0;
	const isChosen = ({position: at}: QueueRow): boolean => at - 1 === table.selected;
	const byWorth = [...rows.filter((row) => isChosen(row)), ...rows.filter((row) => !isChosen(row))];
	return (
		<PanelFrame name="queue" title="Queue" end={range} width={width} rows={height}>
			{rows.length === 0 ? (
				<Box marginLeft={markerWidth}>
					<Label tone="dim">the queue is empty</Label>
				</Box>
			) : (
				<>
					<DataTable
						firstRow={table.firstRow}
						selected={table.selected}
						onRow={table.onRow}
						columns={columns}
						rows={rows}
						height={tableHeight}
						width={innerWidth}
						hasHead={hasHead}
						lineOf={(row) => (row.entry === undefined ? <DamagedEntry row={row} /> : undefined)}
					/>
					{byWorth.slice(0, height - tableHeight).map((row) => (
						<Reason key={row.position} row={row} columnWidth={blockerWidth} />
					))}
				</>
			)}
		</PanelFrame>
	);
}
