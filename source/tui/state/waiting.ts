/** What this monitor waits for in the queue. */

import type {Flash} from './flash.js';

/** One request of this monitor that waits in the queue. */
export type Waiting = {
	readonly id: number;
	/** How it goes: its place in the line, what it waits for. */
	readonly words: string;
};

export type WaitingUpdate =
	| {readonly kind: 'wait-went-on'; readonly id: number; readonly words: string}
	| {readonly kind: 'wait-ended'; readonly id: number; readonly flash: Flash};
