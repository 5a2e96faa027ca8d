/** The panel of the queue: who waits. */
import {owns} from '../../core/rules/leases/ownership.js';
import type {InstanceNeed} from '../../core/model/mig.js';
import type {QueueEntry} from '../../core/model/types.js';
import {instanceText} from '../../core/rules/mig/instances.js';
import {wantedOf} from '../../core/rules/queue/eligible.js';
import {shortDuration} from '../../format/text/durations.js';
import {partsOutText} from '../../format/queue/waiting-progress.js';
import {blockersText, endsWithJobs, outageText, stuckText} from '../../format/queue/why.js';
import {holderText} from '../../format/owner.js';
import {counted} from '../../format/text/numbers.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {sanitize} from '../../format/text/text.js';
import {memoryText, sizeText} from '../../core/rules/request/memory-size.js';
import {grown, rowText, type Column, type GrowthRound} from '../../format/text/columns.js';
import {fit, widthOf, wrap} from '../../format/text/width.js';
import {remembering} from '../state/memo.js';
import {selectedPosition, waitingOf} from '../state/panels/queue.js';
import type {Pointed} from '../state/mouse.js';
import type {State} from '../state/state.js';
import {hasQueueHead} from '../layout.js';
import type {Room} from '../regions.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {rangeText, type PanelBody} from '../widgets/panel-frames.js';
import {lineText, span, type Line, type Tone} from '../widgets/styled-text.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';
import {clockText} from './shared/labels.js';

/** BLOCKED BY, because of whom it waits, stands below where there is no room for a column. */
type ColumnName = 'position' | 'user' | 'want' | 'got' | 'waited' | 'estimate' | 'blockedBy';

type Cells = Readonly<Record<ColumnName, string>>;

/** With this much room, who blocks is a column. */
const leastForBlockers = 70;

/** The width of the longest cells: a number that counts is never cut, and names take no more than they need from who blocks. */
const longestOf = remembering(
	(state: State) => [waitingOf(state)],
	(state) => {
		const rows = waitingOf(state);
		const entries = rows.flatMap((row) => (row.entry === undefined ? [] : [{row, entry: row.entry}]));
		return {
			position: Math.max(2, String(rows.length).length),
			user: Math.max(4, ...entries.map(({entry}) => widthOf(holderText(entry)))),
			want: Math.max(4, ...entries.map(({entry}) => widthOf(wantOf(entry)))),
			got: Math.max(4, ...entries.map(({row, entry}) => gotOf(row, entry).length)),
		};
	},
);

/** The columns, without the mark: what is left over goes to the names, the wishes, and who blocks. */
function columnsFor(state: State, width: number) {
	const gap = width < 46 ? 1 : 2;
	const isWide = width >= leastForBlockers;
	const longest = longestOf(state);
	const least: ReadonlyArray<Column<ColumnName>> = [
		{name: 'position', width: longest.position, align: 'end'},
		{name: 'user', width: 4},
		{name: 'want', width: 4},
		{name: 'got', width: longest.got, align: 'end'},
		{name: 'waited', width: 6, align: 'end'},
		{name: 'estimate', width: 8},
		...(isWide ? [{name: 'blockedBy', width: 0} as const] : []),
	];
	const [user, want] = [Math.min(longest.user, 16), Math.min(longest.want, isWide ? 24 : 16)];
	const grownBy = (rounds: ReadonlyArray<GrowthRound<ColumnName>>) =>
		grown(least, {width, gap}, rounds, isWide ? 'blockedBy' : undefined);
	if (isWide) {
		// Who blocks has a column where all of the longest name and wish has one. An odd column goes to the wishes.
		return {
			columns: grownBy([
				{user: Math.min(user, 12), want: Math.min(want, 12)},
				{user, want},
			]),
			gap,
		};
	}

	const halves: ReadonlyArray<GrowthRound<ColumnName>> = [{user: 16, want: 16}, {want: 16}];
	const columns = grownBy(halves);
	// Where one is cut, it takes what the other does not need.
	const isCut = columns.some(
		({name, width: room}) => (name === 'user' && room < user) || (name === 'want' && room < want),
	);
	return {columns: isCut ? grownBy([{user, want}, ...halves]) : columns, gap};
}

function rowOf(cells: Cells, state: State, width: number): string {
	const {columns, gap} = columnsFor(state, width);
	return rowText(columns, cells, {gap, ellipsis: ellipsisOf(state)});
}

const titles: Cells = {
	position: '#',
	user: 'USER',
	want: 'WANT',
	got: 'GOT',
	waited: 'WAITED',
	estimate: 'ESTIMATE',
	blockedBy: 'BLOCKED BY',
};

const markWidth = 2;

const queueHead = (state: State, width: number): Line => [
	span(' '.repeat(markWidth)),
	span(rowOf(titles, state, width - markWidth), 'heading'),
];

/** `1/2`: how many of those wanted are held already. */
const gotOf = ({held}: QueueRow, entry: QueueEntry): string => `${held.length}/${wantedOf(entry).count}`;

/** `bob on GPU 3 until 14:44`. Empty when it waits for no one. */
const blockedByOf = ({blockers}: QueueRow, state: State): string =>
	blockersText(blockers, (seconds) => clockText(seconds, state));

/** `GPU 3: used by zoe without a reservation`, where no one has the GPU and it is not to be had all the same. */
const outOfServiceText = ({outages}: QueueRow): string =>
	outages.length === 0 ? '' : `${partsOutText(outages, gpuList)}: ${outageText(outages[0]!)}`;

/** `2 MIG 1g.10gb`, `MIG 0:1,2:0`. */
const instancesText = (mig: InstanceNeed, count: number): string =>
	'instances' in mig
		? `MIG ${mig.instances.map((instance) => instanceText(instance)).join(',')}`
		: `${count} MIG ${sanitize(mig.profile)}`;

/** `GPUs 0-3,5` for these very ones, `2 GPUs` for any, `2 GPUs 40G+ h100` for those that have what is needed, `1 GPU 8G share`. */
const wantOf = ({requestedIds, requestedCount, need = {}}: QueueEntry): string =>
	[
		need.mig === undefined
			? requestedIds.length > 0
				? gpuList(requestedIds)
				: counted(requestedCount, 'GPU')
			: instancesText(need.mig, requestedCount),
		...(need.shareMiB === undefined ? [] : [`${sizeText(need.shareMiB)} share`]),
		...(need.models === undefined ? [] : [sanitize(need.models.join('|'))]),
		...(need.minMemoryMiB === undefined ? [] : [`${memoryText(need.minMemoryMiB)}+`]),
		...(need.minCompute === undefined ? [] : [`cc${sanitize(need.minCompute)}+`]),
		...(need.nvlink === true ? ['NVLink'] : []),
	].join(' ');

/** When it is served: a time, or when a job ends. */
function estimateOf({estimateSeconds, isPossible, isUnknown, outages, blockers}: QueueRow): string {
	if (!isPossible) {
		return 'never';
	}

	if (isUnknown) {
		return 'unknown';
	}

	const [outage] = outages;
	if (outage !== undefined) {
		return {
			drained: 'drained',
			unreadable: 'broken',
			broken: 'broken',
			used: 'in use',
			unknown: 'unknown',
			mode: 'unknown',
		}[outage.kind];
	}

	if (estimateSeconds === undefined) {
		return blockers.length === 0 || endsWithJobs(blockers) ? 'on-exit' : 'unknown';
	}

	return estimateSeconds < 1 ? 'now' : `~${shortDuration(estimateSeconds)}`;
}

/** Why no one can be served at a position. */
function problemOf({position}: QueueRow, {snapshot}: State): string {
	const record = snapshot?.queue[position - 1];
	return record?.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
}

function queueRow(row: QueueRow, state: State, width: number): Line {
	const {entry, position} = row;
	if (entry === undefined) {
		return [span(`${fit(String(position), longestOf(state).position, 'end')}  ${problemOf(row, state)}`, 'error')];
	}

	const blocked = blockedByOf(row, state);
	const text = rowOf(
		{
			position: String(position),
			user: holderText(entry),
			want: wantOf(entry),
			got: gotOf(row, entry),
			waited: shortDuration(row.waitedSeconds),
			estimate: estimateOf(row),
			blockedBy: blocked === '' ? outOfServiceText(row) : blocked,
		},
		state,
		width,
	);
	const tone = state.connection.kind === 'lost' ? 'dim' : owns(state.settings.requester, entry) ? 'mine' : 'plain';
	return [span(text, tone)];
}

type QueueView = {
	readonly lines: readonly Line[];
	/** Index of the first entry that is shown. */
	readonly first: number;
	readonly total: number;
};

/** At most `rows` entries, those around the selected one. */
export function queueView(state: State, rows: number, width: number): QueueView {
	const waiting = waitingOf(state);
	if (waiting.length === 0) {
		return {lines: rows > 0 ? [[span('  the queue is empty', 'dim')]] : [], first: 0, total: 0};
	}

	const selected = selectedPosition(state) ?? 0;
	const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), waiting.length - rows));
	const isFocused = state.panels.focus === 'queue';
	const lines = waiting.slice(first, first + rows).map((row): Line => {
		const line = queueRow(row, state, width - markWidth);
		return isFocused && row.position === selected + 1
			? [span('> ', 'marked'), span(lineText(line), 'marked')]
			: [span(' '.repeat(markWidth)), ...line];
	});
	const isChosen = ({position}: QueueRow): boolean => isFocused && position === selected + 1;
	const byWorth = [...waiting.filter((row) => isChosen(row)), ...waiting.filter((row) => !isChosen(row))];
	const reasons: Line[] = [];
	const spare = rows - lines.length;
	for (const row of byWorth) {
		// A long queue has more reasons than there is room for.
		if (reasons.length >= spare) {
			break;
		}

		reasons.push(...reasonLines(row, state, width));
	}

	return {
		lines: [...lines, ...reasons.slice(0, Math.max(0, spare))],
		first,
		total: waiting.length,
	};
}

/** Where there is room below the rows: why an entry waits, in full. */
function reasonLines(row: QueueRow, state: State, width: number): readonly Line[] {
	const stuck = stuckText(row);
	const blocked = blockedByOf(row, state);
	const {columns} = columnsFor(state, width - markWidth);
	const blockerWidth = columns.find(({name}) => name === 'blockedBy')?.width ?? 0;
	const isInColumn = widthOf(blocked) <= blockerWidth;
	// The reason of an engine is a sentence.
	const isReason = row.blockers[0]?.kind === 'engine';
	const linesOf = (words: string, tone: Tone): readonly Line[] =>
		wrap(`#${row.position} ${words}`, width - 2 * markWidth, 3, ellipsisOf(state)).map((line, index) => [
			span(' '.repeat(index === 0 ? markWidth : 2 * markWidth)),
			span(line, tone),
		]);
	return [
		...(stuck === undefined ? [] : linesOf(stuck, 'warning')),
		...(blocked === '' || isInColumn ? [] : linesOf(isReason ? `waits: ${blocked}` : `waits for ${blocked}`, 'dim')),
	];
}

/** The entry in this line of the panel. */
export function queueEntryAt(state: State, {rows, width}: Room, line: number): Pointed | undefined {
	const headRows = hasQueueHead(state) ? 1 : 0;
	const {first, total} = queueView(state, rows - headRows, width);
	const position = first + line - headRows;
	return line >= headRows && position < Math.min(total, first + rows - headRows)
		? {on: 'row', panel: 'queue', index: position}
		: undefined;
}

export function queuePanel(state: State, {rows, width}: Room): PanelBody {
	const head = hasQueueHead(state) ? [queueHead(state, width)] : [];
	const {lines, first, total} = queueView(state, rows - head.length, width);
	return {end: rangeText(first, Math.min(total, first + lines.length), total), lines: [...head, ...lines]};
}
