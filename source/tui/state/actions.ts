/** Everything that can happen to the state. Actions are named as intents. */
import type {AuditEntry, Observation, Snapshot} from '../../core/model/types.js';
import type {PanelIntent, PanelUpdate} from './panels/reduce.js';
import type {SeenHost} from './hosts/state.js';
import type {tableIntents} from './table/tables.js';
import type {SearchIntent} from './search.js';
import type {OptionIntent} from './view/options.js';
import type {ViewIntent} from './view/reduce.js';
import type {Answer} from './answers.js';
import type {FormAction, FormIntent} from './form.js';
import type {Size} from './state.js';
import type {ShownPast, ShownReport} from './panels/state.js';
import type {PointerAction} from './mouse.js';
import type {CommandLineIntent} from './command-line/reduce.js';

/** News from the clock, the terminal, the store and the GPUs. `nowMs` is monotonic. */
export type LiveUpdate =
	| PanelUpdate
	/** Everything known about the other hosts. */
	| {readonly kind: 'hosts-arrived'; readonly known: readonly SeenHost[]; readonly nowMs: number}
	/** All known events. */
	| {readonly kind: 'events-arrived'; readonly entries: readonly AuditEntry[]}
	| {readonly kind: 'events-lost'; readonly reason: string}
	| {readonly kind: 'report-arrived'; readonly report: ShownReport}
	| {readonly kind: 'past-arrived'; readonly past: ShownPast}
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	/** The values on the screen were valid until `sinceMs`. */
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

/** Intents for the reducer, which has a handler of the same name for each. */
type StateIntent = DialogIntent | keyof typeof tableIntents | PanelIntent | ViewIntent | OptionIntent | SearchIntent;

/** Intents for the controller, which act outside the state. */
export type OutwardIntent =
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** Submits, and waits in the queue if necessary. */
	| 'submit-patiently'
	/** Copies the shell command that the dialog shows. */
	| 'copy-shell-command'
	/** Opens the target of the chosen output line. */
	| 'open-line'
	| 'complete';

/** Everything a key can do, by name. */
export type Intent = StateIntent | FormIntent | OutwardIntent;
