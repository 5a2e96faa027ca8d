/** Everything that can change the state. An action that a key causes has the name of the key's intent. */
import type {AuditEntry, Observation, Snapshot} from '../../core/model/types.js';
import type {SeenHost} from '../ports.js';
import type {PanelIntent, PanelUpdate} from './panels/reduce.js';
import type {tableIntents} from './table/tables.js';
import type {SearchIntent} from './search.js';
import type {OptionIntent} from './view/options.js';
import type {ViewIntent} from './view/reduce.js';
import type {Answer} from './answers.js';
import type {FormAction, FormIntent} from './form.js';
import type {SeenJobs, Size} from './state.js';
import type {ShownPast, ShownReport} from './panels/state.js';
import type {PointerAction} from './mouse.js';
import type {CommandLineIntent} from './command-line/reduce.js';

/** Updates from the clock, the terminal, the store and the GPUs. `nowMs` is the time of the monotonic clock. */
export type LiveUpdate =
	| PanelUpdate
	/** Everything that is known about the other hosts. */
	| {readonly kind: 'hosts-arrived'; readonly known: readonly SeenHost[]; readonly nowMs: number}
	/** All events that are known. */
	| {readonly kind: 'events-arrived'; readonly entries: readonly AuditEntry[]}
	| {readonly kind: 'events-lost'; readonly reason: string}
	| {readonly kind: 'report-arrived'; readonly report: ShownReport}
	| {readonly kind: 'past-arrived'; readonly past: ShownPast}
	| {readonly kind: 'jobs-arrived'; readonly jobs: SeenJobs}
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	/** The store has been unreachable since `sinceMs`. The values on the screen are from that time. */
	| {readonly kind: 'store-lost'; readonly reason: string; readonly nowMs: number; readonly sinceMs: number}
	| {readonly kind: 'scan-arrived'; readonly observation: Observation; readonly nowMs: number};

export type Action = LiveUpdate | Answer | FormAction | PointerAction | {readonly kind: StateIntent | 'key-pressed'};

export type Dispatch = (action: Action) => void;

export type DialogIntent =
	| 'open-help'
	| 'close-dialog'
	| 'toggle-pause'
	| 'toggle-mouse'
	| 'open-process'
	| 'next-process'
	| 'previous-process'
	| CommandLineIntent;

/** The intents that change the state. For each, the reducer has a handler of the same name. */
type StateIntent = DialogIntent | keyof typeof tableIntents | PanelIntent | ViewIntent | OptionIntent | SearchIntent;

/** The intents that act outside the state. The controller carries them out. */
export type OutwardIntent =
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** Submits a request. If the GPUs are not free, the request waits in the queue. */
	| 'submit-patiently'
	| 'copy-shell-command'
	/** Runs the command line that belongs to the chosen line of an output. */
	| 'open-line'
	| 'complete';

export type Intent = StateIntent | FormIntent | OutwardIntent;
