/** Tones: the roles of text on the screen, such as a heading or a warning. A theme defines a style for each tone. */

type Tenth = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** The tone of a share of utilization or memory, in tenths. */
export type LoadTone = `load-${Tenth}` | `memory-${Tenth}`;

export type Tone =
	| LoadTone
	| 'plain'
	| 'strong'
	| 'dim'
	| 'frame'
	/** The border of the focused panel. */
	| 'focus'
	| 'heading'
	| 'free'
	| 'mine'
	| 'others'
	| 'warning'
	| 'error'
	| 'success'
	| 'key'
	/** The selected row, and the cursor in a text field. */
	| 'marked';

/** Returns the tone for a share of utilization or memory. Shares below 0 or above 1 are treated as 0 or 1. */
export const loadTone = (of: 'load' | 'memory', share: number): LoadTone =>
	`${of}-${(share > 0 ? Math.min(10, Math.round(share * 10)) : 0) as Tenth}`;
