/** The queue as of now, and the selected position in it. */
import type {QueueRecord} from '../../../core/model/types.js';
import {owns} from '../../../core/rules/leases/ownership.js';
import {queueRows, type QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {remembering} from '../memo.js';
import {storeNow, type State} from '../state.js';
import {indexOfSelected} from '../table/alike.js';

/** The queue as of now. Estimates of a long queue take a while. */
export const waitingOf = remembering(
	({snapshot, nowMs, snapshotAtMs}: State) => [snapshot, nowMs, snapshotAtMs],
	(state): readonly QueueRow[] => {
		const {snapshot} = state;
		return snapshot === undefined ? [] : queueRows({...snapshot, now: storeNow(state)!});
	},
);

export function selectedPosition({snapshot, panels}: Pick<State, 'snapshot' | 'panels'>): number | undefined {
	const {selectedId, position} = panels.queue;
	return indexOfSelected(snapshot?.queue ?? [], ({id}) => id === selectedId, position);
}

/** The entry that is selected in the queue. */
export function selectedEntry(state: Pick<State, 'snapshot' | 'panels'>): QueueRecord | undefined {
	const position = selectedPosition(state);
	return position === undefined ? undefined : state.snapshot!.queue[position];
}

/** Selects the entry at this position, or the last there is. */
export function selectPosition(state: State, position: number): State {
	const queue = state.snapshot?.queue ?? [];
	const within = Math.max(0, Math.min(position, queue.length - 1));
	return {...state, panels: {...state.panels, queue: {selectedId: queue[within]?.id, position: within}}};
}

/** Remembers where the selected one stands. */
export function settledQueue(state: State): State {
	const selected = selectedPosition(state);
	const {queue} = state.panels;
	const id = selected === undefined ? undefined : state.snapshot!.queue[selected]!.id;
	return selected === undefined || (selected === queue.position && id === queue.selectedId)
		? state
		: selectPosition(state, selected);
}

/** An entry of one's own is what keys act on: it is selected where the selection was never moved away from the first. */
export function selectOwnEntry(state: State): State {
	const own = (state.snapshot?.queue ?? []).findIndex(
		(record) => record.kind === 'entry' && owns(state.settings.requester, record.entry),
	);
	return own > 0 && state.panels.queue.position === 0 ? selectPosition(state, own) : state;
}
