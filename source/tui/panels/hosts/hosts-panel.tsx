/** The panel of all hosts. It has a row for each GPU, a line for each host with a problem, and subtotals for each host. */
import {useMemo, type ReactElement} from 'react';
import {Box} from 'ink';
import {roughDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {namedHost, type HostLine, type NoteLine} from '../../state/hosts/lines.js';
import {isFiltered} from '../../state/table/state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {DataTable, type CellProperties, type DataColumn} from '../../table/data-table.js';
import {useTable} from '../../table/use-table.js';
import type {Tone} from '../../themes/tones.js';
import {Label, type Emphasis} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {TableOrder} from '../shared/table-order.js';
import {fittingColumns, hostColumns, type HostColumnName} from './columns.js';

const noteTones: Readonly<Record<NoteLine['level'], Tone>> = {asking: 'dim', problem: 'error', remark: 'warning'};

function Note({note, hostWidth}: {readonly note: NoteLine; readonly hostWidth: number}): ReactElement {
	const nowMs = useMonitor((state) => state.nowMs);
	const {host, words, level, valuesAtMs, isOwn} = note;
	const tone = noteTones[level];
	return (
		<Box gap={1}>
			<Box width={hostWidth} flexShrink={0}>
				<Label tone={isOwn ? 'strong' : 'plain'}>{sanitize(host)}</Label>
			</Box>
			<Label tone={tone}>
				{level === 'problem' ? '! ' : ''}
				{words}
			</Label>
			{valuesAtMs === undefined ? undefined : (
				<Box flexShrink={0}>
					<Label tone={tone}>(values of {roughDuration((nowMs - valuesAtMs) / 1000)} ago)</Label>
				</Box>
			)}
		</Box>
	);
}

/** Returns the emphasis of a cell. Names that repeat the row above, and values of a host that does not answer, are faint. */
const emphasisOf =
	(name: HostColumnName) =>
	({row, above}: CellProperties<HostLine>): Emphasis =>
		row.kind === 'total'
			? 'selected'
			: name === 'host'
				? above !== undefined && namedHost(above) === namedHost(row)
					? 'old'
					: 'normal'
				: row.kind === 'gpu' && row.isLast
					? 'old'
					: 'normal';

function useColumns(width: number): ReadonlyArray<DataColumn<HostLine>> {
	return useMemo(
		() =>
			fittingColumns(width).map((column): DataColumn<HostLine> => {
				const {title, Cell, Total} = hostColumns[column.name];
				return {
					...column,
					title,
					Cell: ({row, width: cellWidth}) =>
						row.kind === 'gpu' ? (
							<Cell line={row} width={cellWidth} />
						) : row.kind === 'total' && Total !== undefined ? (
							<Total line={row} width={cellWidth} />
						) : undefined,
					emphasisOf: emphasisOf(column.name),
				};
			}),
		[width],
	);
}

/** Adds the order and the filter to the panel's title. */
function Order(): ReactElement {
	const sort = useMonitor(({hosts}) => hosts.sort);
	const filter = useMonitor(({hosts}) => hosts.filter);
	return <TableOrder sort={sort} filter={filter} tagged={0} titleOf={(name) => hostColumns[name].title.trim()} />;
}

export function HostsPanel({width, rows: height}: PanelProperties): ReactElement {
	const {otherHosts = []} = useSettings();
	const innerWidth = useInnerWidth(width);
	const columns = useColumns(innerWidth);
	const filter = useMonitor(({hosts}) => hosts.filter);
	const {table, range} = useTable('hosts', height - 1);
	const empty =
		table.rows.length === 0 && isFiltered(filter)
			? 'No GPU of any host matches; Esc clears the filter'
			: otherHosts.length === 0
				? 'Name other hosts in the setting remote_hosts to see them here'
				: undefined;
	return (
		<PanelFrame name="hosts" beside={<Order />} end={range} width={width} rows={height}>
			<DataTable
				{...table}
				columns={columns}
				height={Math.min(height, table.rows.length + 1)}
				width={innerWidth}
				lineOf={(row) => (row.kind === 'note' ? <Note note={row} hostWidth={columns[0]!.width} /> : undefined)}
				onTitle={undefined}
			/>
			{empty === undefined ? undefined : (
				<Box marginTop={1} marginLeft={2}>
					<Label tone="dim">{empty}</Label>
				</Box>
			)}
		</PanelFrame>
	);
}
