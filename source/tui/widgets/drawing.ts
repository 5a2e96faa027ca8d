/** What a screen can show, and what was chosen for it. */
import type {ColorScheme, GraphCharacters} from '../../format/monitor-settings.js';

export type Drawing = {
	readonly isAscii: boolean;
	/** What graphs are drawn with: braille unless said otherwise. */
	readonly graphs?: GraphCharacters;
	readonly hasColor: boolean;
	/** The terminal takes any colour, and not only those of a palette. */
	readonly hasGradients: boolean;
	/** The palette has 16 colours, and no exact ones can be had. */
	readonly hasSixteenColors?: boolean;
	/** Dark letters on a light ground. */
	readonly isLight: boolean;
	/** Colours other than the usual ones. */
	readonly scheme?: ColorScheme;
};

type Drawn = {readonly settings: Pick<Drawing, 'isAscii'>};

export type Glyphs = {
	readonly horizontal: string;
	readonly vertical: string;
	readonly topLeft: string;
	readonly topRight: string;
	readonly bottomLeft: string;
	readonly bottomRight: string;
	/** Where the frames of panels meet: named for where the lines lead that branch off. */
	readonly leftJoint: string;
	readonly rightJoint: string;
	readonly downJoint: string;
	readonly upJoint: string;
	readonly cross: string;
	readonly branch: string;
	readonly ellipsis: string;
	readonly caret: string;
};

const blocks: Glyphs = {
	horizontal: '─',
	vertical: '│',
	topLeft: '╭',
	topRight: '╮',
	bottomLeft: '╰',
	bottomRight: '╯',
	leftJoint: '├',
	rightJoint: '┤',
	downJoint: '┬',
	upJoint: '┴',
	cross: '┼',
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
	downJoint: '+',
	upJoint: '+',
	cross: '+',
	branch: '`-',
	ellipsis: '~',
	caret: '_',
};

export const glyphsOf = ({settings}: Drawn): Glyphs => (settings.isAscii ? ascii : blocks);

/** What stands for the rest of a text that was cut. */
export const ellipsisOf = (state: Drawn): string => glyphsOf(state).ellipsis;
