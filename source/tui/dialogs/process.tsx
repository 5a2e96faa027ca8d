/** Details of one process, with graphs of its GPU use since the monitor first saw the process. */
import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import {processSeriesOf} from '../../core/live/process-history.js';
import {ownerOf} from '../../core/rules/leases/ownership.js';
import {processRightText} from '../../format/process-right.js';
import {gibibytes, shortModel} from '../../format/readings.js';
import {roughDuration, shortDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {wrap} from '../../format/text/width.js';
import type {Room} from '../layout.js';
import {isAlarming} from '../panels/processes/processes-panel.js';
import type {ProcessView} from '../state/dialogs.js';
import {allProcesses} from '../state/processes/rows.js';
import type {ProcessRow} from '../state/processes/state.js';
import {storeNow} from '../state/state.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {Graph, graphMargin, graphStyleOf, valuesWithin} from '../widgets/graph.js';
import {Label} from '../widgets/label.js';
import {Pieces} from '../widgets/pieces.js';
import {DialogBox, useDialogWidth} from './dialog-box.js';

const widest = 140;
/** Maximum number of lines for the command, enough to show several hundred characters completely. */
const mostCommandLines = 6;
const mostAncestorLines = 2;
/** Maximum height of a graph, without its time axis. */
const mostGraphRows = 12;
const leastGraphRows = 3;
/** Screens with fewer rows show fewer details, to make room for the graphs. */
const leastRoomyRows = 24;
/** Minimum width of the dialog for two graphs side by side. */
const leastForTwo = 64;
const graphGap = 2;

const known = (value: number | undefined, textOf: (value: number) => string): string =>
	value === undefined ? 'unknown' : textOf(value);

function Usage({row: {process}}: {readonly row: ProcessRow}): ReactElement {
	const now = useMonitor(storeNow);
	const {utilizationPercent, memoryUsedMiB, cpuPercent, hostMemoryMiB, startTime} = process;
	const seconds = startTime === undefined || now === undefined ? undefined : Math.max(0, now - startTime);
	const percent = (value: number): string => `${Math.round(value)}%`;
	const facts = {
		SM: known(utilizationPercent, percent),
		memory: known(memoryUsedMiB, gibibytes),
		CPU: known(cpuPercent, percent),
		host: known(hostMemoryMiB, gibibytes),
		for: known(seconds, shortDuration),
	};
	return (
		<Pieces>
			{Object.entries(facts).map(([name, text]) => (
				<Label key={name}>
					<Label tone="dim">{name} </Label>
					<Label tone="strong">{text}</Label>
				</Label>
			))}
		</Pieces>
	);
}

/** Shows who owns a process, whether the owner may use the GPU, and who holds the GPU. */
function Ownership({row: {process, row, right}}: {readonly row: ProcessRow}): ReactElement {
	const {account} = useSettings().requester;
	const leases = row.shares?.map(({lease}) => lease) ?? (row.lease === undefined ? [] : [row.lease]);
	const holders = [...new Set(leases.map((lease) => sanitize(ownerOf(lease))))].join(', ');
	const named = (name: string, value: string | undefined): ReactNode =>
		value === undefined || value === '' ? undefined : (
			<Label>
				<Label tone="dim">{name} </Label>
				{value}
			</Label>
		);
	return (
		<Pieces>
			<Label tone={process.user === account ? 'mine' : 'strong'}>{sanitize(process.user ?? 'unknown user')}</Label>
			<Label tone={isAlarming(right) ? 'warning' : 'plain'}>{processRightText[right].meaning}</Label>
			{named('held by', holders)}
			{named('container', process.containerId === undefined ? undefined : sanitize(process.containerId))}
			{named('parent', process.parentPid?.toString())}
		</Pieces>
	);
}

type GraphsProperties = Room & {readonly processKey: string; readonly totalMiB: number | undefined};

function Graphs({processKey, totalMiB, rows, width}: GraphsProperties): ReactElement | undefined {
	const history = useMonitor(({processHistory}) => processHistory);
	const drawing = useDrawing();
	const style = graphStyleOf(drawing);
	const count = width >= leastForTwo ? 2 : 1;
	const columns = Math.floor((width - graphGap * (count - 1)) / count) - graphMargin;
	const series = processSeriesOf(history, processKey, valuesWithin(Math.max(1, columns), style));
	if (series === undefined || rows < leastGraphRows || drawing.frame === 'plain') {
		return undefined;
	}

	const from = `-${roughDuration(series.spanMs / 1000)}`;
	return (
		<Box gap={graphGap}>
			{count === 1 ? undefined : (
				<Graph of="load" top="SM 100%" bottom="0%" from={from} values={series.utilization} rows={rows} />
			)}
			<Graph
				of="memory"
				top={totalMiB === undefined ? 'mem' : `mem ${gibibytes(totalMiB)}`}
				bottom="0G"
				from={from}
				values={series.memory}
				rows={rows}
			/>
		</Box>
	);
}

export function ProcessDialog({shown}: ProcessView): ReactElement {
	const current = useMonitor((state) => allProcesses(state).find(({key}) => key === shown.key));
	const {rows: screenRows} = useMonitor(({size}) => size);
	const width = useDialogWidth(widest);
	const listed = current ?? shown;
	const {process, row, key} = listed;
	const innerWidth = width - 4;
	const isRoomy = screenRows >= leastRoomyRows;
	const command = wrap(
		sanitize(process.commandLine ?? process.name ?? 'its command is unknown'),
		innerWidth,
		isRoomy ? mostCommandLines : 1,
	);
	const {ancestors = []} = process;
	const ancestry =
		isRoomy && ancestors.length > 0
			? wrap(sanitize(`started by ${ancestors.join(' < ')}`), innerWidth, mostAncestorLines)
			: [];
	const textRows = 2 + command.length + ancestry.length + (isRoomy ? 2 : 0);
	// Subtracts the rows that graphs cannot use: borders, time axis, message and key hints.
	const spare = screenRows - 4 - 2 - textRows - 1;
	const model = row.reading?.name === undefined ? '' : `  ${shortModel(row.reading.name)}`;
	return (
		<DialogBox title={`Process ${process.pid} on GPU ${row.index}${model}`} width={width}>
			<Ownership row={listed} />
			{current === undefined ? (
				<Label tone="warning">This process has ended. These are its last values</Label>
			) : (
				<Usage row={listed} />
			)}
			{isRoomy ? <Label> </Label> : undefined}
			{command.map((line, index) => (
				<Label key={index}>{line}</Label>
			))}
			{ancestry.map((line, index) => (
				<Label key={index} tone="dim">
					{line}
				</Label>
			))}
			{isRoomy ? <Label> </Label> : undefined}
			<Graphs
				processKey={key}
				totalMiB={row.reading?.memoryTotalMiB}
				rows={Math.min(mostGraphRows, spare)}
				width={innerWidth}
			/>
		</DialogBox>
	);
}
