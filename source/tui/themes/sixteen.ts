/**
The themes where the terminal has 16 colours alone. Exact colours would be rounded to its own there: a dark green to black, an amber to red.
*/
import {inThree, loadStyles, type BaseStyles} from './styles.js';
import {onDark} from './usual.js';

/** Green, yellow and cyan of most terminals vanish on white: what is wrong is red, and bold where it is worse. */
export const sixteenOnLight: BaseStyles = {
	...onDark,
	dim: {color: 'gray'},
	frame: {color: 'gray'},
	focus: {},
	free: {bold: true},
	mine: {color: 'magenta', bold: true},
	warning: {color: 'red'},
	error: {color: 'red', bold: true},
	...loadStyles({load: inThree('black', 'red', 'red'), memory: () => 'blue'}),
};

/** Nothing is faint, and only what stands out most has a hue. */
export const sixteenContrastOnDark: BaseStyles = {
	...onDark,
	plain: {color: 'whiteBright'},
	dim: {color: 'white'},
	frame: {color: 'white'},
	focus: {color: 'cyanBright', bold: true},
	free: {color: 'greenBright', bold: true},
	mine: {color: 'magentaBright', bold: true},
	others: {color: 'whiteBright'},
	warning: {color: 'yellowBright', bold: true},
	error: {color: 'redBright', bold: true},
	...loadStyles({load: inThree('greenBright', 'yellowBright', 'redBright'), memory: () => 'whiteBright'}),
};

export const sixteenContrastOnLight: BaseStyles = {
	...onDark,
	plain: {color: 'black'},
	dim: {color: 'black'},
	frame: {color: 'black'},
	focus: {color: 'blue', bold: true},
	free: {color: 'black', bold: true},
	mine: {color: 'magenta', bold: true},
	others: {color: 'black'},
	warning: {color: 'red'},
	error: {color: 'red', bold: true},
	...loadStyles({load: inThree('black', 'red', 'red'), memory: () => 'black'}),
};

/** Without green, which some eyes take for red. */
export const sixteenSafeOnDark: BaseStyles = {
	...onDark,
	free: {color: 'cyanBright', bold: true},
	mine: {color: 'magentaBright', bold: true},
	warning: {color: 'yellowBright', bold: true},
	error: {color: 'redBright', bold: true},
	focus: {bold: true},
	...loadStyles({load: inThree('cyan', 'yellowBright', 'redBright'), memory: () => 'blueBright'}),
};
