import type {ShownState} from '../core/rules/pool/status.js';

/** The states in the monitor, which shows more than the other interfaces. */
export type MonitorState = ShownState | 'mine' | 'idle' | 'waiting' | 'unknown';

type StateText = {
	/** The word for pages and legends. */
	readonly label: string;
	/** The word for a column of 10 characters. */
	readonly short: string;
	/** A sentence without its period, for legends. */
	readonly meaning: string;
};

export const gpuStates: Readonly<Record<ShownState | 'waiting', StateText>> = {
	available: {label: 'Free', short: 'Free', meaning: 'Anyone can reserve it'},
	'in-use': {label: 'Reserved', short: 'Reserved', meaning: 'Someone else holds it'},
	waiting: {label: 'Waiting', short: 'Waiting', meaning: 'Held for an entry in the queue'},
	unreserved: {label: 'Used without reservation', short: 'Unreserved', meaning: 'In use, but not reserved'},
	drained: {label: 'Drained', short: 'Drained', meaning: 'Taken out of service by hand'},
	error: {label: 'Error', short: 'Error', meaning: 'Broken, unhealthy or unreadable'},
};

export const states: Readonly<Record<MonitorState, StateText>> = {
	...gpuStates,
	mine: {label: 'Mine', short: 'Mine', meaning: 'You hold it'},
	idle: {label: 'Idle', short: 'Idle', meaning: 'Reserved, but nothing runs on it'},
	unknown: {label: 'Unknown', short: 'Unknown', meaning: 'The GPUs were not scanned yet'},
};

/** The words for the states in `status` and its JSON, which scripts search for. */
export const stateText: Readonly<Record<MonitorState, string>> = {
	available: 'AVAILABLE',
	'in-use': 'IN_USE',
	mine: 'IN_USE',
	idle: 'IN_USE',
	waiting: 'IN_USE',
	unreserved: 'UNRESERVED',
	drained: 'ERROR',
	error: 'ERROR',
	unknown: 'ERROR',
};
