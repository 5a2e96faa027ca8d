/** Everything that can happen to the state. Actions are named as intents. */
import type {Observation, Snapshot} from '../core/types.js';
import type {Complaint, Dialog} from './dialogs.js';
import type {FormAction} from './form.js';
import type {DialogIntent} from './keys.js';
import type {PanelIntent} from './panels/intents.js';
import type {ReportNews} from './report-feed.js';
import type {Flash, Size} from './state.js';
import type {TableIntent} from './table/intents.js';
import type {TrailNews} from './trail.js';

/** Time, the terminal, the store and the GPUs have their say. `nowMs` is monotonic. */
export type News =
	| TrailNews
	| ReportNews
	| {readonly kind: 'ticked'; readonly nowMs: number}
	| {readonly kind: 'resized'; readonly size: Size}
	| {readonly kind: 'snapshot-arrived'; readonly snapshot: Snapshot; readonly nowMs: number}
	| {readonly kind: 'store-lost'; readonly reason: string; readonly nowMs: number}
	| {readonly kind: 'scan-arrived'; readonly observation: Observation; readonly nowMs: number};

/** What became of a dialog. An answer names the one that asked, so that a late one touches no other. */
export type Answer =
	| {readonly kind: 'submitted'}
	| {readonly kind: 'refused'; readonly complaint: Complaint; readonly dialog: Dialog}
	| {readonly kind: 'done'; readonly flash: Flash; readonly dialog: Dialog};

export type Action =
	News | Answer | FormAction | {readonly kind: DialogIntent | TableIntent | PanelIntent | 'key-pressed'};
