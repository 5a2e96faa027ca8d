/**
What the graphs of a GPU are drawn from: what this monitor has seen, or the load history of all where they go further back. And those of the
selected GPU, with who held it under the curve.
*/
import {sideBySide} from '../../widgets/panel-frames.js';
import {firstColumnMs, pastHistory, seriesOf, type UtilizationHistory} from '../../../core/live/utilization-history.js';
import {loadName} from '../../../core/rules/pool/load-minutes.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import {holdersByColumn} from '../../../core/rules/pool/occupancy.js';
import {liveUsage} from '../../../core/rules/pool/report.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {UsageRecord} from '../../../core/model/types.js';
import {sanitize} from '../../../format/text/text.js';
import {truncate, widthOf} from '../../../format/text/width.js';
import type {Room} from '../../regions.js';
import {remembering} from '../../state/memo.js';
import {ownRange, rangeWord, type PastRange} from '../../state/panels/state.js';
import {storeNow, type State} from '../../state/state.js';
import {selectedRow} from '../../state/table/rows.js';
import {tagOf} from '../../state/table/state.js';
import {graphLines, graphMargin, graphStyleOf, valuesWithin} from '../../widgets/graph.js';
import {span, type Line, type Span} from '../../widgets/styled-text.js';
import {gibibytes} from '../../../format/readings.js';

/** Values up to now, in milliseconds on the clock of those values. */
type ShownHistory = {readonly history: UtilizationHistory; readonly nowMs: number; readonly spanMs: number};

/** What was read of the past, by range and GPU: made once for each minute or scan that comes. */
const keptOf = remembering(
	({past, history, snapshot, snapshotAtMs}: State) => [past, history, snapshot, snapshotAtMs],
	() => new Map<string, UtilizationHistory>(),
);

function keptFor(state: State, {index, reading}: StatusRow, range: PastRange): UtilizationHistory {
	const {past, history, snapshot, snapshotAtMs} = state;
	const key = tagOf(index, reading);
	const known = keptOf(state);
	const kept =
		known.get(`${range} ${key}`) ??
		pastHistory(past?.kind === 'read' ? past.past.minutes : [], history, {
			name: loadName({index, uuid: reading?.uuid}),
			key,
			windowMs: range * 60_000,
			ownOffsetMs: (snapshot?.now ?? 0) * 1000 - snapshotAtMs,
		});
	known.set(`${range} ${key}`, kept);
	return kept;
}

function shownHistory(state: State, row: StatusRow, range: PastRange): ShownHistory {
	const {history, nowMs} = state;
	const now = storeNow(state);
	if (range === ownRange || now === undefined) {
		return {history, nowMs, spanMs: history.windowMs};
	}

	const kept = keptFor(state, row, range);
	return {history: kept, nowMs: now * 1000, spanMs: kept.windowMs};
}

type Reading = 'utilization' | 'memory';

/** What a graph of so many columns shows of a GPU. */
export function shownValues(
	state: State,
	row: StatusRow,
	reading: Reading,
	{range, columns}: {readonly range: PastRange; readonly columns: number},
) {
	const shown = shownHistory(state, row, range);
	const count = valuesWithin(columns, graphStyleOf(state.settings));
	return seriesOf(shown.history, tagOf(row.index, row.reading), reading, {...shown, columns: count});
}

const gap = 2;

/** From this width on, two graphs stand side by side. */
const leastForTwo = 64;

/** All who have held GPUs in this time, up to now. */
const usageOf = remembering(
	({past, snapshot}: State) => [past, snapshot],
	({past, snapshot}): readonly UsageRecord[] => [
		...(past?.kind === 'read' ? past.past.usage : []),
		...(snapshot === undefined ? [] : liveUsage(snapshot)),
	],
);

/** Names stand where their time begins, with a line to its end: `alice────bob──`. */
function holderLine(state: State, row: StatusRow, {nowMs, spanMs}: ShownHistory, columns: number): Line {
	const {requester, isAscii} = state.settings;
	const columnMs = spanMs / columns;
	const holders = holdersByColumn(usageOf(state), row.index, {
		start: firstColumnMs(columnMs, {columns, nowMs}) / 1000,
		columnSeconds: columnMs / 1000,
		columns,
	});
	const pieces: Array<{readonly name: string; readonly tone: Span['tone']; columns: number}> = [];
	for (const records of holders) {
		const name = records.map(({user}) => sanitize(user)).join('+');
		const last = pieces.at(-1);
		if (last?.name === name) {
			last.columns++;
		} else {
			const isMine = records.some((record) => ownerOf({...record, type: record.reservationType}) === requester.account);
			pieces.push({name, tone: isMine ? 'mine' : 'others', columns: 1});
		}
	}

	const line = isAscii ? '-' : '─';
	return pieces.map(({name, tone, columns: width}) => {
		const shown = truncate(name, Math.max(1, width - 1), '');
		return name === '' ? span(' '.repeat(width)) : span(`${shown}${line.repeat(width - widthOf(shown))}`, tone);
	});
}

/** Higher, and narrower, two graphs of the past stand one above the other: each has the whole width for its hours. */
const stacked = {leastRows: 10, mostWidth: 120} as const;

/** What is drawn: each graph as many columns wide, and which of them stand where. */
function arrangementOf(isPast: boolean, {rows, width}: Room) {
	const isStacked = isPast && rows >= stacked.leastRows && width < stacked.mostWidth;
	const beside = !isStacked && width >= leastForTwo ? 2 : 1;
	return {isStacked, beside, columns: Math.floor((width - gap * beside) / beside) - graphMargin};
}

/** The past as far as it is chosen: utilization and memory, together where there is room. */
export function detailGraphs(state: State, room: Room): readonly Line[] {
	const row = selectedRow(state);
	const {past, panels, settings} = state;
	const isPast = panels.range !== ownRange;
	const hasHolders = isPast && room.rows >= 4;
	const {isStacked, beside, columns} = arrangementOf(isPast, room);
	const height = room.rows - 1 - (hasHolders ? 1 : 0);
	if (height < 1 || row === undefined) {
		return [];
	}

	if (isPast && past?.kind !== 'read') {
		return [[span(` ${past?.reason ?? 'reading the past'}`, past === undefined ? 'dim' : 'warning')]];
	}

	const drawn = shownHistory(state, row, panels.range);
	const style = graphStyleOf(settings);
	const total = row.reading?.memoryTotalMiB;
	const under = hasHolders ? holderLine(state, row, drawn, columns) : undefined;
	const linesOf = (reading: Reading, rows: number): readonly Line[] =>
		graphLines(
			{
				...(reading === 'utilization'
					? {of: 'load', top: 'util 100%', bottom: '0%'}
					: {of: 'memory', top: total === undefined ? 'mem' : `mem ${gibibytes(total)}`, bottom: '0G'}),
				values: shownValues(state, row, reading, {range: panels.range, columns}),
				from: `-${rangeWord(panels.range)}`,
				under,
			},
			rows,
			style,
		);
	if (isStacked) {
		const upper = Math.ceil(height / 2);
		return [...linesOf('utilization', upper).slice(0, upper), ...linesOf('memory', height - upper)];
	}

	const utilization = linesOf('utilization', height);
	return beside === 1 ? utilization : sideBySide([utilization, linesOf('memory', height)], span(' '.repeat(gap)));
}
