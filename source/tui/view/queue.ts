/** Who waits in line. */
import {ownerOf, owns} from '../../core/rules/leases/ownership.js';
import type {QueueEntry} from '../../core/model/types.js';
import {shortDuration} from '../../format/text/durations.js';
import {stuckWords} from '../../format/out-of-service.js';
import {sanitize} from '../../format/text/text.js';
import {fit} from '../../format/text/width.js';
import {remembering} from '../state/memo.js';
import {selectedPlace} from '../panels/queue-selection.js';
import {storeNow, type State} from '../state/state.js';
import {ellipsisOf} from '../widgets/glyphs.js';
import {lineText, span, type Line} from '../widgets/styled-text.js';
import {queueRows, type QueueRow} from '../../core/rules/queue/queue-rows.js';

type Cells = {
	readonly place: string;
	readonly user: string;
	readonly want: string;
	readonly got: string;
	readonly waited: string;
	readonly estimate: string;
};

/** Exactly `width`: what is left over goes to the names and the wishes. */
function joinCells({place, user, want, got, waited, estimate}: Cells, state: State, width: number): string {
	const gap = width < 46 ? 1 : 2;
	const spare = Math.max(0, width - (2 + 4 + 6 + 8) - 5 * gap);
	const userWidth = Math.max(4, Math.min(16, Math.floor(spare / 2)));
	const ellipsis = ellipsisOf(state);
	return [
		fit(place, 2, 'end'),
		fit(user, userWidth, 'start', ellipsis),
		fit(want, Math.max(4, Math.min(16, spare - userWidth)), 'start', ellipsis),
		fit(got, 4, 'end'),
		fit(waited, 6, 'end'),
		fit(estimate, 8),
	].join(' '.repeat(gap));
}

const titles: Cells = {place: '#', user: 'USER', want: 'WANT', got: 'GOT', waited: 'WAITED', estimate: 'ESTIMATE'};

const markWidth = 2;

export const queueHead = (state: State, width: number): Line => [
	span(' '.repeat(markWidth)),
	span(joinCells(titles, state, width - markWidth), 'heading'),
];

/** `GPU 4,5` for these very ones, `2 GPUs` for any. */
const wantOf = ({requestedIds, requestedCount}: QueueEntry): string =>
	requestedIds.length > 0 ? `GPU ${requestedIds.join(',')}` : `${requestedCount} GPU${requestedCount === 1 ? '' : 's'}`;

/** When it is served: a time, or when a job ends. */
function estimateOf({estimateSeconds, isPossible, outages}: QueueRow): string {
	if (!isPossible) {
		return 'never';
	}

	const [outage] = outages;
	if (outage !== undefined) {
		return {drained: 'drained', unreadable: 'broken', broken: 'broken', used: 'in use', unknown: 'unknown'}[
			outage.kind
		];
	}

	return estimateSeconds === undefined ? 'on-exit' : estimateSeconds < 1 ? 'now' : `~${shortDuration(estimateSeconds)}`;
}

/** What is wrong with a place that nobody can be served on. */
function problemOf({position}: QueueRow, {snapshot}: State): string {
	const record = snapshot?.queue[position - 1];
	return record?.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
}

function queueRow(row: QueueRow, state: State, width: number): Line {
	const {entry, position} = row;
	if (entry === undefined) {
		return [span(`${fit(String(position), 2, 'end')}  ${problemOf(row, state)}`, 'error')];
	}

	const text = joinCells(
		{
			place: String(position),
			user: sanitize(ownerOf(entry)),
			want: wantOf(entry),
			got: `${row.held.length}/${entry.requestedIds.length > 0 ? entry.requestedIds.length : entry.requestedCount}`,
			waited: shortDuration(row.waitedSeconds),
			estimate: estimateOf(row),
		},
		state,
		width,
	);
	const tone = state.connection.kind === 'lost' ? 'dim' : owns(state.settings.requester, entry) ? 'mine' : 'plain';
	return [span(text, tone)];
}

export type QueueView = {
	readonly lines: readonly Line[];
	/** First place shown, from 0. */
	readonly first: number;
	readonly total: number;
};

/** Estimates of a long line take a while. */
const waitingOf = remembering(
	({snapshot, nowMs, snapshotAtMs}: State) => [snapshot, nowMs, snapshotAtMs],
	(state): readonly QueueRow[] => {
		const {snapshot} = state;
		return snapshot === undefined ? [] : queueRows({...snapshot, now: storeNow(state)!});
	},
);

/** At most `rows` places, those around the selected one. */
export function queueView(state: State, rows: number, width: number): QueueView {
	const waiting = waitingOf(state);
	if (waiting.length === 0) {
		return {lines: rows > 0 ? [[span('  nobody waits', 'dim')]] : [], first: 0, total: 0};
	}

	const selected = selectedPlace(state) ?? 0;
	const first = Math.max(0, Math.min(selected - Math.floor(rows / 2), waiting.length - rows));
	const isFocused = state.panels.focus === 'queue';
	const lines = waiting.slice(first, first + rows).map((row): Line => {
		const line = queueRow(row, state, width - markWidth);
		return isFocused && row.position === selected + 1
			? [span('> ', 'marked'), span(lineText(line), 'marked')]
			: [span(' '.repeat(markWidth)), ...line];
	});
	// Where there is room: why those who are passed by wait.
	const reasons = waiting.flatMap((row): readonly Line[] => {
		const words = stuckWords(row);
		return words === undefined ? [] : [[span(`${' '.repeat(markWidth)}#${row.position} ${words}`, 'warning')]];
	});
	return {
		lines: [...lines, ...reasons.slice(0, Math.max(0, rows - lines.length))],
		first,
		total: waiting.length,
	};
}
