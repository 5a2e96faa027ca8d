/** The panel of the selected GPU: what is known beyond its line in the table. */
import {owns} from '../../core/rules/leases/ownership.js';
import type {StatusRow} from '../../core/rules/pool/status.js';
import {unreservedText} from '../../format/status-labels.js';
import {holderText} from '../../format/owner.js';
import type {MigInstance} from '../../core/model/types.js';
import {instanceText} from '../../core/rules/mig/instances.js';
import {isOver, overText, sharesText, shareOwner, sharePart, sharedAmount} from '../../format/shares.js';
import {shortDuration} from '../../format/text/durations.js';
import {gpuRanges} from '../../format/text/gpu-list.js';
import {sanitize, shownNote} from '../../format/text/text.js';
import {widthOf} from '../../format/text/width.js';
import {selectedGpus, selectedRow} from '../state/table/rows.js';
import {storeNow, type State} from '../state/state.js';
import {graphRowsOf, layoutOf} from '../layout.js';
import type {Room} from '../regions.js';
import {ellipsisOf} from '../widgets/drawing.js';
import {block, rangeText, windowOf, type PanelBody} from '../widgets/panel-frames.js';
import {joined, lineWidth, span, type Line} from '../widgets/styled-text.js';
import {byMemory, gibibytes, processText, shortBusId} from '../../format/readings.js';
import {isMine} from '../state/table/row-state.js';
import {waitingOf} from '../state/panels/queue.js';
import {detailGraphs} from './shared/graphs.js';
import {processLines} from './shared/process-rows.js';
import {
	clockText,
	areProcessesHidden,
	otherFaultOf,
	ownerText,
	placeText,
	serviceText,
	stateWord,
} from './shared/labels.js';

const noteOf = ({lease}: Pick<StatusRow, 'lease'>): Line =>
	lease?.note === undefined || sanitize(lease.note) === ''
		? []
		: [span('note '), span(sanitize(shownNote(lease.note)), 'strong')];

function endOf(row: Pick<StatusRow, 'lease' | 'remainingSeconds' | 'heartbeatAgeSeconds'>, state: State): Line {
	const {lease, remainingSeconds, heartbeatAgeSeconds} = row;
	if (lease?.partialQueueId !== undefined) {
		return [span('held for its position in the queue until the rest is free')];
	}

	if (lease?.isSuspended === true) {
		return [span('suspended: its job stands still and keeps its GPUs', 'warning')];
	}

	const end =
		remainingSeconds === undefined
			? undefined
			: `ends in ${shortDuration(remainingSeconds)} at ${clockText(storeNow(state)! + remainingSeconds, state)}`;
	if (lease?.type === 'manual') {
		return [span(end ?? 'never ends')];
	}

	const pid = lease?.job?.pid ?? lease?.holder?.pid;
	const exit = `ends when ${pid ?? 'its job'} exits`;
	// What changes with every second is not read aloud.
	const isSilent = heartbeatAgeSeconds === undefined || state.settings.isLinear;
	const heartbeat = isSilent ? '' : `  heartbeat ${shortDuration(heartbeatAgeSeconds)}`;
	return [span(`${end === undefined ? exit : `${end}, or when ${pid ?? 'its job'} exits`}${heartbeat}`)];
}

/** A cluster does not say when a GPU was given back. */
function freeSince({freeSeconds, reading}: StatusRow): string {
	if (freeSeconds === undefined) {
		return reading?.place === undefined ? '  never used' : '';
	}

	return `  for ${shortDuration(freeSeconds)}`;
}

/** Who has it, until when, and what they say about it. */
function holdingLine(row: StatusRow, state: State): Line {
	const {requester} = state.settings;
	switch (row.state) {
		case 'available': {
			return [stateWord(row, requester, true), span(freeSince(row))];
		}

		case 'unreserved': {
			return row.use.kind === 'used' && row.use.isDirty === true
				? [stateWord(row, requester, true), span(`  ${unreservedText(row) ?? ''}`)]
				: [ownerText(row, requester), span('  uses it without a reservation')];
		}

		case 'error': {
			const isScanned = state.observation !== undefined;
			const fault = isScanned ? otherFaultOf(row) : row.problem;
			return joined([
				[stateWord(row, requester, isScanned)],
				fault === undefined ? [] : [span(sanitize(fault), isScanned ? 'error' : 'dim')],
			]);
		}

		case 'in-use': {
			return heldLine(row, state);
		}
	}
}

/** Who holds a GPU that is in use, what is wrong with it, and until when. */
function heldLine(row: StatusRow, state: State): Line {
	const {requester} = state.settings;
	const fault = state.observation === undefined ? undefined : otherFaultOf(row);
	// Where there is room, the table says how long it has been held.
	const held = layoutOf(state).isFramed ? [] : [span(`held ${shortDuration(row.heldSeconds ?? 0)}`)];
	return joined([
		[span(ownerText(row, requester).text, isMine(row, requester) ? 'mine' : 'others')],
		...(row.lease === undefined
			? [[sharedSpan(row, state)]]
			: [[span(row.lease.type === 'run' ? 'RUN' : 'MANUAL')], held]),
		fault === undefined ? [] : [span(sanitize(fault), 'error')],
		row.lease === undefined ? [] : endOf(row, state),
	]);
}

/** How much is shared out; where there is no room for a line a share, with all of them. */
const sharedSpan = (row: StatusRow, state: State) =>
	layoutOf(state).isFramed
		? span(sharedAmount(row))
		: span(
				sharesText(row, {isOverFirst: true}) ?? '',
				row.shares?.some((share) => isOver(share)) === true ? 'warning' : 'plain',
			);

/** One line a share: whose it is, how much, until when, and what for. */
const shareLines = ({index, shares = []}: StatusRow, state: State): readonly Line[] =>
	shares.map((share) => {
		const part = sharePart(share, index) + overText(share);
		return joined([
			[
				span(shareOwner(share), owns(state.settings.requester, share.lease) ? 'mine' : 'others'),
				...(part === '' ? [] : [span(` ${part}`, isOver(share) ? 'warning' : 'strong')]),
			],
			[span(share.lease.type === 'run' ? 'RUN' : 'MANUAL')],
			endOf(share, state),
			noteOf(share),
		]);
	});

/** Who in the queue waits for it: `#1 erin`, and as many more as there is room for. */
function waiterLines({index}: StatusRow, state: State, width: number): readonly Line[] {
	const waiters = waitingOf(state).filter(({blockers}) =>
		blockers.some(({kind, gpus}) => kind === 'lease' && gpus.includes(index)),
	);
	const names = waiters.flatMap(({position, entry}) => (entry ? [`#${position} ${holderText(entry)}`] : []));
	if (names.length === 0) {
		return [];
	}

	const title = 'in the queue for it: ';
	const some = (count: number): string =>
		names.slice(0, count).join(', ') + (count < names.length ? ` and ${names.length - count} more` : '');
	let count = names.length;
	while (count > 1 && widthOf(title + some(count)) > width) {
		count--;
	}

	return [[span(title, 'dim'), span(some(count))]];
}

/** Why no one new gets it: everything that is wrong with it, and since when it is drained. */
function serviceLines(row: StatusRow, state: State): readonly Line[] {
	const {drain, health} = row;
	const since = drain?.since;
	const ago = since === undefined ? '' : `, ${shortDuration(Math.max(0, (storeNow(state) ?? since) - since))} ago`;
	return [
		...health.map(({words}): Line => [span(sanitize(words), 'error')]),
		...(drain === undefined ? [] : [[serviceText({drain, health: []})!, span(ago)]]),
	];
}

/** What slows it down, and facts that hardly ever change. */
function factLines({reading}: StatusRow, state: State): readonly Line[] {
	if (reading === undefined) {
		return [];
	}

	const {throttleReasons = [], eccUncorrectedErrors, smClockMHz, memoryClockMHz, fanPercent, uuid, pciBusId} = reading;
	const driverVersion = state.observation?.driverVersion;
	const amount = (word: string, value: number | undefined, unit: string): string | undefined =>
		value === undefined ? undefined : `${word} ${Math.round(value)}${unit}`;
	const facts = [
		amount('SM', smClockMHz, 'MHz'),
		amount('memory', memoryClockMHz, 'MHz'),
		amount('fan', fanPercent, '%'),
		eccUncorrectedErrors === undefined || eccUncorrectedErrors === 0 ? undefined : `ECC errors ${eccUncorrectedErrors}`,
		reading.computeMode === 'Default' ? undefined : reading.computeMode,
		pciBusId === undefined ? undefined : shortBusId(pciBusId),
		driverVersion === undefined ? undefined : `driver ${driverVersion}`,
		// The longest comes last: Y copies it whole.
		uuid,
	];
	const known = facts.filter((fact) => fact !== undefined && fact !== '').map((fact) => sanitize(fact!));
	return [
		...(throttleReasons.length > 0
			? [[span('slowed down: ', 'warning'), span(sanitize(throttleReasons.join(', ')), 'warning')]]
			: []),
		...(known.length > 0 ? [[span(known.join('  '), 'dim')]] : []),
	];
}

function migLine(gpu: number, {number, profile, memoryUsedMiB, memoryTotalMiB, uuid}: MigInstance): Line {
	const used = memoryUsedMiB === undefined ? 'N/A' : gibibytes(memoryUsedMiB);
	const memory = memoryTotalMiB === undefined ? used : `${used}/${gibibytes(memoryTotalMiB)}`;
	const words = [`MIG ${instanceText({gpu, number})}`, sanitize(profile ?? ''), memory];
	return [span(words.filter(Boolean).join('  ')), span(uuid === undefined ? '' : `  ${sanitize(uuid)}`, 'dim')];
}

/** All there is to say, however long. Few rows have none to spare for titles. */
export function detailLines(state: State, room: Room): readonly Line[] {
	const row = selectedRow(state);
	if (row === undefined) {
		return [[span(' no GPU is shown', 'dim')]];
	}

	// Each line begins with a blank.
	const width = room.width - 1;
	const {migInstances = [], isMigEnabled} = row.reading ?? {};
	const mig: readonly Line[] =
		isMigEnabled === true && migInstances.length === 0
			? [[span('MIG is on, without an instance', 'dim')]]
			: migInstances.map((instance) => migLine(row.index, instance));
	const holding = holdingLine(row, state);
	const note = noteOf(row);
	const both = joined([holding, note]);
	const about = note.length === 0 || lineWidth(both) <= width ? [both] : [holding, note];
	return [
		...about,
		...shareLines(row, state),
		...serviceLines(row, state),
		...waiterLines(row, state, width),
		...processLines(row, state, {width, hasHead: room.rows > 4}),
		...(placeText(row) === undefined
			? []
			: [[span(`${placeText(row)}; what runs there is not read from here`, 'dim')]]),
		...(areProcessesHidden(row) ? [[span('the GPU tool tells no processes here: some may be hidden', 'dim')]] : []),
		...mig,
		...factLines(row, state),
	].map((line) => [span(' '), ...line]);
}

/** So many lines of words have their place beside the graphs, used or not. */
const steadyWords = 8;

export function detailPanel(state: State, {rows, width}: Room): PanelBody {
	const all = detailLines(state, {rows, width});
	// What the words do not need is the graphs', but a little room is kept: they shall not jump from GPU to GPU.
	const most = rows - graphRowsOf(rows);
	const shown = most === rows ? rows : Math.min(most, Math.max(all.length, steadyWords));
	const {from, to} = windowOf(state.panels.scroll.detail, {total: all.length, shown});
	const model = sanitize(selectedRow(state)?.reading?.name ?? '');
	return {
		beside: model === '' ? [] : [[span(model)]],
		end: rangeText(from, to, all.length),
		lines: [
			...block(all.slice(from, to), shown, width, ellipsisOf(state)),
			...detailGraphs(state, {rows: rows - shown, width}),
		],
	};
}

/** `GPU 0`, or `GPU 0 of 0-7` where its reservation has one row. */
export function amongText(index: number, state: State): string {
	const gpus = selectedGpus(state);
	return gpus.length > 1 ? `GPU ${index} of ${gpuRanges(gpus)}` : `GPU ${index}`;
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
							processText(first),
						].join(' '),
					),
				];
	return [span(`${amongText(row.index, state)}: `, 'strong'), ...words];
}
