/** What is known about the selected GPU, beyond its line in the table. */
import type {StatusRow} from '../../core/status.js';
import type {GpuProcess} from '../../core/types.js';
import {shortDuration} from '../../format/durations.js';
import {sanitize} from '../../format/text.js';
import {fit} from '../../format/width.js';
import {storeNow, type State} from '../state.js';
import {byMemory, gibibytes, processWords} from './readings.js';
import {isMine, ownerWords} from './row-words.js';
import {fitLine, joined, span, type Line} from './spans.js';

const noteOf = ({lease}: StatusRow): Line =>
	lease?.note === undefined || sanitize(lease.note) === '' ? [] : [span('note '), span(sanitize(lease.note), 'strong')];

function endOf(row: StatusRow, state: State): Line {
	const {lease, remainingSeconds, heartbeatAgeSeconds} = row;
	if (lease?.partialQueueId !== undefined) {
		return [span('held for its place in the queue until the rest is free')];
	}

	if (remainingSeconds !== undefined) {
		const at = state.settings.formatTime(storeNow(state)! + remainingSeconds).slice(0, 5);
		return [span(`ends in ${shortDuration(remainingSeconds)}${remainingSeconds < 86_400 ? ` at ${at}` : ''}`)];
	}

	const pid = lease?.job?.pid ?? lease?.holder?.pid;
	const heartbeat = heartbeatAgeSeconds === undefined ? '' : `  heartbeat ${shortDuration(heartbeatAgeSeconds)} ago`;
	return [span(`ends when ${pid === undefined ? 'its job' : pid} exits${heartbeat}`)];
}

/** Who has it, until when, and what they say about it. */
function holdingLine(row: StatusRow, state: State): Line {
	if (row.problem !== undefined && state.observation !== undefined) {
		return [span(sanitize(row.problem), 'error')];
	}

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
			return [span('not scanned yet', 'dim')];
		}

		case 'in-use': {
			return joined([
				[span(ownerWords(row, state.settings.requester).text, isMine(row, state.settings.requester) ? 'mine' : 'others')],
				[span(row.lease!.type === 'run' ? 'RUN' : 'MANUAL')],
				[span(`held ${shortDuration(row.heldSeconds ?? 0)}`)],
				endOf(row, state),
				noteOf(row),
			]);
		}
	}
}

const processColumns = (pid: string, user: string, memory: string, command: string, ellipsis: string): string =>
	[fit(pid, 8), fit(user, 10, 'start', ellipsis), fit(memory, 6, 'end'), command].join('  ');

function processLine(process: GpuProcess, row: StatusRow, ellipsis: string): Line {
	const isSquatter = row.squatters.includes(process);
	const text = processColumns(
		String(process.pid),
		sanitize(process.user ?? '?'),
		process.memoryUsedMiB === undefined ? 'N/A' : gibibytes(process.memoryUsedMiB),
		processWords(process),
		ellipsis,
	);
	return [span(text, isSquatter ? 'warning' : 'plain'), ...(isSquatter ? [span('  not the holder', 'warning')] : [])];
}

function processLines(row: StatusRow, rows: number, ellipsis: string): readonly Line[] {
	const processes = byMemory(row.processes);
	if (rows < 2 || processes.length === 0) {
		return [];
	}

	const room = rows - 1;
	const shown = processes.length > room ? room - 1 : processes.length;
	const more = processes.length - shown;
	return [
		[span(processColumns('PID', 'USER', 'MEM', 'COMMAND', ellipsis), 'heading')],
		...processes.slice(0, shown).map((process) => processLine(process, row, ellipsis)),
		...(more > 0 ? [[span(`and ${more} more`, 'dim')]] : []),
	];
}

/** At most `rows` lines: the holding, the model, the processes. */
export function detailLines(row: StatusRow | undefined, state: State, width: number, rows: number, ellipsis: string): readonly Line[] {
	if (row === undefined) {
		return [];
	}

	const {name, uuid} = row.reading ?? {};
	const model = [name, uuid].filter((part) => part !== undefined).map((part) => sanitize(part)).join('  ');
	const processes = processLines(row, rows - (rows > 5 ? 3 : 1), ellipsis);
	const lines: readonly Line[] = [
		holdingLine(row, state),
		...(rows > 5 ? [[span(model, 'dim')], []] : []),
		...processes,
	];
	return lines.slice(0, rows).map((line) => fitLine([span(' '), ...line], width, ellipsis));
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
