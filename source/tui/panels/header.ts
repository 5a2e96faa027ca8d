/** The two lines on top: where this is and how fresh, and what there is. */
import {sanitize} from '../../format/text/text.js';
import {truncate, fit} from '../../format/text/width.js';
import {gpuCountOf, storeNow, type State} from '../state/state.js';
import {shortDuration} from '../../format/text/durations.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {
	fitLine,
	joined,
	lineWidth,
	span,
	spread,
	type Line,
	inTone,
	loadTone,
	type Tone,
} from '../widgets/styled-text.js';
import {inventory, gibibytes} from '../../format/readings.js';
import {freeGpus, shownStateOf, type StatusRow} from '../../core/rules/pool/status.js';
import {states} from '../../format/states.js';
import {barSpans} from '../widgets/bar.js';
import {isMine} from '../state/table/row-state.js';
import {countOf, freeCountOf, pauseBadge} from './shared/labels.js';

/** Both leave things out step by step, from nothing to all that can be. */
const mostLeftOut = {header: 7, summary: 6} as const;

function badge({connection, scanFailure, nowMs, pause}: State): Line {
	switch (connection.kind) {
		case 'connecting': {
			return [span('[CONNECTING]', 'warning')];
		}

		case 'live': {
			// What the store says still changes, and the readings do not.
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
		if (room >= needed || level === mostLeftOut.header) {
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

function countsOf(rows: readonly StatusRow[], state: State, level: number): Line {
	const isShort = level >= 4;
	const {requester} = state.settings;
	const count = (isCounted: (row: StatusRow) => boolean): number => rows.filter((row) => isCounted(row)).length;
	const mine = count((row) => isMine(row, requester));
	const drained = count((row) => shownStateOf(row) === 'drained');
	const errors = count((row) => shownStateOf(row) === 'error');
	const others = count(({state: kind}) => kind === 'in-use') - mine;
	const unreserved = count(({state: kind}) => kind === 'unreserved');
	// Where there is no room for all of them, those of which there are none are left out.
	const shown = (word: string, number: number, tone: Tone): Line =>
		number === 0 && level >= 6 ? [] : countOf(word, number, tone);
	return [
		span(' '),
		...joined([
			freeCountOf(freeGpus(rows)),
			shown('Mine', mine, 'mine'),
			shown('Others', others, 'others'),
			drained > 0 ? countOf('Drained', drained, 'plain') : [],
			shown(isShort ? 'Unres' : states.unreserved.short, unreserved, 'warning'),
			state.observation === undefined
				? shown('Unknown', errors, 'plain')
				: shown(isShort ? 'Err' : 'Error', errors, 'error'),
		]),
	];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** From this width on, sums have bars, too. */
const roomyColumns = 150;

const sumBar = (of: 'load' | 'memory', share: number, {settings, scanFailure}: State): Line => {
	const line = barSpans(of, share, 12, settings);
	return scanFailure === undefined ? line : inTone(line, 'dim');
};

/** Means and sums over the GPUs that gave the reading; a piece for each that any gave. */
function loadOf(state: State, level: number): readonly Line[] {
	const gpus = state.observation?.gpus ?? [];
	const tone: Tone = state.scanFailure === undefined ? 'plain' : 'dim';
	const percents = gpus.flatMap(({utilizationPercent}) => utilizationPercent ?? []);
	// What is used of a memory of unknown size would count as part of the others'.
	const used = gpus.flatMap(({memoryUsedMiB = [], memoryTotalMiB = 0}) => (memoryTotalMiB > 0 ? memoryUsedMiB : []));
	const powers = gpus.filter(({powerWatts}) => powerWatts !== undefined);
	const pieces: Line[] = [];
	const isRoomy = state.size.columns >= roomyColumns;
	if (level < 5 && percents.length > 0) {
		const mean = sum(percents) / percents.length;
		const number = fit(`${Math.round(mean)}%`, 4, 'end');
		const load: Tone = state.scanFailure === undefined ? loadTone('load', mean / 100) : 'dim';
		pieces.push(
			level < 3
				? [span('Util ', tone), ...sumBar('load', mean / 100, state), span(` ${number}`, load)]
				: [span('Util ', tone), span(number.trim(), load)],
		);
	}

	if (level < 2 && used.length > 0) {
		const total = sum(gpus.map(({memoryTotalMiB = 0}) => memoryTotalMiB));
		const share = sum(used) / total;
		const load: Tone = state.scanFailure === undefined ? loadTone('memory', share) : tone;
		pieces.push([
			span('Mem ', tone),
			...(isRoomy ? [...sumBar('memory', share, state), span(' ')] : []),
			span(`${gibibytes(sum(used)).slice(0, -1)}/${gibibytes(total)}`, load),
		]);
	}

	if (level < 1 && powers.length > 0) {
		const watts = sum(powers.map(({powerWatts = 0}) => powerWatts));
		// A limit of some alone would be too low for the power of all.
		const isLimited = powers.every(({powerLimitWatts}) => powerLimitWatts !== undefined);
		const limit = isLimited ? sum(gpus.map(({powerLimitWatts = 0}) => powerLimitWatts)) : 0;
		const kilowatts = (some: number): string => (some / 1000).toFixed(1);
		pieces.push([
			span('Power ', tone),
			...(isRoomy && limit > 0 ? [...sumBar('load', watts / limit, state), span(' ')] : []),
			span(`${kilowatts(watts)}${limit > 0 ? `/${kilowatts(limit)}` : ''}kW`, tone),
		]);
	}

	return pieces;
}

/** The second line, with as much as fits. */
export function summaryLine(rows: readonly StatusRow[], state: State): Line {
	const {columns} = state.size;
	const queue = countOf('Queue', state.snapshot?.queue.length ?? 0, 'strong');
	for (let level = 0; level <= mostLeftOut.summary; level++) {
		const left = countsOf(rows, state, level);
		const right = [...joined([...loadOf(state, level), queue]), span(' ')];
		if (lineWidth(left) + lineWidth(right) + 2 <= columns) {
			return spread(left, right, columns, ellipsisOf(state));
		}
	}

	// The counts of GPUs come first, and the end is cut off.
	return fitLine(joined([countsOf(rows, state, mostLeftOut.summary), queue]), columns, ellipsisOf(state));
}
