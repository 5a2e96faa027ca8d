/** A message at the foot of the screen. */
export type Flash = {
	readonly level: 'ok' | 'warning' | 'error';
	readonly text: string;
	/** The equivalent command. It is left out where there is no room. */
	readonly command?: string;
	/** The suggested next input. */
	readonly next?: string;
	/** On the monotonic clock. Undefined for a message that stays until a key is pressed. */
	readonly untilMs?: number;
};

/** A refusal shown inside the dialog, so that what was typed can be fixed. */
export type Complaint = {
	readonly message: string;
	readonly hint?: string;
	/** Whether the request can wait in the queue, because others have the GPUs now. */
	readonly canWait?: boolean;
};

/** A request of this monitor that waits in the queue. */
export type Waiting = {
	readonly id: number;
	/** The position in the queue, and what the request waits for. */
	readonly words: string;
};

export type WaitingUpdate =
	| {readonly kind: 'wait-went-on'; readonly id: number; readonly words: string}
	| {readonly kind: 'wait-ended'; readonly id: number; readonly flash: Flash};
