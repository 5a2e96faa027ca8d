/** Who waits in line. To read only. */
import {ownerOf, owns} from '../../core/ownership.js';
import type {QueueEntry, QueueRecord} from '../../core/types.js';
import {shortDuration} from '../../format/durations.js';
import {sanitize} from '../../format/text.js';
import {fit} from '../../format/width.js';
import {storeNow, type State} from '../state.js';
import {fitLine, span, type Line} from './spans.js';

const widths = {place: 2, user: 10, want: 10, got: 5, waited: 6} as const;

const columns = (place: string, user: string, want: string, got: string, waited: string, ellipsis: string): string =>
	[
		fit(place, widths.place, 'end'),
		fit(user, widths.user, 'start', ellipsis),
		fit(want, widths.want, 'start', ellipsis),
		fit(got, widths.got, 'end'),
		fit(waited, widths.waited, 'end'),
	].join('  ');

export const queueHead = (width: number, ellipsis: string): Line =>
	fitLine([span(columns('#', 'USER', 'WANT', 'GOT', 'WAITED', ellipsis), 'heading')], width, ellipsis);

/** `GPU 4,5` for these very ones, `2 GPUs` for any. */
const wantOf = ({requestedIds, requestedCount}: QueueEntry): string =>
	requestedIds.length > 0 ? `GPU ${requestedIds.join(',')}` : `${requestedCount} GPU${requestedCount === 1 ? '' : 's'}`;

function queueRow(record: QueueRecord, place: number, state: State, width: number, ellipsis: string): Line {
	if (record.kind !== 'entry') {
		const problem = record.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
		return fitLine([span(`${fit(String(place), widths.place, 'end')}  ${problem}`, 'error')], width, ellipsis);
	}

	const {entry} = record;
	const got = state.snapshot!.gpus.filter(
		(gpu) => gpu.kind === 'leased' && gpu.lease.partialQueueId === entry.id,
	).length;
	const wanted = entry.requestedIds.length > 0 ? entry.requestedIds.length : entry.requestedCount;
	const text = columns(
		String(place),
		sanitize(ownerOf(entry)),
		wantOf(entry),
		`${got}/${wanted}`,
		shortDuration((storeNow(state) ?? 0) - entry.enqueueTime),
		ellipsis,
	);
	const tone = state.connection.kind === 'lost' ? 'dim' : owns(state.settings.requester, entry) ? 'mine' : 'plain';
	return fitLine([span(text, tone)], width, ellipsis);
}

/** At most `rows` lines, the last of which tells how many more there are. */
export function queueLines(state: State, width: number, rows: number, ellipsis: string): readonly Line[] {
	const queue = state.snapshot?.queue ?? [];
	if (queue.length === 0) {
		return [fitLine([span(' nobody waits', 'dim')], width, ellipsis)].slice(0, rows);
	}

	const shown = queue.length > rows ? Math.max(0, rows - 1) : queue.length;
	const lines = queue.slice(0, shown).map((record, position) => queueRow(record, position + 1, state, width, ellipsis));
	const more = queue.length - shown;
	return more > 0 && rows > 0
		? [...lines, fitLine([span(`    and ${more} more`, 'dim')], width, ellipsis)]
		: lines;
}
