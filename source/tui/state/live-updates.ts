/** Changes of the state that the clock, the terminal, the store and the GPUs cause. */
import type {AuditEntry, Observation, Snapshot, Requester} from '../../core/model/types.js';
import {sanitize} from '../../format/text/text.js';
import {recordedProcesses} from '../../core/live/process-history.js';
import type {Load} from '../../core/model/observation.js';
import {recorded} from '../../core/live/utilization-history.js';
import {gpusOf, holdingsIn, neededLeaseId, type HeldPart} from '../../core/rules/leases/holdings.js';
import {owns} from '../../core/rules/leases/ownership.js';
import {isOwnReturn, returnText} from '../../format/returns.js';
import {placesText} from '../../format/instances.js';
import {gpuRanges} from '../../format/text/gpu-list.js';
import {shellCommand} from '../../format/text/shell.js';
import {afterPanelUpdate, scrollTo} from './panels/reduce.js';
import {keyedProcesses} from './processes/state.js';
import {tagOf} from './gpus/fold.js';
import {outputRowsOf} from './command-line/reduce.js';
import {withRows} from './command-line/state.js';
import type {LiveUpdate} from './actions.js';
import {clockText} from './clock.js';
import {flashMs, mostEvents, type Handlers, type State} from './state.js';
import type {Flash} from './messages.js';

/** Returns a message if new events say that reservations of the user went back to the pool. The events that a monitor reads first are not new. */
function returnFlash(before: readonly AuditEntry[], now: readonly AuditEntry[], account: string): Flash | undefined {
	const added = before.length === 0 ? [] : now.slice(now.length - newEntries(before, now));
	const entry = added.findLast((each) => isOwnReturn(each, account));
	return (
		entry && {
			level: 'warning',
			text: returnText(entry.gpus, entry.reason),
			next: `canhazgpu reserve --gpus ${entry.gpus.length}`,
		}
	);
}

/** Adds new events at the top. If the user has scrolled down, the same events stay in view. */
function withEvents(state: State, entries: readonly AuditEntry[]): State {
	const flash = returnFlash(state.events.entries, entries, state.settings.requester.account) ?? state.flash;
	const arrived = {...state, flash, events: {...state.events, problem: undefined, entries}};
	const line = state.panels.scroll.events;
	return line === 0 ? arrived : scrollTo(arrived, 'events', line + newEntries(state.events.entries, entries));
}

/** Returns how many events are new. Returns 0 if the last event of `before` was removed. */
function newEntries(before: readonly AuditEntry[], now: readonly AuditEntry[]): number {
	const last = now.findLastIndex(({id}) => id === before.at(-1)?.id);
	return last === -1 ? 0 : now.length - 1 - last;
}

/** Returns the user's reservations whose present end was announced in a recorded reminder. */
const remindedIn = ({gpus}: Snapshot, requester: Requester): readonly HeldPart[] =>
	holdingsIn(gpus).filter(
		({lease}) => owns(requester, lease) && lease.remindedOf !== undefined && lease.remindedOf === lease.expiryTime,
	);

const hasSameEnd =
	(part: HeldPart) =>
	({index, lease}: HeldPart): boolean =>
		index === part.index && lease.leaseId === part.lease.leaseId && lease.expiryTime === part.lease.expiryTime;

/** Returns a message about reservations that end soon. Undefined if there are none. */
function reminderFlash(reminded: readonly HeldPart[], state: State, {gpus}: Snapshot): Flash | undefined {
	if (reminded.length === 0) {
		return undefined;
	}

	const indexes = gpusOf(reminded);
	const end = Math.min(...reminded.map(({lease}) => lease.expiryTime!));
	const leaseId = neededLeaseId(gpus, reminded, (lease) => owns(state.settings.requester, lease));
	const words = ['canhazgpu', 'extend', '--gpu-ids', gpuRanges(indexes)];
	return {
		level: 'warning',
		text: `your reservation of ${placesText(reminded)} ends at ${clockText(end, state)}`,
		next: shellCommand([...words, ...(leaseId === undefined ? [] : ['--lease', leaseId]), '--duration', '1h']),
		reminded,
	};
}

/** Shows reminders that were recorded since the last read, by this monitor or another program. Drops a shown reminder of reservations that have changed. */
function flashAfterRead(state: State, snapshot: Snapshot): Flash | undefined {
	const {
		snapshot: before,
		flash,
		settings: {requester},
	} = state;
	const known = before === undefined ? [] : remindedIn(before, requester);
	const reminded = remindedIn(snapshot, requester);
	const fresh = reminded.filter((part) => !known.some(hasSameEnd(part)));
	if (fresh.length > 0 || flash?.reminded === undefined) {
		return reminderFlash(fresh, state, snapshot) ?? flash;
	}

	const unchanged = flash.reminded.filter((part) => reminded.some(hasSameEnd(part)));
	return unchanged.length === flash.reminded.length ? flash : reminderFlash(unchanged, state, snapshot);
}

function withSnapshot(state: State, {snapshot, nowMs}: Update<'snapshot-arrived'>): State {
	const wasLost = state.connection.kind === 'lost' && state.snapshot !== undefined;
	return {
		...state,
		nowMs,
		snapshot,
		snapshotAtMs: nowMs,
		connection: {kind: 'live'},
		flash: wasLost
			? {level: 'ok', text: 'The store is back: everything was read again', untilMs: nowMs + flashMs}
			: flashAfterRead(state, snapshot),
	};
}

const loadsOfProcesses = ({gpus}: Observation): ReadonlyMap<string, Load> =>
	new Map(
		keyedProcesses(gpus.map((reading) => ({index: reading.index, reading, processes: reading.processes ?? []}))).map(
			({key, gpu, process: {utilizationPercent, memoryUsedMiB}}) => {
				const total = gpu.reading.memoryTotalMiB;
				return [
					key,
					{
						utilization: utilizationPercent === undefined ? undefined : utilizationPercent / 100,
						memory: memoryUsedMiB === undefined || total === undefined ? undefined : memoryUsedMiB / total,
					},
				];
			},
		),
	);

/** Applies a scan to the state. After a failed scan, keeps the earlier readings, whose age is shown. */
function withScan(state: State, {observation, nowMs}: Update<'scan-arrived'>): State {
	const {failure} = observation;
	if (failure === undefined) {
		return {
			...state,
			nowMs,
			observation,
			scanFailure: undefined,
			history: recorded(state.history, observation, {
				atMs: observation.takenAtMs,
				keyOf: (reading) => tagOf(reading.index, reading),
			}),
			processHistory: recordedProcesses(state.processHistory, loadsOfProcesses(observation), observation.takenAtMs),
		};
	}

	const sinceMs = state.scanFailure?.sinceMs ?? nowMs;
	return {
		...state,
		nowMs,
		scanFailure: {message: sanitize(failure.message), hint: sanitize(failure.hint ?? ''), sinceMs},
	};
}

function withSize(state: State, {size}: Update<'resized'>): State {
	const resized = {...state, size};
	const {dialog} = state;
	return dialog?.kind === 'output'
		? {...resized, dialog: withRows(dialog, {before: outputRowsOf(state), now: outputRowsOf(resized)})}
		: resized;
}

function withTick(state: State, {nowMs}: Update<'ticked'>): State {
	const isOver = state.flash?.untilMs !== undefined && state.flash.untilMs <= nowMs;
	const isTooLate = state.undo !== undefined && state.undo.untilMs <= nowMs;
	return {...state, nowMs, flash: isOver ? undefined : state.flash, undo: isTooLate ? undefined : state.undo};
}

function withoutStore(state: State, {reason, nowMs, sinceMs}: Update<'store-lost'>): State {
	const since = state.connection.kind === 'lost' ? state.connection.sinceMs : sinceMs;
	// Removes a message about an earlier success, because it would hide the reason for the outage.
	const flash = state.flash?.level === 'ok' ? undefined : state.flash;
	return {...state, nowMs, connection: {kind: 'lost', reason: sanitize(reason), sinceMs: since}, flash};
}

type Update<Kind extends LiveUpdate['kind']> = Extract<LiveUpdate, {kind: Kind}>;

export const updateHandlers: Handlers<LiveUpdate> = {
	ticked: withTick,
	resized: withSize,
	'snapshot-arrived': withSnapshot,
	'store-lost': withoutStore,
	'events-arrived': (state, {entries}) => withEvents(state, entries.slice(-mostEvents)),
	'events-lost': (state, {reason}) => ({...state, events: {...state.events, problem: reason}}),
	'scroll-limited': afterPanelUpdate,
	'report-arrived': (state, {report}) => ({...state, report}),
	'hosts-arrived': (state, {known, nowMs}) => ({...state, nowMs, seenHosts: known}),
	'jobs-arrived': (state, {jobs}) => ({...state, seenJobs: jobs}),
	'past-arrived': (state, {past}) => ({...state, past}),
	'scan-arrived': withScan,
};
