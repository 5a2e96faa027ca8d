/** What is known about the selected GPU, beyond its line in the table. */
import type {StatusRow} from '../../core/status.js';
import type {GpuProcess} from '../../core/types.js';
import {shortDuration} from '../../format/durations.js';
import {sanitize} from '../../format/text.js';
import {fit} from '../../format/width.js';
import {storeNow, type State} from '../state.js';
import {ellipsisOf} from './glyphs.js';
import {byMemory, gibibytes, processWords} from './readings.js';
import {isMine, ownerWords} from './row-words.js';
import {joined, span, type Line} from './spans.js';

const noteOf = ({lease}: StatusRow): Line =>
	lease?.note === undefined || sanitize(lease.note) === '' ? [] : [span('note '), span(sanitize(lease.note), 'strong')];

function endOf(row: StatusRow, state: State): Line {
	const {lease, remainingSeconds, heartbeatAgeSeconds} = row;
	if (lease?.partialQueueId !== undefined) {
		return [span('held for its place in the queue until the rest is free')];
	}

	if (remainingSeconds !== undefined) {
		// A time of day says enough only within the day, and only such a time surely is one.
		const at =
			remainingSeconds < 86_400
				? ` at ${state.settings.formatTime(storeNow(state)! + remainingSeconds).slice(0, 5)}`
				: '';
		return [span(`ends in ${shortDuration(remainingSeconds)}${at}`)];
	}

	const pid = lease?.job?.pid ?? lease?.holder?.pid;
	const heartbeat = heartbeatAgeSeconds === undefined ? '' : `  heartbeat ${shortDuration(heartbeatAgeSeconds)} ago`;
	return [span(`ends when ${pid ?? 'its job'} exits${heartbeat}`)];
}

/** Who has it, until when, and what they say about it. */
function holdingLine(row: StatusRow, state: State): Line {
	switch (row.state) {
		case 'available': {
			return [
				span('FREE', 'free'),
				span(row.freeSeconds === undefined ? '  never used' : `  for ${shortDuration(row.freeSeconds)}`),
			];
		}

		case 'unreserved': {
			return [ownerWords(row, state.settings.requester), span('  uses it without a reservation')];
		}

		case 'error': {
			return [span(sanitize(row.problem ?? ''), state.observation === undefined ? 'dim' : 'error')];
		}

		case 'in-use': {
			return joined([
				[
					span(
						ownerWords(row, state.settings.requester).text,
						isMine(row, state.settings.requester) ? 'mine' : 'others',
					),
				],
				[span(row.lease!.type === 'run' ? 'RUN' : 'MANUAL')],
				[span(`held ${shortDuration(row.heldSeconds ?? 0)}`)],
				row.problem === undefined || state.observation === undefined ? [] : [span(sanitize(row.problem), 'error')],
				endOf(row, state),
			]);
		}
	}
}

type ProcessCells = readonly [pid: string, user: string, memory: string, command: string];

const joinCells = ([pid, user, memory, command]: ProcessCells, state: State): string =>
	[fit(pid, 8), fit(user, 10, 'start', ellipsisOf(state)), fit(memory, 6, 'end'), command].join('  ');

function processLine(process: GpuProcess, row: StatusRow, state: State): Line {
	const isSquatter = row.squatters.includes(process);
	const memory = process.memoryUsedMiB === undefined ? 'N/A' : gibibytes(process.memoryUsedMiB);
	const cells: ProcessCells = [String(process.pid), sanitize(process.user ?? '?'), memory, processWords(process)];
	return [
		span(joinCells(cells, state), isSquatter ? 'warning' : 'plain'),
		...(isSquatter ? [span('  not the holder', 'warning')] : []),
	];
}

function processLines(row: StatusRow, state: State, rows: number): readonly Line[] {
	const processes = byMemory(row.processes);
	if (rows < 2 || processes.length === 0) {
		return [];
	}

	const room = rows - 1;
	const shown = processes.length > room ? room - 1 : processes.length;
	const more = processes.length - shown;
	return [
		[span(joinCells(['PID', 'USER', 'MEM', 'COMMAND'], state), 'heading')],
		...processes.slice(0, shown).map((process) => processLine(process, row, state)),
		...(more > 0 ? [[span(`and ${more} more`, 'dim')]] : []),
	];
}

/** At most `rows` lines: the holding, the model, the processes. */
export function detailLines(row: StatusRow | undefined, state: State, rows: number): readonly Line[] {
	if (row === undefined) {
		return [];
	}

	// With room, what is said at length gets lines of its own.
	const isRoomy = rows > 6;
	const {name, uuid} = row.reading ?? {};
	const model = [name, uuid].filter((part) => part !== undefined).map((part) => sanitize(part));
	const note = noteOf(row);
	const about: readonly Line[] = isRoomy
		? [holdingLine(row, state), ...(note.length > 0 ? [note] : []), [span(model.join('  '), 'dim')], []]
		: [joined([holdingLine(row, state), note])];
	const lines = [...about, ...processLines(row, state, rows - about.length)];
	return lines.slice(0, rows).map((line) => [span(' '), ...line]);
}

/** The shortest form, for a rule: the largest process, or else the holding. */
export function detailTitle(row: StatusRow | undefined, state: State): Line {
	if (row === undefined) {
		return [];
	}

	const [first] = byMemory(row.processes);
	const words =
		first === undefined
			? holdingLine(row, state)
			: [
					span(
						[
							first.pid,
							sanitize(first.user ?? '?'),
							first.memoryUsedMiB === undefined ? '' : gibibytes(first.memoryUsedMiB),
							processWords(first),
						].join(' '),
					),
				];
	return [span(`GPU ${row.index}: `, 'strong'), ...words];
}
