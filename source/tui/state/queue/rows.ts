/** The rows of the queue: its entries and when they are expected to be served. */
import type {QueueRecord} from '../../../core/model/types.js';
import {labelOf, ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import {queueRows, type QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {sanitize} from '../../../format/text/text.js';
import {remembering} from '../memo.js';
import {storeNow, type State} from '../state.js';
import {tableOf} from '../table/table.js';

function textOf(record: QueueRecord): string {
	if (record.kind !== 'entry') {
		return sanitize(record.id);
	}

	const {id, entry} = record;
	return sanitize(
		[id, ownerOf(entry), labelOf(entry), entry.note, ...entry.requestedIds.map((gpu) => `gpu${gpu}`)].join(' '),
	);
}

const emptyQueue: readonly QueueRecord[] = [];

const isOf = (record: QueueRecord, account: string): boolean =>
	record.kind === 'entry' && ownerOf(record.entry) === account;

/** The table of the queue. It is always in the order of the positions, and cannot be filtered. */
export const queueTable = tableOf<QueueRecord>({
	name: 'queue',
	noun: 'queue entry',
	rowsOf: ({snapshot}) => snapshot?.queue ?? emptyQueue,
	keysOf: ({id}) => [id],
	textOf,
	isOf,
	isMine: (record, {settings}) => record.kind === 'entry' && owns(settings.requester, record.entry),
	userOf: (record) => (record.kind === 'entry' ? ownerOf(record.entry) : undefined),
	noUser: 'This queue entry has no user',
	valuesOf: () => ({position: () => undefined}),
	isCentered: true,
	isAlwaysUsed: true,
});

const noRows: readonly QueueRow[] = [];

/** Returns the queue with current estimates. Cached, because computing the estimates of a long queue takes time. */
export const waitingOf = remembering(
	({snapshot, nowMs, snapshotAtMs}: State) => [snapshot, nowMs, snapshotAtMs],
	(state): readonly QueueRow[] => {
		const {snapshot} = state;
		return snapshot === undefined || snapshot.queue.length === 0
			? noRows
			: queueRows({...snapshot, now: storeNow(state)!});
	},
);

export const selectedEntry = queueTable.selected;

/** Selects the user's first entry, unless the user has moved the selection away from the first row. */
export function selectOwnEntry(state: State): State {
	const own = queueTable
		.shown(state)
		.findIndex((record) => record.kind === 'entry' && owns(state.settings.requester, record.entry));
	return own > 0 && queueTable.selectedIndex(state) === 0
		? queueTable.change(state, {kind: 'select', index: own})
		: state;
}
