/** Everything that can happen to the state. Actions are named as intents. */
import type {AuditEntry, Observation, Snapshot} from '../../core/model/types.js';
import type {PanelIntent, PanelUpdate} from './panels/reduce.js';
import type {HostsIntent, HostsUpdate} from './hosts/reduce.js';
import type {TableIntent} from './table/reduce.js';
import type {SearchIntent} from './search.js';
import type {ViewIntent} from './view/reduce.js';
import type {Answer} from './answers.js';
import type {FormAction, FormIntent} from './form.js';
import type {Size} from './state.js';
import type {ShownPast, ShownReport} from './panels/state.js';
import type {PointerAction} from './mouse.js';
import type {CommandLineIntent} from './command-line/reduce.js';

/** Time, the terminal, the store and the GPUs have their say. `nowMs` is monotonic. */
export type LiveUpdate =
	| PanelUpdate
	| HostsUpdate
	/** All events that are known. */
	| {readonly kind: 'events-arrived'; readonly entries: readonly AuditEntry[]}
	| {readonly kind: 'events-lost'; readonly reason: string}
	| {readonly kind: 'report-arrived'; readonly report: ShownReport}
	| {readonly kind: 'past-arrived'; readonly past: ShownPast}
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	/** What is shown was true until `sinceMs`. */
	| {readonly kind: 'store-lost'; readonly reason: string; readonly nowMs: number; readonly sinceMs: number}
	| {readonly kind: 'scan-arrived'; readonly observation: Observation; readonly nowMs: number};

export type Action = LiveUpdate | Answer | FormAction | PointerAction | {readonly kind: StateIntent | 'key-pressed'};

export type Dispatch = (action: Action) => void;

/** Opens and closes what stands over the panels. */
export type DialogIntent =
	| 'open-help'
	| 'close-dialog'
	| 'toggle-pause'
	| 'toggle-mouse'
	| 'open-process'
	| 'next-process'
	| 'previous-process'
	| CommandLineIntent;

/** What the user wants of the monitor's own state; the reducer knows it by the same name. */
type StateIntent = DialogIntent | TableIntent | PanelIntent | HostsIntent | ViewIntent | SearchIntent;

/** What reaches out of the state: the controller sees to it. */
type OutwardIntent =
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** The same, waiting in the queue when there are not enough. */
	| 'submit-patiently'
	/** What the chosen line of an output leads to. */
	| 'open-line'
	| 'complete';

/** What a key can lead to, by name. */
export type Intent = StateIntent | FormIntent | OutwardIntent;
