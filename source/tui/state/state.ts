/** The state of the monitor, which is never modified, and simple functions that read it. */
import {statusRows, type StatusRow} from '../../core/rules/pool/status.js';
import type {AuditEntry, Observation, Snapshot} from '../../core/model/types.js';
import type {Released} from '../../core/operations/undo.js';
import {emptyHistory, type UtilizationHistory} from '../../core/live/utilization-history.js';
import {emptyProcessHistory, type ProcessHistory} from '../../core/live/process-history.js';
import type {Host} from '../../core/model/ports.js';
import type {MonitorOptions, SeenHost} from '../ports.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import type {Appearance} from '../theme.js';
import {initialPanels, type PanelsState, type ShownPast, type ShownReport} from './panels/state.js';
import {initialTables} from './table/state.js';
import type {ViewState} from './view/state.js';
import type {Dialog} from './dialogs.js';
import {remembering} from './memo.js';
import type {Waiting, Flash} from './messages.js';
import type {TextField} from './text-field.js';

/** Time in ms for which a message is shown. Errors and reminders stay until a key is pressed. */
export const flashMs = 4000;

/** Settings of the monitor. The options dialog can change the appearance and the scan interval. The other settings stay the same. */
export type Settings = Appearance &
	Pick<
		MonitorOptions,
		'requester' | 'hostname' | 'poolLabel' | 'engine' | 'lacks' | 'isReadonly' | 'keys' | 'otherHosts' | 'hasNoPool'
	> & {
		/** Returns which of the given Unix groups the user belongs to. The limits of these groups determine the default duration. */
		readonly groupsAmong?: Host['groupsAmong'];
		/** The location of the store, as it is shown to users. */
		readonly storeLocation: string;
		readonly hasMouse?: boolean;
		/** Whether the monitor handles the mouse from the start. Defaults to true. */
		readonly isMouseWanted?: boolean;
		/** Whether the terminal is GNU screen, which delays the Escape key while the monitor handles the mouse. */
		readonly isInGnuScreen?: boolean;
		/** Whether the screen consists of sentences for a screen reader. */
		readonly isLinear: boolean;
		readonly memoryThresholdMiB: number;
		readonly scanIntervalMs: number;
		/** Formats seconds since the epoch as a time of day, such as `14:32:07`. */
		readonly formatTime: (seconds: number) => string;
	};

export type Size = {readonly columns: number; readonly rows: number};

type Connection =
	| {readonly kind: 'connecting'}
	| {readonly kind: 'live'}
	| {readonly kind: 'lost'; readonly reason: string; readonly sinceMs: number};

export type SeenJobs = {
	readonly rows: readonly JobRow[];
	/** Why the jobs could not be read again. If set, the rows are old. */
	readonly problem?: string;
};

export type State = Readonly<typeof initialTables> & {
	readonly settings: Settings;
	readonly size: Size;
	/** The time of the monotonic clock at the last change of the state. */
	readonly nowMs: number;
	readonly connection: Connection;
	/** The last snapshot that was read. It is kept while the store is unreachable. */
	readonly snapshot?: Snapshot;
	readonly snapshotAtMs: number;
	/** The last scan that succeeded. It is kept if a later scan fails. */
	readonly observation?: Observation;
	readonly scanFailure?: {readonly message: string; readonly hint?: string; readonly sinceMs: number};
	readonly seenHosts: readonly SeenHost[];
	/** The jobs that were read last. Undefined until their panel is shown for the first time. */
	readonly seenJobs?: SeenJobs;
	readonly panels: PanelsState;
	readonly search: SearchState;
	readonly view: ViewState;
	/** Whether the monitor handles clicks and the wheel. Otherwise the terminal does. */
	readonly isMouseOn?: boolean;
	readonly history: UtilizationHistory;
	readonly processHistory: ProcessHistory;
	readonly events: Events;
	readonly report?: ShownReport;
	/** The load history of the pool, for graphs that begin before this session. */
	readonly past?: ShownPast;
	readonly dialog?: Dialog;
	readonly flash?: Flash;
	/** The newest message, which `v` shows even when it has disappeared. */
	readonly lastFlash?: Flash;
	/** The last release, and the time on the monotonic clock until which `z` can undo it. */
	readonly undo?: {readonly released: readonly Released[]; readonly untilMs: number};
	readonly waits: readonly Waiting[];
	readonly pause?: Pause;
};

/** The functions that return the state after an action of each kind. */
export type Handlers<Each extends {readonly kind: string}> = {
	readonly [Kind in Each['kind']]: (state: State, action: Extract<Each, {readonly kind: Kind}>) => State;
};

/** The search in tables and in the queue. It only moves the selection, and does not hide rows. */
export type SearchState = {
	/** The words that a row must contain, in upper or lower case. Empty before the first search. */
	readonly text: string;
	/** The text of the search while it is being typed. */
	readonly prompt?: TextField;
};

/** The number of events that are kept. `canhazgpu events` shows all events. */
export const mostEvents = 300;

type Events = {
	/** The events, oldest first. */
	readonly entries: readonly AuditEntry[];
	/** The newest errors that this monitor has shown. */
	readonly errors: ReadonlyArray<{readonly time: number; readonly text: string}>;
	/** Why the events cannot be read. */
	readonly problem?: string;
};

/** The values that do not change on the screen during a pause. */
export type Shown = Pick<
	State,
	'snapshot' | 'snapshotAtMs' | 'observation' | 'scanFailure' | 'history' | 'processHistory'
>;

/** `sinceMs` is the time of the values on the screen. `latest` has the values that would be shown without the pause. */
type Pause = {readonly sinceMs: number; readonly latest: Shown};

const graphWindowMs = 5 * 60 * 1000;

/** Returns a history without samples. If scans are less than a second apart, they are combined into one sample. */
export const emptyGraphs = (scanIntervalMs: number): UtilizationHistory =>
	emptyHistory({windowMs: graphWindowMs, stepMs: 1000, coverMs: Math.max(scanIntervalMs, 1000) * 2.5});

export const processStepMs = (scanIntervalMs: number): number => Math.max(scanIntervalMs, 1000);

export const initialState = (settings: Settings, size: Size, nowMs: number, flash?: Flash): State => ({
	settings,
	size,
	nowMs,
	connection: {kind: 'connecting'},
	snapshotAtMs: nowMs,
	...initialTables,
	seenHosts: [],
	panels: settings.hasNoPool === true ? {...initialPanels, focus: 'hosts'} : initialPanels,
	search: {text: ''},
	view: {preset: 'default', remembered: {}},
	history: emptyGraphs(settings.scanIntervalMs),
	processHistory: emptyProcessHistory(processStepMs(settings.scanIntervalMs)),
	events: {entries: [], errors: []},
	waits: [],
	isMouseOn: settings.hasMouse === true && settings.isMouseWanted !== false,
	flash,
	lastFlash: flash,
});

/** Returns the time of the values on the screen: the current time, or the start of the pause. */
const shownMs = ({nowMs, pause}: State): number => pause?.sinceMs ?? nowMs;

/** Returns the time of the store's clock for the values on the screen, computed from the last read. Undefined before the first read. */
export const storeNow = (state: State): number | undefined =>
	state.snapshot && state.snapshot.now + Math.max(0, shownMs(state) - state.snapshotAtMs) / 1000;

export const gpuCountOf = ({snapshot}: State): number => snapshot?.gpus.length ?? 0;

/** Returns a scan without readings, which is used until the first scan succeeds. */
const notScanned = (message: string): Observation => ({
	provider: 'fake',
	takenAtMs: 0,
	simulated: false,
	gpus: [],
	failure: {message},
	warnings: [],
});

/** Returns a row for each GPU, by index. Between two reads, the times of reservations advance with the clock. */
export const rowsOf = remembering(
	(state: State) => [
		state.snapshot,
		state.snapshotAtMs,
		state.observation,
		state.scanFailure,
		state.settings,
		shownMs(state),
	],
	(state): readonly StatusRow[] => {
		const {snapshot, observation, scanFailure, settings} = state;
		return snapshot === undefined
			? []
			: statusRows(
					{...snapshot, now: storeNow(state)!},
					observation ?? notScanned(scanFailure?.message ?? 'not scanned yet'),
					settings.memoryThresholdMiB,
				);
	},
);

export const withFlash = (state: State, level: Flash['level'], text: string): State => ({
	...state,
	flash: {level, text, untilMs: state.nowMs + flashMs},
});
