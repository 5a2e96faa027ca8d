/** The characters that things are drawn with. */
import type {State} from '../state/state.js';

export type Glyphs = {
	readonly horizontal: string;
	readonly vertical: string;
	readonly topLeft: string;
	readonly topRight: string;
	readonly bottomLeft: string;
	readonly bottomRight: string;
	/** Where a panel's top edge meets the sides of the panel above it. */
	readonly leftJoint: string;
	readonly rightJoint: string;
	readonly branch: string;
	readonly ellipsis: string;
	readonly caret: string;
};

const blocks: Glyphs = {
	horizontal: '─',
	vertical: '│',
	topLeft: '┌',
	topRight: '┐',
	bottomLeft: '└',
	bottomRight: '┘',
	leftJoint: '├',
	rightJoint: '┤',
	branch: '└─',
	ellipsis: '…',
	caret: '█',
};

const ascii: Glyphs = {
	horizontal: '-',
	vertical: '|',
	topLeft: '+',
	topRight: '+',
	bottomLeft: '+',
	bottomRight: '+',
	leftJoint: '+',
	rightJoint: '+',
	branch: '`-',
	ellipsis: '~',
	caret: '_',
};

export const glyphsOf = ({settings}: Pick<State, 'settings'>): Glyphs => (settings.isAscii ? ascii : blocks);

/** What stands for the rest of a text that was cut. */
export const ellipsisOf = (state: Pick<State, 'settings'>): string => glyphsOf(state).ellipsis;

/**
A bar of exactly `columns`. One per cent shows at least a trace, what a driver keeps for itself does not, and what is below all
never looks full.

@param share - 0 to 1.
*/
export function bar(share: number, columns: number, isAscii: boolean): {filled: string; rest: string} {
	const inside = isAscii ? columns - 2 : columns;
	const clamped = Math.min(1, Math.max(0, share));
	const rounded = Math.round(clamped * inside);
	const least = clamped < 0.01 ? 0 : 1;
	const length = clamped === 1 ? inside : Math.min(inside - 1, Math.max(least, rounded));
	return isAscii
		? {filled: `[${'#'.repeat(length)}`, rest: `${'.'.repeat(inside - length)}]`}
		: {filled: '█'.repeat(length), rest: '░'.repeat(inside - length)};
}
