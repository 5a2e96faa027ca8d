/** Who waits in line. To read only. */
import {ownerOf, owns} from '../../core/ownership.js';
import type {QueueEntry, QueueRecord} from '../../core/types.js';
import {shortDuration} from '../../format/durations.js';
import {sanitize} from '../../format/text.js';
import {fit} from '../../format/width.js';
import {storeNow, type State} from '../state.js';
import {ellipsisOf} from './glyphs.js';
import {span, type Line} from './spans.js';

const widths = {place: 2, user: 10, want: 10, got: 5, waited: 6} as const;

type Cells = {
	readonly place: string;
	readonly user: string;
	readonly want: string;
	readonly got: string;
	readonly waited: string;
};

const joinCells = ({place, user, want, got, waited}: Cells, state: State): string =>
	[
		fit(place, widths.place, 'end'),
		fit(user, widths.user, 'start', ellipsisOf(state)),
		fit(want, widths.want, 'start', ellipsisOf(state)),
		fit(got, widths.got, 'end'),
		fit(waited, widths.waited, 'end'),
	].join('  ');

const titles: Cells = {place: '#', user: 'USER', want: 'WANT', got: 'GOT', waited: 'WAITED'};

export const queueHead = (state: State): Line => [span(joinCells(titles, state), 'heading')];

/** `GPU 4,5` for these very ones, `2 GPUs` for any. */
const wantOf = ({requestedIds, requestedCount}: QueueEntry): string =>
	requestedIds.length > 0 ? `GPU ${requestedIds.join(',')}` : `${requestedCount} GPU${requestedCount === 1 ? '' : 's'}`;

function queueRow(record: QueueRecord, place: string, state: State): Line {
	if (record.kind !== 'entry') {
		const problem = record.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
		return [span(`${fit(place, widths.place, 'end')}  ${problem}`, 'error')];
	}

	const {entry} = record;
	const got = state.snapshot!.gpus.filter((gpu) => gpu.kind === 'leased' && gpu.lease.partialQueueId === entry.id);
	const wanted = entry.requestedIds.length > 0 ? entry.requestedIds.length : entry.requestedCount;
	const text = joinCells(
		{
			place,
			user: sanitize(ownerOf(entry)),
			want: wantOf(entry),
			got: `${got.length}/${wanted}`,
			waited: shortDuration((storeNow(state) ?? 0) - entry.enqueueTime),
		},
		state,
	);
	const tone = state.connection.kind === 'lost' ? 'dim' : owns(state.settings.requester, entry) ? 'mine' : 'plain';
	return [span(text, tone)];
}

/** At most `rows` lines, the last of which tells how many more there are. */
export function queueLines(state: State, rows: number): readonly Line[] {
	const queue = state.snapshot?.queue ?? [];
	if (queue.length === 0) {
		return rows > 0 ? [[span(' nobody waits', 'dim')]] : [];
	}

	const shown = queue.length > rows ? Math.max(0, rows - 1) : queue.length;
	const lines = queue.slice(0, shown).map((record, position) => queueRow(record, String(position + 1), state));
	const more = queue.length - shown;
	return more > 0 && rows > 0 ? [...lines, [span(`    and ${more} more`, 'dim')]] : lines;
}
