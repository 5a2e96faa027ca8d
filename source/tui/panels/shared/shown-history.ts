/** What the graphs of a GPU are drawn from: what this monitor has seen, or what all have written down where they go further back. */
import {pastHistory, type UtilizationHistory} from '../../../core/live/utilization-history.js';
import {loadName} from '../../../core/rules/pool/load-minutes.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {remembering} from '../../state/memo.js';
import {type PastRange, ownRange} from '../../state/panels/state.js';
import {storeNow, type State} from '../../state/state.js';
import {tagOf} from '../../state/table/state.js';

/** Values up to now, in milliseconds on the clock of those values. */
export type ShownHistory = {readonly history: UtilizationHistory; readonly nowMs: number; readonly spanMs: number};

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

export function shownHistory(state: State, row: StatusRow, range: PastRange): ShownHistory {
	const {history, nowMs} = state;
	const now = storeNow(state);
	if (range === ownRange || now === undefined) {
		return {history, nowMs, spanMs: history.windowMs};
	}

	const kept = keptFor(state, row, range);
	return {history: kept, nowMs: now * 1000, spanMs: kept.windowMs};
}
