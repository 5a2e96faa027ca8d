/** The two lines on top while all hosts are shown: how many answer, and what they have together. */
import {sanitize} from '../../format/text/text.js';
import {counted} from '../../format/text/numbers.js';
import {states} from '../../format/states.js';
import {hostNamesOf, hostTotals} from '../state/hosts/totals.js';
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

function summaryLine(state: State): Line {
	const {columns} = state.size;
	const totals = hostTotals(state);
	const {utilization: mean, memoryUsedMiB: used, memoryTotalMiB} = totals;
	const counts = [
		freeCountOf(totals.free),
		countOf('Mine', totals.mine, 'mine'),
		countOf('Others', totals.others, 'others'),
		...(totals.drained > 0 ? [countOf('Drained', totals.drained, 'plain')] : []),
		...(totals.unreserved > 0 ? [countOf(states.unreserved.short, totals.unreserved, 'warning')] : []),
		...(totals.errors > 0 ? [countOf('Error', totals.errors, 'error')] : []),
		[span(`of ${totals.gpuCount}`, 'dim')],
	];
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
	const left: Line = [span(' '), ...joined(counts)];
	for (const pieces of [[barred, memory, queue], [load, memory, queue], [load, queue], [queue]]) {
		const right: Line = [...joined(pieces), span(' ')];
		if (lineWidth(left) + lineWidth(right) + 2 <= columns) {
			return spread(left, right, columns, ellipsisOf(state));
		}
	}

	return fitLine(left, columns, ellipsisOf(state));
}

export const hostsHeadLines = (state: State): readonly Line[] => [headerLine(state), summaryLine(state)];
