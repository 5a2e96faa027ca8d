/** The selected place in the line. */
import type {QueueRecord} from '../../../core/model/types.js';
import type {State} from '../state.js';

/** Where it stands now: the selected entry, or the one that moved up to its position. Undefined when nobody waits. */
export function selectedPlace({snapshot, panels}: Pick<State, 'snapshot' | 'panels'>): number | undefined {
	const queue = snapshot?.queue ?? [];
	const {selectedId, place} = panels.queue;
	const found = queue.findIndex(({id}) => id === selectedId);
	return queue.length === 0 ? undefined : found === -1 ? Math.min(place, queue.length - 1) : found;
}

/** The entry that is selected in the queue. */
export function selectedEntry(state: Pick<State, 'snapshot' | 'panels'>): QueueRecord | undefined {
	const place = selectedPlace(state);
	return place === undefined ? undefined : state.snapshot!.queue[place];
}

/** Selects the one at this place, or the last there is. */
export function selectPlace(state: State, place: number): State {
	const queue = state.snapshot?.queue ?? [];
	const within = Math.max(0, Math.min(place, queue.length - 1));
	return {...state, panels: {...state.panels, queue: {selectedId: queue[within]?.id, place: within}}};
}

/** Remembers where the selected one stands. */
export function settledQueue(state: State): State {
	const place = selectedPlace(state);
	const {queue} = state.panels;
	const id = place === undefined ? undefined : state.snapshot!.queue[place]!.id;
	return place === undefined || (place === queue.place && id === queue.selectedId) ? state : selectPlace(state, place);
}
