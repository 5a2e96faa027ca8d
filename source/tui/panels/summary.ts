/** The second line: how many GPUs are what, and what they do together. */
import {shownStateOf, type StatusRow} from '../../core/rules/pool/status.js';
import {states} from '../../format/states.js';
import {fit} from '../../format/text/width.js';
import type {State} from '../state/state.js';
import {barSpans} from '../widgets/bar.js';
import {ellipsisOf} from '../widgets/glyphs.js';
import {
	fitLine,
	inTone,
	joined,
	lineWidth,
	loadTone,
	span,
	spread,
	type Line,
	type Tone,
} from '../widgets/styled-text.js';
import {gibibytes} from '../../format/readings.js';
import {isMine} from '../state/table/row-state.js';

/** What there is none of stays grey. */
const counted = (word: string, count: number, tone: Tone): Line => [span(`${word} ${count}`, count > 0 ? tone : 'dim')];

function countsOf(rows: readonly StatusRow[], state: State, level: number): Line {
	const isShort = level >= 4;
	const {requester} = state.settings;
	const count = (isMeant: (row: StatusRow) => boolean): number => rows.filter((row) => isMeant(row)).length;
	const mine = count((row) => isMine(row, requester));
	const drained = count((row) => shownStateOf(row) === 'drained');
	const errors = count((row) => shownStateOf(row) === 'error');
	const free = count(({state: kind}) => kind === 'available');
	const others = count(({state: kind}) => kind === 'in-use') - mine;
	const unreserved = count(({state: kind}) => kind === 'unreserved');
	// Where there is no room for all of them, those of which there are none are left out.
	const shown = (word: string, number: number, tone: Tone): Line =>
		number === 0 && level >= 6 ? [] : counted(word, number, tone);
	return [
		span(' '),
		...joined([
			counted('Free', free, 'free'),
			shown('Mine', mine, 'mine'),
			shown('Others', others, 'others'),
			drained > 0 ? counted('Drained', drained, 'plain') : [],
			shown(isShort ? 'Unres' : states.unreserved.short, unreserved, 'warning'),
			state.observation === undefined
				? shown('Unknown', errors, 'plain')
				: shown(isShort ? 'Err' : 'Error', errors, 'error'),
		]),
	];
}

const sum = (values: ReadonlyArray<number | undefined>): number =>
	values.reduce<number>((total, value) => total + (value ?? 0), 0);

const hasAny = (values: ReadonlyArray<number | undefined>): boolean => values.some((value) => value !== undefined);

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
	const percents = gpus.map(({utilizationPercent}) => utilizationPercent);
	const memory = gpus.map(({memoryUsedMiB}) => memoryUsedMiB);
	const power = gpus.map(({powerWatts}) => powerWatts);
	const pieces: Line[] = [];
	const isRoomy = state.size.columns >= roomyColumns;
	if (level < 5 && hasAny(percents)) {
		const mean = sum(percents) / percents.filter((value) => value !== undefined).length;
		const number = fit(`${Math.round(mean)}%`, 4, 'end');
		const load: Tone = state.scanFailure === undefined ? loadTone('load', mean / 100) : 'dim';
		pieces.push(
			level < 3
				? [span('Util ', tone), ...sumBar('load', mean / 100, state), span(` ${number}`, load)]
				: [span('Util ', tone), span(number.trim(), load)],
		);
	}

	if (level < 2 && hasAny(memory)) {
		const total = sum(gpus.map(({memoryTotalMiB}) => memoryTotalMiB));
		const used = sum(memory);
		const load: Tone = state.scanFailure === undefined && total > 0 ? loadTone('memory', used / total) : tone;
		pieces.push([
			span('Mem ', tone),
			...(isRoomy && total > 0 ? [...sumBar('memory', used / total, state), span(' ')] : []),
			span(`${gibibytes(used).slice(0, -1)}/${gibibytes(total)}`, load),
		]);
	}

	if (level < 1 && hasAny(power)) {
		const limit = sum(gpus.map(({powerLimitWatts}) => powerLimitWatts));
		const kilowatts = (watts: number): string => (watts / 1000).toFixed(1);
		pieces.push([
			span('Power ', tone),
			...(isRoomy && limit > 0 ? [...sumBar('load', sum(power) / limit, state), span(' ')] : []),
			span(`${kilowatts(sum(power))}${limit > 0 ? `/${kilowatts(limit)}` : ''}kW`, tone),
		]);
	}

	return pieces;
}

/** The summary leaves things out step by step, from nothing to all that can be. */
const mostLeftOut = 6;

/** The second line, with as much as fits. */
export function summaryLine(rows: readonly StatusRow[], state: State): Line {
	const {columns} = state.size;
	const queue = counted('Queue', state.snapshot?.queue.length ?? 0, 'strong');
	for (let level = 0; level <= mostLeftOut; level++) {
		const left = countsOf(rows, state, level);
		const right = [...joined([...loadOf(state, level), queue]), span(' ')];
		if (lineWidth(left) + lineWidth(right) + 2 <= columns) {
			return spread(left, right, columns, ellipsisOf(state));
		}
	}

	// The counts of GPUs come first, and the end is cut off.
	return fitLine(joined([countsOf(rows, state, mostLeftOut), queue]), columns, ellipsisOf(state));
}
