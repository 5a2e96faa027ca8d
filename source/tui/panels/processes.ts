/** The panel of the processes: those of all GPUs in one list, the largest memory first. */
import type {StatusRow} from '../../core/rules/pool/status.js';
import type {GpuProcess} from '../../core/model/types.js';
import {fit} from '../../format/text/width.js';
import {sanitize} from '../../format/text/text.js';
import {remembering} from '../state/memo.js';
import {rowsOf, type State} from '../state/state.js';
import type {Room} from '../layout.js';
import {rangeWords, windowOf} from '../widgets/scroll.js';
import {span, type Line, type Tone} from '../widgets/styled-text.js';
import type {PanelBody} from './shared/panel-body.js';
import {byMemory, processWords} from './shared/readings.js';
import {joinCells, processCells, processTitles} from './shared/process-rows.js';

type Placed = {readonly process: GpuProcess; readonly row: StatusRow};

/** Each process on each of its GPUs. */
export const allProcesses = remembering(
	(state: State) => [rowsOf(state)],
	(state): readonly Placed[] => {
		const placed = new Map(rowsOf(state).flatMap((row) => row.processes.map((process) => [process, row] as const)));
		return byMemory(placed.keys().toArray()).map((process) => ({process, row: placed.get(process)!}));
	},
);

/** Columns for the index of a GPU, with the blanks beside it. */
const gpuWidth = 4;

const toneOf = ({process, row}: Placed, {settings}: State): Tone =>
	row.state === 'unreserved' || row.squatters.includes(process)
		? 'warning'
		: process.user === settings.requester.account
			? 'mine'
			: 'plain';

function lineOf(placed: Placed, state: State, width: number): Line {
	const {process, row} = placed;
	const tone = toneOf(placed, state);
	return [
		span(` ${fit(String(row.index), gpuWidth)}`, 'strong'),
		span(joinCells(processCells(process, state), state, width), tone),
		span(sanitize(processWords(process)), tone === 'warning' ? tone : 'plain'),
	];
}

/** A head, and below it as many processes as there is room for. */
export function processesPanel(state: State, {rows, width}: Room): PanelBody {
	const all = allProcesses(state);
	const {from, to} = windowOf(state.panels.scroll.processes, {total: all.length, shown: rows - 1});
	const head: Line = [span(` ${fit('GPU', gpuWidth)}${joinCells(processTitles, state, width)}COMMAND`, 'heading')];
	return all.length === 0
		? {lines: [[span(' no process is seen on any GPU', 'dim')]], end: ''}
		: {
				lines: [head, ...all.slice(from, to).map((placed) => lineOf(placed, state, width))],
				end: rangeWords(from, to, all.length),
			};
}
