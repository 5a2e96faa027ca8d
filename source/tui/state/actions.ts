/** Everything that can happen to the state. Actions are named as intents. */
import type {Observation, Snapshot} from '../../core/model/types.js';
import type {DialogIntent} from './keys/intents.js';
import type {PanelIntent, PanelUpdate} from './panels/reduce.js';
import type {HostsIntent, HostsUpdate} from './hosts/reduce.js';
import type {TableIntent} from './table/reduce.js';
import type {SearchIntent} from './search/reduce.js';
import type {ViewIntent} from './view/reduce.js';
import type {Answer} from './answers.js';
import type {FormAction} from './form.js';
import type {Size} from './state.js';
import type {EventUpdates} from './events.js';
import type {PastUpdate} from './past.js';
import type {PointerAction} from './mouse/pointer.js';
import type {ReportUpdate} from './report.js';

/** Time, the terminal, the store and the GPUs have their say. `nowMs` is monotonic. */
export type LiveUpdate =
	| EventUpdates
	| PanelUpdate
	| ReportUpdate
	| HostsUpdate
	| PastUpdate
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	/** What is shown was true until `sinceMs`. */
	| {readonly kind: 'store-lost'; readonly reason: string; readonly nowMs: number; readonly sinceMs: number}
	| {readonly kind: 'scan-arrived'; readonly observation: Observation; readonly nowMs: number};

export type Action =
	| LiveUpdate
	| Answer
	| FormAction
	| PointerAction
	| {readonly kind: DialogIntent | TableIntent | PanelIntent | HostsIntent | ViewIntent | SearchIntent | 'key-pressed'};

export type Dispatch = (action: Action) => void;
