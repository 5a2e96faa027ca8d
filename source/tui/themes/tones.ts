/** Names for the looks of text. A theme defines a style for each tone. */

type Tenth = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** A share of utilization or memory, in tenths. */
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
	/** The selected row and the text caret. */
	| 'marked';

/**
Returns the tone of a share.

@param share - 0 to 1. Other values are clamped.
*/
export const loadTone = (of: 'load' | 'memory', share: number): LoadTone =>
	`${of}-${(share > 0 ? Math.min(10, Math.round(share * 10)) : 0) as Tenth}`;
