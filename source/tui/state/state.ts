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

/** How long a success, or a reason why not, is shown. */
export const flashMs = 4000;

/** Settings of the monitor. The options dialog changes the appearance and the scan interval, and the rest stays the same. */
export type Settings = Appearance &
	Pick<
		MonitorOptions,
		'requester' | 'hostname' | 'poolLabel' | 'engine' | 'lacks' | 'isReadonly' | 'keys' | 'otherHosts' | 'hasNoPool'
	> & {
		/** The location of the store, for people. */
		readonly storeLocation: string;
		/** The terminal may have a mouse. */
		readonly hasMouse?: boolean;
		/** Whether it is listened to at the beginning; true unless said otherwise. */
		readonly isMouseWanted?: boolean;
		/** Within the program screen, which holds Escape back while the mouse is listened to. */
		readonly isInGnuScreen?: boolean;
		/** For a screen reader: sentences, line by line, nothing side by side. */
		readonly isLinear: boolean;
		readonly memoryThresholdMiB: number;
		readonly scanIntervalMs: number;
		/** A time of day from seconds since the epoch: `14:32:07`. */
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
	/** The last one that was read; it stays when the store is lost. */
	readonly snapshot?: Snapshot;
	readonly snapshotAtMs: number;
	/** The last scan that succeeded; it stays when a later one fails. */
	readonly observation?: Observation;
	readonly scanFailure?: {readonly message: string; readonly hint?: string; readonly sinceMs: number};
	/** The table of GPUs. */
	readonly table: TableState<SortKey>;
	readonly processes: TableState<ProcessSortKey>;
	readonly queue: TableState<'position'>;
	readonly hosts: TableState<HostSortKey>;
	/** Other hosts that answered or failed at least once. */
	readonly seenHosts: readonly SeenHost[];
	readonly panels: PanelsState;
	readonly search: SearchState;
	/** The preset and the columns. */
	readonly view: ViewState;
	/** Clicks and the wheel come here, and are not the terminal's. */
	readonly isMouseOn?: boolean;
	/** The data of the graphs. */
	readonly history: UtilizationHistory;
	readonly processHistory: ProcessHistory;
	readonly events: Events;
	/** The last one that was asked for. */
	readonly report?: ShownReport;
	/** The data of graphs that go further back than this monitor has seen. */
	readonly past?: ShownPast;
	readonly dialog?: Dialog;
	readonly flash?: Flash;
	/** The release that `z` can undo, and until when on the monotonic clock. */
	readonly undo?: {readonly released: readonly Released[]; readonly untilMs: number};
	/** The queue entry of this monitor. */
	readonly waits: readonly Waiting[];
	/** The pause. Updates that arrive during it are kept for later. */
	readonly pause?: Pause;
};

/** The search in tables and the queue. It moves the selection, and hides no row. */
export type SearchState = {
	/** Words that a row must all hold, in any case. Empty before the first search. */
	readonly text: string;
	/** Whether the search is still being typed. */
	readonly prompt?: TextField;
};

/** So many events are kept; `canhazgpu events` has them all. */
export const mostEvents = 300;

/** The events that are shown: what happened to the pool, and what went wrong in this monitor. */
type Events = {
	/** Oldest first. */
	readonly entries: readonly AuditEntry[];
	/** Errors that were shown here. */
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

/** Returns the step of the graphs of processes. */
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

/** The moment that is shown: now, or when the pause began. */
const shownMs = ({nowMs, pause}: State): number => pause?.sinceMs ?? nowMs;

/** The store's clock at the moment that is shown, carried on from the last read. Undefined before the first. */
export const storeNow = (state: State): number | undefined =>
	state.snapshot && state.snapshot.now + Math.max(0, shownMs(state) - state.snapshotAtMs) / 1000;

export const gpuCountOf = ({snapshot}: State): number => snapshot?.gpus.length ?? 0;

/** Stands in for a scan until one has succeeded. */
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

/** Says something at the foot of the screen, for a few seconds. */
export const withFlash = (state: State, level: Flash['level'], text: string): State => ({
	...state,
	flash: {level, text, untilMs: state.nowMs + flashMs},
});
