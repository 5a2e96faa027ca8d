/** One process: all that is known of it, and what it used for as long as this monitor has seen it. */
import {sideBySide} from '../widgets/panel-frames.js';
import {processSeriesOf} from '../../core/live/process-history.js';
import {ownerOf} from '../../core/rules/leases/ownership.js';
import {processRightText} from '../../format/process-right.js';
import {roughDuration, shortDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {wrap} from '../../format/text/width.js';
import {isAlarming} from '../panels/processes.js';
import {gibibytes, shortModel} from '../../format/readings.js';
import {allProcesses} from '../state/processes/rows.js';
import type {ProcessRow} from '../state/processes/state.js';
import type {ProcessView} from '../state/dialogs.js';
import {storeNow, type State} from '../state/state.js';
import {graphLines, graphMargin, graphStyleOf, valuesWithin} from '../widgets/graph.js';
import type {Glyphs} from '../widgets/drawing.js';
import {joined, span, type Line} from '../widgets/styled-text.js';
import {sides, type DialogView} from '../widgets/dialog-parts.js';

/** A command of several hundred characters is shown whole. */
const mostCommandLines = 6;
const mostAncestorLines = 2;
const widest = 140;
/** Lines of a graph, its times not counted. */
const mostGraphRows = 12;
const leastGraphRows = 3;
/** With fewer rows than these, the graphs need the room of the other lines. */
const leastRoomyRows = 24;
/** Two graphs stand side by side from this width on. */
const leastForTwo = 64;
const graphGap = 2;

const amount = (value: number | undefined, words: (value: number) => string): string =>
	value === undefined ? 'unknown' : words(value);

function factLine({process}: ProcessRow, state: State): Line {
	const {utilizationPercent, memoryUsedMiB, cpuPercent, hostMemoryMiB, startTime} = process;
	const now = storeNow(state);
	const seconds = startTime === undefined || now === undefined ? undefined : Math.max(0, now - startTime);
	const facts: ReadonlyArray<readonly [string, string]> = [
		['SM', amount(utilizationPercent, (percent) => `${Math.round(percent)}%`)],
		['memory', amount(memoryUsedMiB, gibibytes)],
		['CPU', amount(cpuPercent, (percent) => `${Math.round(percent)}%`)],
		['host', amount(hostMemoryMiB, gibibytes)],
		['for', amount(seconds, shortDuration)],
	];
	return joined(facts.map(([name, value]) => [span(`${name} `, 'dim'), span(value, 'strong')]));
}

function placeLine({process, row, right}: ProcessRow, state: State): Line {
	const holders = row.shares?.map(({lease}) => lease) ?? (row.lease === undefined ? [] : [row.lease]);
	const names = [...new Set(holders.map((lease) => sanitize(ownerOf(lease))))].join(', ');
	const isOwn = process.user === state.settings.requester.account;
	return joined([
		[span(sanitize(process.user ?? 'unknown user'), isOwn ? 'mine' : 'strong')],
		[span(processRightText[right].meaning, isAlarming(right) ? 'warning' : 'plain')],
		names === '' ? [] : [span('held by ', 'dim'), span(names)],
		process.containerId === undefined ? [] : [span('container ', 'dim'), span(sanitize(process.containerId))],
		process.parentPid === undefined ? [] : [span('parent ', 'dim'), span(String(process.parentPid))],
	]);
}

function wrapped(words: string, width: number, most: number, ellipsis: string): readonly Line[] {
	return wrap(sanitize(words), width, most, ellipsis).map((line): Line => [span(line)]);
}

/** Both graphs, side by side where there is room. */
function graphsOf(key: string, total: number | undefined, state: State, room: {rows: number; width: number}) {
	const count = room.width >= leastForTwo ? 2 : 1;
	const columns = Math.floor((room.width - graphGap * (count - 1)) / count) - graphMargin;
	const style = graphStyleOf(state.settings);
	const series = processSeriesOf(state.processHistory, key, valuesWithin(columns, style));
	// Read aloud, a graph is a row of signs.
	if (series === undefined || room.rows < leastGraphRows || state.settings.isLinear) {
		return [];
	}

	const from = `-${roughDuration(series.spanMs / 1000)}`;
	const memory = graphLines(
		{
			of: 'memory',
			top: total === undefined ? 'mem' : `mem ${gibibytes(total)}`,
			bottom: '0G',
			from,
			values: series.memory,
		},
		room.rows,
		style,
	);
	const load = graphLines(
		{of: 'load', top: 'SM 100%', bottom: '0%', from, values: series.utilization},
		room.rows,
		style,
	);
	return count === 1 ? memory : sideBySide([load, memory], span(' '.repeat(graphGap)));
}

export function processView({shown}: ProcessView, state: State, glyphs: Glyphs): DialogView {
	const current = allProcesses(state).find(({key}) => key === shown.key);
	const listed = current ?? shown;
	const {process, row, key} = listed;
	const width = Math.min(widest, state.size.columns - 2);
	const innerWidth = width - sides;
	const command = process.commandLine ?? process.name;
	const {ancestors = []} = process;
	const isSmall = state.size.rows < leastRoomyRows;
	const blank: readonly Line[] = isSmall ? [] : [[]];
	const above: readonly Line[] = [
		placeLine(listed, state),
		current === undefined ? [span('It has ended: this is what was seen last', 'warning')] : factLine(listed, state),
		...blank,
		...(command === undefined
			? [[span('its command is unknown', 'dim')]]
			: wrapped(command, innerWidth, isSmall ? 1 : mostCommandLines, glyphs.ellipsis)),
		...(ancestors.length === 0 || isSmall
			? []
			: wrapped(`started by ${ancestors.join(' < ')}`, innerWidth, mostAncestorLines, glyphs.ellipsis).map(
					(line): Line => line.map(({text}) => span(text, 'dim')),
				)),
		...blank,
	];
	// The message line and the footer stay in view; the edges, and the line of times.
	const spare = state.size.rows - 4 - 2 - above.length - 1;
	const graphs = graphsOf(key, row.reading?.memoryTotalMiB, state, {
		rows: Math.min(mostGraphRows, spare),
		width: innerWidth,
	});
	const model = row.reading?.name === undefined ? '' : `  ${shortModel(row.reading.name)}`;
	return {
		title: `Process ${process.pid} on GPU ${row.index}${model}`,
		width,
		lines: [...above, ...graphs],
	};
}
