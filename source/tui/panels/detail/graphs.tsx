import type {ReactElement} from 'react';
import {Box} from 'ink';
import {firstColumnMs} from '../../../core/live/utilization-history.js';
import type {UsageRecord} from '../../../core/model/types.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import {holdersByColumn} from '../../../core/rules/pool/occupancy.js';
import {liveUsage} from '../../../core/rules/pool/report.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {gibibytes} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import {widthOf} from '../../../format/text/width.js';
import type {Room} from '../../layout.js';
import {remembering} from '../../state/memo.js';
import {ownRange, type PastRange} from '../../state/panels/state.js';
import type {State} from '../../state/state.js';
import {useMonitor, useStore} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {Graph, graphMargin, graphStyleOf, valuesWithin, type TimeMark} from '../../widgets/graph.js';
import {Label} from '../../widgets/label.js';
import {shownHistory, shownValues, spanText} from '../shared/past-values.js';

const gap = 2;

/** Minimum width of the panel for two graphs side by side. */
const leastForTwo = 64;

/** The size of a tall, narrow panel, in which the graphs of the load history are one above the other and have the whole width. */
const stacked = {leastRows: 10, mostWidth: 120} as const;

/** Returns the past reservations in the time range that was read, and the current reservations. */
const usageOf = remembering(
	({past, snapshot}: State) => [past, snapshot],
	({past, snapshot}): readonly UsageRecord[] => [
		...(past?.kind === 'read' ? past.past.usage : []),
		...(snapshot === undefined ? [] : liveUsage(snapshot)),
	],
);

type Holder = {readonly name: string; readonly isMine: boolean; readonly columns: number};

/** Returns the holders of the GPU in order of time, each with the number of graph columns that they fill. */
function holdersOf(state: State, row: StatusRow, range: PastRange, columns: number): readonly Holder[] {
	const {nowMs, spanMs} = shownHistory(state, row, range);
	const {account} = state.settings.requester;
	const columnMs = spanMs / columns;
	const byColumn = holdersByColumn(usageOf(state), row.index, {
		start: firstColumnMs(columnMs, {columns, nowMs}) / 1000,
		columnSeconds: columnMs / 1000,
		columns,
	});
	const holders: Array<{name: string; isMine: boolean; columns: number}> = [];
	for (const records of byColumn) {
		const name = records.map(({user}) => sanitize(user)).join('+');
		const last = holders.at(-1);
		if (last?.name === name) {
			last.columns++;
		} else {
			const isMine = records.some((record) => ownerOf({...record, type: record.reservationType}) === account);
			holders.push({name, isMine, columns: 1});
		}
	}

	return holders;
}

/** Shows who held the GPU: a name at the start of each reservation and a line to its end, such as `alice────bob──`. Omits names that do not fit. */
function Holders({holders}: {readonly holders: readonly Holder[]}): ReactElement {
	const {isAscii} = useDrawing();
	const line = isAscii ? '-' : '─';
	return (
		<Label>
			{holders.map(({name, isMine, columns}, index) => {
				const shown = widthOf(name) < columns ? name : '';
				const text = name === '' ? ' '.repeat(columns) : shown + line.repeat(columns - widthOf(shown));
				return (
					<Label key={index} tone={isMine ? 'mine' : 'others'}>
						{text}
					</Label>
				);
			})}
		</Label>
	);
}

/** Possible steps between the clock times below a graph, in minutes. */
const clockSteps = [15, 30, 60, 120, 180, 360, 720] as const;

/** Minimum distance between two clock times, in columns. */
const clockDistance = 9;

/** Returns the round times of day within the time range, such as 06:00 and 12:00. */
function clockTimes(state: State, row: StatusRow, range: PastRange, columns: number): readonly TimeMark[] {
	const {nowMs, spanMs} = shownHistory(state, row, range);
	const {formatTime} = state.settings;
	const columnMs = spanMs / columns;
	const startMs = firstColumnMs(columnMs, {columns, nowMs});
	const step = (clockSteps.find((minutes) => minutes * 60_000 >= clockDistance * columnMs) ?? clockSteps.at(-1)!) * 60;
	const [hours = 0, minutes = 0, seconds = 0] = formatTime(nowMs / 1000)
		.split(':')
		.map(Number);
	const last = nowMs / 1000 - ((hours * 3600 + minutes * 60 + seconds) % step);
	return Array.from({length: Math.ceil(spanMs / 1000 / step)}, (_, index) => last - index * step).map((time) => ({
		column: Math.floor((time * 1000 - startMs) / columnMs),
		text: formatTime(time).slice(0, 5),
	}));
}

function startTime(state: State, row: StatusRow, range: PastRange): string {
	const {nowMs, spanMs} = shownHistory(state, row, range);
	return state.settings.formatTime((nowMs - spanMs) / 1000).slice(0, 5);
}

type Properties = Room & {readonly row: StatusRow};

/** Shows the utilization and memory over the chosen time range. The graphs are side by side if there is room. */
export function DetailGraphs({row, rows, width}: Properties): ReactElement | undefined {
	const range = useMonitor(({panels}) => panels.range);
	const past = useMonitor((state) => state.past);
	// Using the time makes the graphs redraw every second.
	useMonitor((state) => state.nowMs);
	const {getState} = useStore();
	const style = graphStyleOf(useDrawing());
	const state = getState();
	const isPast = range !== ownRange;
	const hasHolders = isPast && rows >= 4;
	const isStacked = isPast && rows >= stacked.leastRows && width < stacked.mostWidth;
	const beside = !isStacked && width >= leastForTwo ? 2 : 1;
	const columns = Math.floor((width - gap * beside) / beside) - graphMargin;
	const height = rows - 1 - (hasHolders ? 1 : 0);
	if (height < 1 || columns < 1) {
		return undefined;
	}

	if (isPast && past?.kind !== 'read') {
		return <Label tone={past === undefined ? 'dim' : 'warning'}> {past?.reason ?? 'loading older values'}</Label>;
	}

	const graph = (reading: 'utilization' | 'memory', graphRows: number): ReactElement => {
		const total = row.reading?.memoryTotalMiB;
		const isMemory = reading === 'memory';
		return (
			<Graph
				of={isMemory ? 'memory' : 'load'}
				top={isMemory ? (total === undefined ? 'mem' : `mem ${gibibytes(total)}`) : 'util 100%'}
				bottom={isMemory ? '0G' : '0%'}
				values={shownValues(state, row, reading, {range, count: valuesWithin(columns, style)})}
				from={`-${spanText(state, range)}`}
				times={isPast ? clockTimes(state, row, range, columns) : undefined}
				fromTime={isPast ? startTime(state, row, range) : undefined}
				rows={graphRows}
				under={hasHolders ? <Holders holders={holdersOf(state, row, range, columns)} /> : undefined}
			/>
		);
	};

	// Two more lines belong to each graph: the holders and the time axis.
	const upper = isStacked ? Math.ceil((rows - 4) / 2) : height;
	return (
		<Box flexDirection={isStacked ? 'column' : 'row'} columnGap={gap}>
			{graph('utilization', upper)}
			{isStacked || beside === 2 ? graph('memory', isStacked ? rows - 4 - upper : height) : undefined}
		</Box>
	);
}
