/** The state of the monitor, and simple selectors. All values are readonly. */
import {statusRows, type StatusRow} from '../../core/rules/pool/status.js';
import type {AuditEntry, Observation, Snapshot} from '../../core/model/types.js';
import type {Released} from '../../core/operations/undo.js';
import {emptyHistory, type UtilizationHistory} from '../../core/live/utilization-history.js';
import {emptyProcessHistory, type ProcessHistory} from '../../core/live/process-history.js';
import type {MonitorOptions} from '../ports.js';
import type {Appearance} from '../theme.js';
import {initialTable, type SortKey} from './gpus/state.js';
import {initialProcesses, type ProcessSortKey} from './processes/state.js';
import {initialPanels, type PanelsState, type ShownPast, type ShownReport} from './panels/state.js';
import {initialTableBy, type TableState} from './table/state.js';
import type {ViewState} from './view/state.js';
import type {Dialog} from './dialogs.js';
import {initialHosts, type HostSortKey, type SeenHost} from './hosts/state.js';
import {remembering} from './memo.js';
import type {Waiting, Flash} from './messages.js';
import type {TextField} from './text-field.js';

/** How long a success, or the reason for a refusal, is shown. */
export const flashMs = 4000;

/** Settings of the monitor. The options dialog changes the appearance and the scan interval, and the rest stays the same. */
export type Settings = Appearance &
	Pick<
		MonitorOptions,
		'requester' | 'hostname' | 'poolLabel' | 'engine' | 'lacks' | 'isReadonly' | 'keys' | 'otherHosts' | 'hasNoPool'
	> & {
		/** The store's location, in the form shown to users. */
		readonly storeLocation: string;
		/** Whether the terminal may have a mouse. */
		readonly hasMouse?: boolean;
		/** Whether the mouse is on at the start. Defaults to true. */
		readonly isMouseWanted?: boolean;
		/** Whether the terminal is GNU screen, which holds Escape back while the mouse is on. */
		readonly isInGnuScreen?: boolean;
		/** Whether the screen is sentences for a screen reader, line by line. */
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

export type State = {
	readonly settings: Settings;
	readonly size: Size;
	/** The monotonic clock at the last tick or arrival. */
	readonly nowMs: number;
	readonly connection: Connection;
	/** The last snapshot, which stays while the store is unreachable. */
	readonly snapshot?: Snapshot;
	readonly snapshotAtMs: number;
	/** The last successful scan, which stays after a later scan fails. */
	readonly observation?: Observation;
	readonly scanFailure?: {readonly message: string; readonly hint?: string; readonly sinceMs: number};
	readonly table: TableState<SortKey>;
	readonly processes: TableState<ProcessSortKey>;
	readonly queue: TableState<'position'>;
	readonly hosts: TableState<HostSortKey>;
	readonly seenHosts: readonly SeenHost[];
	readonly panels: PanelsState;
	readonly search: SearchState;
	readonly view: ViewState;
	/** Whether clicks and the wheel go to the monitor instead of the terminal. */
	readonly isMouseOn?: boolean;
	readonly history: UtilizationHistory;
	readonly processHistory: ProcessHistory;
	readonly events: Events;
	/** The last requested report. */
	readonly report?: ShownReport;
	/** The load history, for graphs that go further back than this session. */
	readonly past?: ShownPast;
	readonly dialog?: Dialog;
	readonly flash?: Flash;
	/** The release that `z` can undo, until a time on the monotonic clock. */
	readonly undo?: {readonly released: readonly Released[]; readonly untilMs: number};
	/** Requests of this monitor that wait in the queue. */
	readonly waits: readonly Waiting[];
	/** The pause. Updates that arrive during it are kept for later. */
	readonly pause?: Pause;
};

/** The search in tables and the queue. It moves the selection, and hides no row. */
export type SearchState = {
	/** Words that a row must all contain, ignoring case. Empty before the first search. */
	readonly text: string;
	/** The search being typed, if any. */
	readonly prompt?: TextField;
};

/** Number of events that are kept. `canhazgpu events` shows all. */
export const mostEvents = 300;

/** Events of the pool, and errors of this monitor. */
type Events = {
	/** Oldest first. */
	readonly entries: readonly AuditEntry[];
	/** The newest errors that this monitor has shown. */
	readonly errors: ReadonlyArray<{readonly time: number; readonly text: string}>;
	/** Why the entries cannot be read. */
	readonly problem?: string;
};

/** The values that a pause freezes. */
export type Shown = Pick<
	State,
	'snapshot' | 'snapshotAtMs' | 'observation' | 'scanFailure' | 'history' | 'processHistory'
>;

/** `sinceMs` is the time of the frozen values. `latest` is what would be shown otherwise. */
type Pause = {readonly sinceMs: number; readonly latest: Shown};

/** The time span of the graphs. */
const graphWindowMs = 5 * 60 * 1000;

/** Returns graphs without values. Scans less than a second apart become one sample. */
export const emptyGraphs = (scanIntervalMs: number): UtilizationHistory =>
	emptyHistory({windowMs: graphWindowMs, stepMs: 1000, coverMs: Math.max(scanIntervalMs, 1000) * 2.5});

export const processStepMs = (scanIntervalMs: number): number => Math.max(scanIntervalMs, 1000);

export const initialState = (settings: Settings, size: Size, nowMs: number, flash?: Flash): State => ({
	settings,
	size,
	nowMs,
	connection: {kind: 'connecting'},
	snapshotAtMs: nowMs,
	table: initialTable,
	processes: initialProcesses,
	queue: initialTableBy('position'),
	hosts: initialHosts,
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
});

/** The time that is shown: now, or the start of the pause. */
const shownMs = ({nowMs, pause}: State): number => pause?.sinceMs ?? nowMs;

/** Returns the store's clock at the time that is shown, continued from the last read. Undefined before the first read. */
export const storeNow = (state: State): number | undefined =>
	state.snapshot && state.snapshot.now + Math.max(0, shownMs(state) - state.snapshotAtMs) / 1000;

export const gpuCountOf = ({snapshot}: State): number => snapshot?.gpus.length ?? 0;

/** Returns a placeholder until the first successful scan. */
const notScanned = (message: string): Observation => ({
	provider: 'fake',
	takenAtMs: 0,
	simulated: false,
	gpus: [],
	failure: {message},
	warnings: [],
});

/** Returns a row for each GPU, by index. Held and remaining times advance between reads. */
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

/** Shows a message at the foot of the screen for a few seconds. */
export const withFlash = (state: State, level: Flash['level'], text: string): State => ({
	...state,
	flash: {level, text, untilMs: state.nowMs + flashMs},
});
