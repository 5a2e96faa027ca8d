/** A short message at the foot of the screen. */

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
