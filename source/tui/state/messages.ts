/** Messages of the monitor, at the foot of the screen and in its dialogs. */

/** A message to the user. */
export type Flash = {
	readonly level: 'ok' | 'warning' | 'error';
	readonly text: string;
	/** The equivalent command. It is left out where there is no room. */
	readonly command?: string;
	/** The suggested next input. */
	readonly next?: string;
	/** Monotonic. Undefined: it stays until a key is pressed. */
	readonly untilMs?: number;
};

/** A refusal shown inside the dialog, so that what was typed can be fixed. */
export type Complaint = {
	readonly message: string;
	readonly hint?: string;
	/** Others have the GPUs now: one can stand in the queue for them. */
	readonly canWait?: boolean;
};

/** A request of this monitor that waits in the queue. */
export type Waiting = {
	readonly id: number;
	/** How it goes: its position in the queue, what it waits for. */
	readonly words: string;
};

export type WaitingUpdate =
	| {readonly kind: 'wait-went-on'; readonly id: number; readonly words: string}
	| {readonly kind: 'wait-ended'; readonly id: number; readonly flash: Flash};
