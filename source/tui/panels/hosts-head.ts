/** The two lines on top while all hosts are shown: how many answer, and what they have together. */
import {sanitize} from '../../format/text/text.js';
import {counted} from '../../format/text/numbers.js';
import {states} from '../../format/states.js';
import {hostNamesOf, hostTotals, type HostTotals} from '../state/hosts/totals.js';
import {storeNow, type State} from '../state/state.js';
import {barSpans} from '../widgets/bar.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {fitLine, joined, lineWidth, loadTone, span, spread, type Line} from '../widgets/styled-text.js';
import {gibibytes} from '../../format/readings.js';
import {countOf, freeCountOf, pauseBadge} from './shared/labels.js';

/** The header leaves things out step by step, from nothing to all that can be. */
const mostLeftOut = 4;

function leftOf(state: State, level: number): Line {
	const {answering, asking, failing} = hostTotals(state);
	return joined([
		[span(level < 1 ? ' canhazgpu top' : ' canhazgpu', 'strong')],
		[span(counted(hostNamesOf(state).length, 'host'))],
		[span(level < 2 ? `${answering} answering` : `${answering} live`, answering > 0 ? 'success' : 'dim')],
		asking > 0 ? [span(`${asking} asked`, 'warning')] : [],
		failing > 0 ? [span(level < 2 ? `${failing} not answering` : `${failing} down`, 'error')] : [],
		pauseBadge(state),
	]);
}

function rightOf(state: State, level: number): Line {
	const {requester, isReadonly, formatTime} = state.settings;
	const now = storeNow(state);
	return joined([
		[span(isReadonly ? 'ro' : 'rw', isReadonly ? 'warning' : 'plain')],
		level < 4 ? [span(sanitize(requester.label))] : [],
		now === undefined ? [] : [span(level < 3 ? formatTime(now) : formatTime(now).slice(0, 5))],
		[span('')],
	]);
}

function headerLine(state: State): Line {
	const {columns} = state.size;
	for (let level = 0; ; level++) {
		const [left, right] = [leftOf(state, level), rightOf(state, level)];
		if (level === mostLeftOut || lineWidth(left) + lineWidth(right) + 2 <= columns) {
			return spread(left, right, columns, ellipsisOf(state));
		}
	}
}

const countsOf = (totals: HostTotals, isShort: boolean): Line => [
	span(' '),
	...joined([
		freeCountOf(totals.free),
		countOf('Mine', totals.mine, 'mine'),
		countOf('Others', totals.others, 'others'),
		totals.drained > 0 ? countOf('Drained', totals.drained, 'plain') : [],
		totals.unreserved > 0 ? countOf(isShort ? 'Unres' : states.unreserved.short, totals.unreserved, 'warning') : [],
		totals.errors > 0 ? countOf(isShort ? 'Err' : 'Error', totals.errors, 'error') : [],
		[span(`of ${totals.gpuCount}`, 'dim')],
	]),
];

function summaryLine(state: State): Line {
	const {columns} = state.size;
	const totals = hostTotals(state);
	const {utilization: mean, memoryUsedMiB: used, memoryTotalMiB} = totals;
	const queue = countOf('Queue', totals.waiting, 'strong');
	const memory: Line =
		memoryTotalMiB === 0
			? []
			: [
					span('Mem '),
					span(
						`${gibibytes(used).slice(0, -1)}/${gibibytes(memoryTotalMiB)}`,
						loadTone('memory', used / memoryTotalMiB),
					),
				];
	const percent = `${Math.round((mean ?? 0) * 100)}%`;
	const load: Line = mean === undefined ? [] : [span('Util '), span(percent, loadTone('load', mean))];
	const barred: Line =
		mean === undefined
			? []
			: [span('Util '), ...barSpans('load', mean, 12, state.settings), span(` ${percent}`, loadTone('load', mean))];
	const [long, short] = [countsOf(totals, false), countsOf(totals, true)];
	for (const [left, pieces] of [
		[long, [barred, memory, queue]],
		[long, [load, memory, queue]],
		[long, [load, queue]],
		[long, [queue]],
		[short, [queue]],
	] as const) {
		const right: Line = [...joined(pieces), span(' ')];
		if (lineWidth(left) + lineWidth(right) + 2 <= columns) {
			return spread(left, right, columns, ellipsisOf(state));
		}
	}

	return fitLine(short, columns, ellipsisOf(state));
}

export const hostsHeadLines = (state: State): readonly Line[] => [headerLine(state), summaryLine(state)];
