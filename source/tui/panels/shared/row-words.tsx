/** Texts about a GPU, for the table, the detail panel and the graphs. */
import type {ReactElement} from 'react';
import type {Parked, Warning} from '../../../core/rules/policy/idle-rules.js';
import type {Drain} from '../../../core/model/types.js';
import {cautionOf, type StatusRow} from '../../../core/rules/pool/status.js';
import {noteWords} from '../../../format/text/note.js';
import {beyondLimitText, idleSinceText, keptText, parkedText, shortIdleText} from '../../../format/idle-text.js';
import {roughDuration, shortDuration} from '../../../format/text/durations.js';
import type {MonitorState} from '../../../format/states.js';
import {userText} from '../../../format/status-labels.js';
import {sanitize} from '../../../format/text/text.js';
import {nameIn, severalLabels} from '../../state/labels.js';
import {storeNow, type State} from '../../state/state.js';
import {clockText} from '../../state/clock.js';
import {isMine, monitorStateOf, stateName} from '../../state/gpus/row-state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import type {Tone} from '../../themes/tones.js';
import {Label} from '../../widgets/label.js';

/** The end of a reservation is highlighted if less time than this remains. */
const soonSeconds = 15 * 60;

const isDrainedOnly = (row: StatusRow): boolean => row.health.length === 0 && row.problem === cautionOf(row);

/** Returns the fault of a GPU for its row in the table. A drain is not treated as a fault. */
export const faultOf = (row: StatusRow): string | undefined => (isDrainedOnly(row) ? undefined : row.problem);

/** Returns the fault of a GPU. Undefined if that fault is only a drain or a health problem. */
export function otherFaultOf(row: StatusRow): string | undefined {
	const {problem, use, health} = row;
	if (problem === undefined || problem === cautionOf(row)) {
		return undefined;
	}

	const isUnread = (use.kind === 'failed' || use.kind === 'unknown') && problem.includes(use.why);
	const words = isUnread ? use.why : problem;
	return health.some((known) => known.words.includes(words)) ? undefined : words;
}

export function drainText({by, reason}: Partial<Pick<Drain, 'by' | 'reason'>>): string {
	const who = by === undefined ? '' : ` by ${sanitize(by)}`;
	return `drained${who}${reason === undefined ? '' : `: ${sanitize(reason)}`}`;
}

/** Shows the fault of a GPU that still answers, or why the GPU is drained. */
export function ServiceWords({row}: {readonly row: StatusRow}): ReactElement | undefined {
	const [problem] = row.health;
	return problem === undefined ? (
		<Label tone="warning">{row.drain && drainText(row.drain)}</Label>
	) : (
		<Label tone="error">{sanitize(problem.words)}</Label>
	);
}

export const stateTones: Readonly<Record<MonitorState, Tone>> = {
	available: 'free',
	'in-use': 'others',
	mine: 'mine',
	idle: 'warning',
	waiting: 'others',
	unreserved: 'warning',
	drained: 'dim',
	error: 'error',
	unknown: 'dim',
};

export const useIsScanned = (): boolean => useMonitor(({observation}) => observation !== undefined);

export function StateWord({row}: {readonly row: StatusRow}): ReactElement {
	const {requester} = useSettings();
	const isScanned = useIsScanned();
	return (
		<Label tone={stateTones[monitorStateOf(row, requester, isScanned)]}>{stateName(row, requester, isScanned)}</Label>
	);
}

/** Returns the holder of a GPU. If nobody holds it, returns its users, followed by a question mark. */
export const ownerText = (row: StatusRow): string =>
	row.owner !== undefined || row.shares !== undefined
		? userText(row)
		: row.state === 'unreserved'
			? `${userText(row)}?`
			: '-';

export function OwnerName({row}: {readonly row: StatusRow}): ReactElement {
	const {requester} = useSettings();
	const isHeld = row.owner !== undefined || row.shares !== undefined;
	const tone = isHeld ? (isMine(row, requester) ? 'mine' : 'plain') : row.state === 'unreserved' ? 'warning' : 'dim';
	const accounts = useMonitor(severalLabels);
	const {owner: account, label} = row;
	return <Label tone={tone}>{account === undefined ? ownerText(row) : nameIn(accounts, {account, label})}</Label>;
}

export const noteText = ({lease}: Pick<StatusRow, 'lease'>): string => noteWords(lease ?? {});

/** Whether the GPU tool cannot see all processes, as in a container. Such a GPU may be in use even if no processes are shown. */
export const areProcessesHidden = ({reading}: StatusRow): boolean =>
	reading !== undefined &&
	reading.failure === undefined &&
	reading.processes === undefined &&
	reading.isUnread !== true;

/** Returns the place of a GPU on a cluster, such as `GPU 1 of box2`. */
export const placeText = ({reading}: StatusRow): string | undefined =>
	reading?.place && `GPU ${reading.place.gpu} of ${sanitize(reading.place.node)}`;

const isSoon = (seconds: number): boolean => seconds < soonSeconds;

/** Returns the time until a reservation ends. If the end is near, the text begins with a mark, as in `!12m`. */
const timeLeftText = (seconds: number): string => `${isSoon(seconds) ? '!' : ''}${shortDuration(seconds)}`;

export const TimeLeft = ({seconds}: {readonly seconds: number}): ReactElement => (
	<Label tone={isSoon(seconds) ? 'warning' : 'plain'}>{timeLeftText(seconds)}</Label>
);

/** Returns the remaining time of a reservation, or that the reservation ends with its job. */
export function endText({lease, remainingSeconds}: Pick<StatusRow, 'lease' | 'remainingSeconds'>): string {
	if (lease === undefined) {
		return '-';
	}

	if (lease.partialQueueId !== undefined) {
		return 'queued';
	}

	if (lease.isSuspended === true) {
		return 'paused';
	}

	return remainingSeconds === undefined ? (lease.type === 'run' ? 'on-exit' : 'never') : timeLeftText(remainingSeconds);
}

export function EndTime({row}: {readonly row: StatusRow}): ReactElement {
	const text = endText(row);
	return (
		<Label tone={text === '-' ? 'dim' : text === 'paused' || text.startsWith('!') ? 'warning' : 'plain'}>{text}</Label>
	);
}

type Returning = Pick<StatusRow, 'warning' | 'parked' | 'beyondLimit' | 'keepUntil'>;

export const hasIdleWords = ({warning, parked, beyondLimit, keepUntil}: Returning): boolean =>
	(warning ?? parked ?? beyondLimit ?? keepUntil) !== undefined;

function idleWordsOf({warning, parked, beyondLimit, keepUntil}: Returning, state: State): string {
	const clock = (time: number): string => clockText(time, state);
	const now = storeNow(state) ?? 0;
	return [
		warning && idleSinceText(warning, now, clock),
		parked && parkedText(parked, clock),
		beyondLimit && beyondLimitText(beyondLimit, now, clock),
		warning === undefined && keepUntil !== undefined ? keptText(keepUntil, clock) : undefined,
	]
		.filter((words) => words !== undefined)
		.join(', ');
}

/** Shows `idle since 11:04, goes back at 12:04 unless used`, `parked since 9:04 (no load)`, or `kept until 18:00 even if idle`. */
export function IdleWords({row}: {readonly row: Returning}): ReactElement {
	const words = useMonitor((state) => idleWordsOf(row, state));
	const isWarning = (row.warning ?? row.parked ?? row.beyondLimit) !== undefined;
	return <Label tone={isWarning ? 'warning' : 'plain'}>{words}</Label>;
}

/** Minimum width of `goes back if wanted`, in terminal columns. */
const wideColumns = 19;

type ShortProperties = {
	readonly row: {
		readonly warning?: Pick<Warning, 'deadline'> | undefined;
		readonly keepUntil?: number | undefined;
		readonly parked?: Parked | undefined;
		readonly isBeyondLimit?: boolean;
	};
	readonly width: number;
	/** The largest process on the GPU, shown after the other words. */
	readonly words?: string | undefined;
};

/** Returns what is unusual about the reservation of a GPU, such as `goes back at 12:04, beyond limit` or `parked 3h`. */
function marksOf({warning, parked, isBeyondLimit}: ShortProperties['row'], isNarrow: boolean, state: State): string {
	const now = storeNow(state) ?? 0;
	return [
		warning && shortIdleText(warning, now, (time) => clockText(time, state), isNarrow),
		isBeyondLimit === true ? 'beyond limit' : undefined,
		parked && `parked ${roughDuration(Math.max(0, now - parked.since))}`,
	]
		.filter((words) => words !== undefined)
		.join(', ');
}

/** Shows `goes back at 12:04`, `parked 3h` or `kept until 18:00`. In a narrow column, the text is shorter. */
export function ShortIdleWords({row, width, words}: ShortProperties): ReactElement | undefined {
	const {keepUntil} = row;
	const isNarrow = width < wideColumns;
	const marks = useMonitor((state) => marksOf(row, isNarrow, state));
	const kept = useMonitor((state) =>
		keepUntil === undefined ? undefined : `kept ${isNarrow ? 'to' : 'until'} ${clockText(keepUntil, state)}`,
	);
	if (marks !== '') {
		return <Label tone="warning">{words === undefined ? marks : `${marks}: ${words}`}</Label>;
	}

	return kept === undefined ? undefined : <Label>{kept}</Label>;
}
