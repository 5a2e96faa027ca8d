/** The two lines on top: where this is and how fresh, and what there is. */
import {sanitize} from '../../format/text/text.js';
import {truncate} from '../../format/text/width.js';
import {gpuCountOf, storeNow, type State} from '../state/state.js';
import {shortDuration} from '../../format/text/durations.js';
import {ellipsisOf} from '../widgets/glyphs.js';
import {fitLine, joined, lineWidth, span, spread, type Line} from '../widgets/styled-text.js';
import {inventory} from '../../format/readings.js';

/** The header leaves things out step by step, from nothing to all that can be. */
const mostLeftOut = 7;

function badge({connection, scanFailure, nowMs, pause}: State): Line {
	switch (connection.kind) {
		case 'connecting': {
			return [span('[CONNECTING]', 'warning')];
		}

		case 'live': {
			// What the store tells still changes, and the readings do not.
			return scanFailure === undefined
				? pause === undefined
					? [span('[LIVE]', 'success')]
					: []
				: [span(`[SCAN FAILED ${shortDuration(Math.max(0, nowMs - scanFailure.sinceMs) / 1000)}]`, 'warning')];
		}

		case 'lost': {
			return [span(`[STALE ${shortDuration((nowMs - connection.sinceMs) / 1000)}]`, 'error')];
		}
	}
}

/** How long the screen has stood still. */
const pauseBadge = ({pause, nowMs}: State): Line =>
	pause === undefined ? [] : [span(`[PAUSED ${shortDuration((nowMs - pause.sinceMs) / 1000)}]`, 'warning')];

/** From when the values are, where they are stale, or how old the scan is. The message says why. */
function freshness(state: State): Line {
	const {connection, snapshot, snapshotAtMs, scanFailure, observation, nowMs, pause, settings} = state;
	if (connection.kind === 'lost') {
		// It was up to date until the moment it was lost, or the screen stood still.
		const untilMs = Math.min(connection.sinceMs, pause?.sinceMs ?? Infinity);
		const lostAt = snapshot && snapshot.now + Math.max(0, untilMs - snapshotAtMs) / 1000;
		const values = lostAt === undefined ? 'nothing read yet' : `values from ${settings.formatTime(lostAt).slice(0, 5)}`;
		return [span(values, 'warning')];
	}

	if (scanFailure !== undefined) {
		return [span(scanFailure.message, 'warning')];
	}

	const age = observation && shortDuration(Math.max(0, nowMs - observation.takenAtMs) / 1000);
	return [span(age === undefined ? 'scanning' : `scan ${age} ago`, 'dim')];
}

function leftOf(state: State, level: number): Line {
	const {settings, observation} = state;
	const {model, memory} = inventory(gpuCountOf(state), observation?.gpus ?? []);
	return joined([
		[span(level < 1 ? ' canhazgpu top' : ' canhazgpu', 'strong')],
		[span(truncate(sanitize(settings.hostname), level < 6 ? 24 : 12, ellipsisOf(state)))],
		level < 5 && gpuCountOf(state) > 0 ? [span(level < 2 && memory !== undefined ? `${model}-${memory}` : model)] : [],
		badge(state),
		pauseBadge(state),
		observation?.simulated ? [span('SIMULATED', 'warning')] : [],
		settings.poolLabel === undefined ? [] : [span(sanitize(settings.poolLabel), 'warning')],
	]);
}

function rightOf(state: State, level: number): Line {
	const {requester, formatTime} = state.settings;
	const isReadonly = state.settings.isReadonly || state.connection.kind === 'lost';
	const now = storeNow(state);
	const time = now === undefined ? '' : formatTime(now);
	return joined([
		[span(isReadonly ? 'ro' : 'rw', isReadonly ? 'warning' : 'plain')],
		level < 4 ? [span(sanitize(requester.label))] : [],
		level < 7 && time !== '' ? [span(level < 2 ? time : time.slice(0, 5))] : [],
		[span('')],
	]);
}

/** Trouble is shown in at least this many columns, before less important things. */
const leastTrouble = 28;

/** The first line, with as much as fits. */
export function headerLine(state: State): Line {
	const {columns} = state.size;
	const detail = freshness(state);
	const detailWidth = lineWidth(detail);
	const isTrouble = state.connection.kind === 'lost' || state.scanFailure !== undefined;
	for (let level = 0; ; level++) {
		const left = leftOf(state, level);
		const right = rightOf(state, level);
		const room = columns - lineWidth(left) - lineWidth(right) - 4;
		const needed = isTrouble ? Math.min(detailWidth, leastTrouble) : level < 3 ? detailWidth : 0;
		if (room >= needed || level === mostLeftOut) {
			const isShown = needed > 0 && room > 0;
			return spread(
				isShown ? joined([left, fitLine(detail, Math.min(room, detailWidth), ellipsisOf(state))]) : left,
				right,
				columns,
				ellipsisOf(state),
			);
		}
	}
}
