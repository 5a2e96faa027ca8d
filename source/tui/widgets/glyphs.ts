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

/** An eighth of a cell to seven eighths of it. */
const partsOfCell = [...'▏▎▍▌▋▊▉'];

/**
A bar of exactly `columns`, in eighths of a cell or in whole characters. One per cent shows at least a trace, what a driver keeps for itself
does not, and what is below all never looks full.

@param share - 0 to 1.
*/
export function bar(share: number, columns: number, isAscii: boolean): {filled: string; rest: string} {
	const cells = isAscii ? columns - 2 : columns;
	const steps = isAscii ? cells : cells * 8;
	const clamped = Math.min(1, Math.max(0, share));
	const least = clamped < 0.01 ? 0 : 1;
	const length = clamped === 1 ? steps : Math.min(steps - 1, Math.max(least, Math.round(clamped * steps)));
	if (isAscii) {
		return {filled: `[${'#'.repeat(length)}`, rest: `${'.'.repeat(cells - length)}]`};
	}

	const filled = '█'.repeat(Math.floor(length / 8)) + (partsOfCell[(length % 8) - 1] ?? '');
	return {filled, rest: '░'.repeat(cells - filled.length)};
}
