/** What the monitor says at the foot of the screen and in its dialogs. */

/** One message to the user. */
export type Flash = {
	readonly level: 'ok' | 'warning' | 'error';
	readonly text: string;
	/** A command that says the same. It gives way where there is no room for it. */
	readonly command?: string;
	/** What to type next. */
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

/** One request of this monitor that waits in the queue. */
export type Waiting = {
	readonly id: number;
	/** How it goes: its position in the queue, what it waits for. */
	readonly words: string;
};

export type WaitingUpdate =
	| {readonly kind: 'wait-went-on'; readonly id: number; readonly words: string}
	| {readonly kind: 'wait-ended'; readonly id: number; readonly flash: Flash};
