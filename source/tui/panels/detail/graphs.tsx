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
import {endMsOf, spanText, useShownValues} from '../shared/past-values.js';

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

const spanMsOf = (range: PastRange): number => range * 60_000;

/** Returns the time at which the first column of a graph of the load history begins. */
const startMsOf = (state: State, range: PastRange, columns: number): number =>
	firstColumnMs(spanMsOf(range) / columns, {columns, nowMs: endMsOf(state, range)});

/** Returns the holders of the GPU in order of time, each with the number of graph columns that they fill. */
function holdersOf(state: State, row: StatusRow, range: PastRange, columns: number): readonly Holder[] {
	const {account} = state.settings.requester;
	const byColumn = holdersByColumn(usageOf(state), row.index, {
		start: startMsOf(state, range, columns) / 1000,
		columnSeconds: spanMsOf(range) / columns / 1000,
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
function clockTimes(state: State, range: PastRange, columns: number): readonly TimeMark[] {
	const nowMs = endMsOf(state, range);
	const {formatTime} = state.settings;
	const columnMs = spanMsOf(range) / columns;
	const startMs = startMsOf(state, range, columns);
	const step = (clockSteps.find((minutes) => minutes * 60_000 >= clockDistance * columnMs) ?? clockSteps.at(-1)!) * 60;
	const [hours = 0, minutes = 0, seconds = 0] = formatTime(nowMs / 1000)
		.split(':')
		.map(Number);
	const last = nowMs / 1000 - ((hours * 3600 + minutes * 60 + seconds) % step);
	return Array.from({length: Math.ceil(spanMsOf(range) / 1000 / step)}, (_, index) => last - index * step).map(
		(time) => ({
			column: Math.floor((time * 1000 - startMs) / columnMs),
			text: formatTime(time).slice(0, 5),
		}),
	);
}

const startTime = (state: State, range: PastRange): string =>
	state.settings.formatTime((endMsOf(state, range) - spanMsOf(range)) / 1000).slice(0, 5);

type GraphProperties = {
	readonly reading: 'utilization' | 'memory';
	readonly row: StatusRow;
	readonly range: PastRange;
	/** Width of the area of the graph, in terminal columns. */
	readonly columns: number;
	readonly rows: number;
	readonly hasHolders: boolean;
};

/** Shows one graph. It renders again when it moves by a column, when a value changes, or when its GPU has another holder. */
function LoadGraph({reading, row, range, columns, rows, hasHolders}: GraphProperties): ReactElement {
	const style = graphStyleOf(useDrawing());
	const values = useShownValues(row, reading, {range, count: valuesWithin(columns, style)});
	const from = useMonitor((state) => `-${spanText(state, range)}`);
	const isPast = range !== ownRange;
	useMonitor((state) => (isPast ? startMsOf(state, range, columns) : undefined));
	useMonitor((state) => (hasHolders ? usageOf(state) : undefined));
	const state = useStore().getState();
	const total = row.reading?.memoryTotalMiB;
	const isMemory = reading === 'memory';
	return (
		<Graph
			of={isMemory ? 'memory' : 'load'}
			top={isMemory ? (total === undefined ? 'mem' : `mem ${gibibytes(total)}`) : 'util 100%'}
			bottom={isMemory ? '0G' : '0%'}
			values={values}
			from={from}
			times={isPast ? clockTimes(state, range, columns) : undefined}
			fromTime={isPast ? startTime(state, range) : undefined}
			rows={rows}
			under={hasHolders ? <Holders holders={holdersOf(state, row, range, columns)} /> : undefined}
		/>
	);
}

type Properties = Room & {readonly row: StatusRow};

/** Shows the utilization and memory over the chosen time range. The graphs are side by side if there is room. */
export function DetailGraphs({row, rows, width}: Properties): ReactElement | undefined {
	const range = useMonitor(({panels}) => panels.range);
	const past = useMonitor((state) => state.past);
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

	const graph = {row, range, columns, hasHolders};
	// Two more lines belong to each graph: the holders and the time axis.
	const upper = isStacked ? Math.ceil((rows - 4) / 2) : height;
	return (
		<Box flexDirection={isStacked ? 'column' : 'row'} columnGap={gap}>
			<LoadGraph {...graph} reading="utilization" rows={upper} />
			{isStacked || beside === 2 ? (
				<LoadGraph {...graph} reading="memory" rows={isStacked ? rows - 4 - upper : height} />
			) : undefined}
		</Box>
	);
}
