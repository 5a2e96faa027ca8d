import {useMemo, type ReactElement} from 'react';
import {Box} from 'ink';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {stuckText} from '../../../format/queue/why.js';
import {grown, type Column, type GrowthRound} from '../../../format/text/columns.js';
import {sanitize} from '../../../format/text/text.js';
import {widthOf} from '../../../format/text/width.js';
import {hasQueueHead} from '../../layout.js';
import {waitingOf} from '../../state/queue/rows.js';
import type {State} from '../../state/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {DataTable, markerWidth, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/table-panel.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {blockersOf, queueCells, queueColumns, queueNeeds, type QueueColumnName, type QueueNeeds} from './columns.js';

/** Minimum width of the queue for the column `blockedBy`. */
const leastForBlockers = 70;

/** Widths of the column `note`. It appears only if an entry has a note and `blockedBy` keeps enough room. */
const noteWidths = {least: 8, most: 30};
const leastBesideNote = 30;

const queueGap = (width: number): number => (width < 46 ? 1 : 2);

/** Adds the column `note` before `blockedBy`, which gives up part of its width. */
function withNote(
	columns: ReadonlyArray<Column<QueueColumnName>>,
	longest: number,
	gap: number,
): ReadonlyArray<Column<QueueColumnName>> {
	const blockedBy = columns.at(-1)!;
	const wanted = Math.min(longest, noteWidths.most);
	const width = Math.min(wanted, blockedBy.width - leastBesideNote - gap);
	return wanted === 0 || width < Math.min(wanted, noteWidths.least)
		? columns
		: [...columns.slice(0, -1), {name: 'note', width}, {...blockedBy, width: blockedBy.width - width - gap}];
}

/** Returns the columns for a width. Numbers are never cut off. Names, requests and `blockedBy` get the space that remains. */
function fittingColumns(
	width: number,
	{position, user: longestUser, want: longestWant, got, note}: QueueNeeds,
): ReadonlyArray<Column<QueueColumnName>> {
	const isWide = width >= leastForBlockers;
	const least: ReadonlyArray<Column<QueueColumnName>> = [
		{name: 'position', width: Math.max(2, position), align: 'end'},
		{name: 'user', width: 4},
		{name: 'want', width: 4},
		{name: 'got', width: Math.max(4, got), align: 'end'},
		{name: 'waited', width: 6, align: 'end'},
		{name: 'estimate', width: 8},
		...(isWide ? [{name: 'blockedBy', width: 0} as const] : []),
	];
	const user = Math.min(Math.max(4, longestUser), 16);
	const want = Math.min(Math.max(4, longestWant), isWide ? 24 : 16);
	const fit = (rounds: ReadonlyArray<GrowthRound<QueueColumnName>>) =>
		grown(least, {width, gap: queueGap(width)}, rounds, isWide ? 'blockedBy' : undefined);
	if (isWide) {
		const columns = fit([
			{user: Math.min(user, 12), want: Math.min(want, 12)},
			{user, want},
		]);
		return withNote(columns, note, queueGap(width));
	}

	const halves: ReadonlyArray<GrowthRound<QueueColumnName>> = [{user: 16, want: 16}, {want: 16}];
	const columns = fit(halves);
	// If the name or the request is cut off, that column gets the space that the other column does not need.
	const isCut = columns.some(
		({name, width: room}) => (name === 'user' && room < user) || (name === 'want' && room < want),
	);
	return isCut ? fit([{user, want}, ...halves]) : columns;
}

function entryProblem({position}: QueueRow, {snapshot}: Pick<State, 'snapshot'>): string {
	const record = snapshot?.queue[position - 1];
	return record?.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
}

function DamagedEntry({row}: {readonly row: QueueRow}): ReactElement {
	const problem = useMonitor((state) => entryProblem(row, state));
	return (
		<Label tone="error">
			{String(row.position).padStart(2)} {problem}
		</Label>
	);
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
	const isStale = useMonitor(({connection}) => connection.kind === 'lost');
	const hasHead = useMonitor(hasQueueHead) && rows.length > 0;
	const [needs] = useMonitor(queueNeeds);
	const columns = useMemo(() => {
		const room = innerWidth - markerWidth;
		return fittingColumns(room, needs!).map((column): DataColumn<QueueRow> => ({
			...column,
			gap: queueGap(room),
			title: queueColumns[column.name].title,
			Cell: queueCells[column.name],
			emphasisOf: isStale ? () => 'old' : undefined,
		}));
	}, [innerWidth, needs, isStale]);
	const shown = Math.max(0, height - (hasHead ? 1 : 0));
	const {table, range} = useTable('queue', shown);
	const tableHeight = Math.min(height, rows.length + (hasHead ? 1 : 0));
	const blockerWidth = columns.find(({name}) => name === 'blockedBy')?.width ?? 0;
	const isChosen = ({position: at}: QueueRow): boolean => at - 1 === table.selected;
	const byWorth = [...rows.filter((row) => isChosen(row)), ...rows.filter((row) => !isChosen(row))];
	return (
		<PanelFrame name="queue" end={range} width={width} rows={height}>
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
