import type {HeldPart} from '../../core/rules/leases/holdings.js';

/** A message at the bottom of the screen. */
export type Flash = {
	readonly level: 'ok' | 'warning' | 'error';
	readonly text: string;
	/** The shell command with the same effect. It is left out if there is not enough room. */
	readonly command?: string;
	/** The command that the user should type next. */
	readonly next?: string;
	/** The time on the monotonic clock at which the message disappears. Undefined for a message that stays until a key is pressed. */
	readonly untilMs?: number;
	/** The reservations that a reminder is about. The reminder disappears when their ends have changed. */
	readonly reminded?: readonly HeldPart[];
};

/** Why a request was refused. Shown inside the dialog, so that the user can correct what was typed. */
export type Complaint = {
	readonly message: string;
	readonly hint?: string;
	/** Whether the request can wait in the queue, because other people have the GPUs now. */
	readonly canWait?: boolean;
};

/** A request of this monitor that is waiting in the queue. */
export type Waiting = {
	readonly id: number;
	/** The position in the queue, and what the request waits for. */
	readonly words: string;
};

export type WaitingUpdate =
	| {readonly kind: 'wait-went-on'; readonly id: number; readonly words: string}
	| {readonly kind: 'wait-ended'; readonly id: number; readonly flash: Flash};

export const complaintText = ({message, hint}: Pick<Complaint, 'message' | 'hint'>): string =>
	[message, hint].filter(Boolean).join('. ');
