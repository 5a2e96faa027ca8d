/** What rows and heads say in words: the state of a GPU, who has it, how many there are, and times of day. */
import {cautionOf, type FreeGpus, type StatusRow} from '../../../core/rules/pool/status.js';
import type {Requester} from '../../../core/model/types.js';
import {shortDuration} from '../../../format/text/durations.js';
import {freeText} from '../../../format/free-gpus.js';
import type {MonitorState} from '../../../format/states.js';
import {userText} from '../../../format/status-labels.js';
import {sanitize, shownNote} from '../../../format/text/text.js';
import {span, type Line, type Span, type Tone} from '../../widgets/styled-text.js';
import {storeNow, type State} from '../../state/state.js';
import {isMine, monitorStateOf, stateName} from '../../state/table/row-state.js';

/** An end nearer than this is marked. */
const soonSeconds = 15 * 60;

/** Whether a drain by hand is all that speaks against it. */
const isDrainedOnly = (row: StatusRow): boolean => row.health.length === 0 && row.problem === cautionOf(row);

/** What is wrong with it, in a row: a drain is no fault. */
export const faultOf = (row: StatusRow): string | undefined => (isDrainedOnly(row) ? undefined : row.problem);

/** What is wrong with it beyond what {@link serviceText} and its health say. */
export function otherFaultOf(row: StatusRow): string | undefined {
	const {problem, use, health} = row;
	if (problem === undefined || problem === cautionOf(row)) {
		return undefined;
	}

	const isUnread = (use.kind === 'failed' || use.kind === 'unknown') && problem.includes(use.why);
	const words = isUnread ? use.why : problem;
	return health.some((known) => known.words.includes(words)) ? undefined : words;
}

/** What is wrong with a GPU that still answers, or why it was taken out of service. */
export function serviceText({drain, health}: Pick<StatusRow, 'drain' | 'health'>): Span | undefined {
	const [problem] = health;
	if (problem !== undefined) {
		return span(sanitize(problem.words), 'error');
	}

	if (drain === undefined) {
		return undefined;
	}

	const by = drain.by === undefined ? '' : ` by ${sanitize(drain.by)}`;
	return span(`drained${by}${drain.reason === undefined ? '' : `: ${sanitize(drain.reason)}`}`, 'warning');
}

/** What each state looks like. */
export const stateTones = {
	available: 'free',
	'in-use': 'others',
	mine: 'mine',
	idle: 'warning',
	waiting: 'others',
	unreserved: 'warning',
	drained: 'dim',
	error: 'error',
	unknown: 'dim',
} as const satisfies Readonly<Record<MonitorState, Tone>>;

/** The column STATE. */
export function stateWord(row: StatusRow, requester: Requester, isScanned: boolean): Span {
	return span(stateName(row, requester, isScanned), stateTones[monitorStateOf(row, requester, isScanned)]);
}

export function ownerText(row: StatusRow, requester: Requester): Span {
	if (row.owner !== undefined || row.shares !== undefined) {
		return span(userText(row), isMine(row, requester) ? 'mine' : 'plain');
	}

	// The question mark: they use it, and nothing says that they may.
	return row.state === 'unreserved' ? span(`${userText(row)}?`, 'warning') : span('-', 'dim');
}

/** What its holder says of it; empty without a note. */
export const noteText = ({lease}: Pick<StatusRow, 'lease'>): string => sanitize(shownNote(lease?.note ?? ''));

/** The tool reports no processes there, as in a container: none shown does not mean that there are none. */
export const areProcessesHidden = ({reading}: StatusRow): boolean =>
	reading !== undefined &&
	reading.failure === undefined &&
	reading.processes === undefined &&
	reading.isUnread !== true;

/** `GPU 1 of box2`: a GPU of a cluster, as its own node numbers it. */
export const placeText = ({reading}: StatusRow): string | undefined =>
	reading?.place && `GPU ${reading.place.gpu} of ${sanitize(reading.place.node)}`;

/** When it ends: a time, or with its job. */
export function endText({lease, remainingSeconds}: StatusRow): Span {
	if (lease === undefined) {
		return span('-', 'dim');
	}

	if (lease.partialQueueId !== undefined) {
		return span('queued');
	}

	if (lease.isSuspended === true) {
		return span('paused', 'warning');
	}

	return remainingSeconds === undefined
		? span(lease.type === 'run' ? 'on-exit' : 'never')
		: timeLeftText(remainingSeconds);
}

/** How long until its end; one that is near is marked. */
export const timeLeftText = (seconds: number): Span =>
	seconds < soonSeconds ? span(`!${shortDuration(seconds)}`, 'warning') : span(shortDuration(seconds));

const secondsPerDay = 86_400;

/**
`14:44`; of another day `14:44+2d`, because a time of day alone would be taken for the nearest.

@param seconds - Since the epoch, on the store's clock.
*/
export function clockText(seconds: number, state: State): string {
	const days = Math.floor((seconds - (storeNow(state) ?? seconds)) / secondsPerDay);
	return state.settings.formatTime(seconds).slice(0, 5) + (days > 0 ? `+${days}d` : '');
}

/** What there is none of stays grey. */
export const countOf = (word: string, count: number, tone: Tone): Line => [
	span(`${word} ${count}`, count > 0 ? tone : 'dim'),
];

export const freeCountOf = (free: FreeGpus): Line => [
	span(`Free ${freeText(free)}`, free.whole + free.split > 0 ? 'free' : 'dim'),
];

/** How long the screen has stood still. */
export const pauseBadge = ({pause, nowMs}: State): Line =>
	pause === undefined ? [] : [span(`[PAUSED ${shortDuration((nowMs - pause.sinceMs) / 1000)}]`, 'warning')];
