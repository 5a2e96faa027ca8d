/** The states of a GPU in words: one record for `top`, `status` and the web page. */
import type {GpuState, ShownState} from '../core/rules/pool/status.js';

/** What the monitor tells apart beyond the states of every face. */
export type MonitorState = ShownState | 'mine' | 'idle' | 'waiting' | 'unknown';

export type StateText = {
	/** For pages and legends. */
	readonly label: string;
	/** For a column of 10 characters. */
	readonly short: string;
	/** The word in `status` and its JSON, which scripts look for. */
	readonly script: string;
	/** One sentence for legends, without its full stop. */
	readonly meaning: string;
};

export const states: Readonly<Record<MonitorState, StateText>> = {
	available: {label: 'Free', short: 'Free', script: 'AVAILABLE', meaning: 'Anyone can reserve it'},
	'in-use': {label: 'Reserved', short: 'Reserved', script: 'IN_USE', meaning: 'Someone else holds it'},
	mine: {label: 'Mine', short: 'Mine', script: 'IN_USE', meaning: 'You hold it'},
	idle: {label: 'Idle', short: 'Idle', script: 'IN_USE', meaning: 'Reserved, but nothing runs on it'},
	waiting: {
		label: 'Waiting',
		short: 'Waiting',
		script: 'IN_USE',
		meaning: 'Held for an entry in the queue',
	},
	unreserved: {
		label: 'Used without reservation',
		short: 'Unreserved',
		script: 'UNRESERVED',
		meaning: 'In use, but not reserved',
	},
	drained: {label: 'Drained', short: 'Drained', script: 'ERROR', meaning: 'Taken out of service by hand'},
	error: {label: 'Error', short: 'Error', script: 'ERROR', meaning: 'Broken, unhealthy or unreadable'},
	unknown: {label: 'Unknown', short: 'Unknown', script: 'ERROR', meaning: 'The GPUs were not scanned yet'},
};

/** The state as scripts know it. */
export const stateText: Readonly<Record<GpuState, string>> = {
	available: states.available.script,
	'in-use': states['in-use'].script,
	unreserved: states.unreserved.script,
	error: states.error.script,
};
