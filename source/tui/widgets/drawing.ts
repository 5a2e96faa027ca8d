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
