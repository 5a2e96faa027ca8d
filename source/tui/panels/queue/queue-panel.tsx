import {useMemo, type ReactElement} from 'react';
import {Box} from 'ink';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {stuckText} from '../../../format/queue/why.js';
import {widthOf} from '../../../format/text/width.js';
import {hasQueueHead} from '../../layout.js';
import {waitingOf} from '../../state/queue/rows.js';
import {useMonitor} from '../../state/use-monitor.js';
import {DataTable, markerWidth, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/use-table.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {queueCells, queueColumns, queueNeeds} from './columns.js';
import {blockersOf, entryProblem} from './entry-text.js';
import {fittingColumns, queueGap} from './fit.js';

/** Shows a position of the queue whose entry cannot be read, and why. */
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
