/** The values of graphs: the samples of this monitor or, for longer time ranges, the load history of the pool. */
import {useMemo} from 'react';
import {pastHistory, seriesOf, type UtilizationHistory} from '../../../core/live/utilization-history.js';
import {loadName} from '../../../core/rules/pool/load-minutes.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {shortDuration} from '../../../format/text/durations.js';
import {keepingElements, remembering} from '../../state/memo.js';
import {ownRange, rangeWord, type PastRange} from '../../state/panels/state.js';
import {storeNow, type State} from '../../state/state.js';
import {tagOf} from '../../state/gpus/fold.js';
import {useMonitor} from '../../state/use-monitor.js';
import type {Values} from '../../widgets/graph.js';

/** The samples for a graph that ends at `nowMs`, in ms on the clock of the samples. */
type ShownHistory = {readonly history: UtilizationHistory; readonly nowMs: number; readonly spanMs: number};

/** The load history of the pool as samples, by time range and GPU. Emptied when a new minute or a new scan arrives. */
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

/** Shorter time ranges for the graphs of a monitor that has just been started. */
const shortSpansMs = [30_000, 60_000, 120_000];

/** Returns the shortest time range that shows all samples, so that the graphs of a new monitor are not almost empty. */
function seenSpanMs({samples, windowMs}: UtilizationHistory, nowMs: number): number {
	const seenMs = nowMs - (samples[0]?.atMs ?? nowMs);
	return shortSpansMs.find((spanMs) => spanMs >= seenMs) ?? windowMs;
}

/** Returns the time range of a graph as text, such as `30s` or `5m`. */
export const spanText = ({history, nowMs}: State, range: PastRange): string =>
	range === ownRange ? shortDuration(seenSpanMs(history, nowMs) / 1000) : rangeWord(range);

/** Returns the time on the clock of the samples at which a graph with this time range ends. */
export const endMsOf = (state: State, range: PastRange): number =>
	range === ownRange ? state.nowMs : (storeNow(state) ?? 0) * 1000;

export function shownHistory(state: State, row: StatusRow, range: PastRange): ShownHistory {
	const {history, nowMs} = state;
	const now = storeNow(state);
	if (range === ownRange || now === undefined) {
		return {history, nowMs, spanMs: seenSpanMs(history, nowMs)};
	}

	const kept = keptFor(state, row, range);
	return {history: kept, nowMs: now * 1000, spanMs: kept.windowMs};
}

/** Returns the values of a graph. The component renders again only when a value changes. `of` lists what `valuesOf` depends on besides the state. */
export function useGraphValues(valuesOf: (state: State) => Values, of: readonly unknown[]): Values {
	const select = useMemo(
		() =>
			keepingElements(
				remembering(
					({past, history, snapshot, nowMs, snapshotAtMs, pause}: State) => [
						past,
						history,
						snapshot,
						nowMs,
						snapshotAtMs,
						pause,
					],
					valuesOf,
				),
				Object.is,
			),
		of,
	);
	return useMonitor(select);
}

/** Returns the last `count` values of a GPU for a graph with this time range. Each value is from 0 to 1. */
export function useShownValues(
	row: StatusRow,
	reading: 'utilization' | 'memory',
	{range, count}: {readonly range: PastRange; readonly count: number},
): Values {
	const key = tagOf(row.index, row.reading);
	return useGraphValues(
		(state) => {
			const shown = shownHistory(state, row, range);
			return seriesOf(shown.history, key, reading, {...shown, columns: count});
		},
		[row.index, key, reading, range, count],
	);
}
