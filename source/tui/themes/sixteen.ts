/**
The themes where the terminal has 16 colours alone. Exact colours would be rounded to its own there: a dark green to black, an amber to red.
*/
import {inThree, loadStyles, type Styles} from './styles.js';
import {onDark} from './usual.js';

/** Green, yellow and cyan of most terminals vanish on white: what is wrong is red, and bold where it is worse. */
export const sixteenOnLight: Styles = {
	...onDark,
	dim: {color: 'gray'},
	frame: {color: 'gray'},
	focus: {},
	free: {bold: true},
	mine: {color: 'magenta', bold: true},
	warning: {color: 'red'},
	error: {color: 'red', bold: true},
	success: {bold: true},
	key: {bold: true},
	...loadStyles({load: inThree('black', 'red', 'red'), memory: () => 'blue'}),
};

/** Nothing is faint, and only what stands out most has a hue. */
export const sixteenContrastOnDark: Styles = {
	...onDark,
	plain: {color: 'whiteBright'},
	strong: {color: 'whiteBright', bold: true},
	dim: {color: 'white'},
	frame: {color: 'white'},
	focus: {color: 'cyanBright', bold: true},
	heading: {color: 'whiteBright', bold: true},
	free: {color: 'greenBright', bold: true},
	mine: {color: 'magentaBright', bold: true},
	others: {color: 'whiteBright'},
	warning: {color: 'yellowBright', bold: true},
	error: {color: 'redBright', bold: true},
	success: {color: 'greenBright', bold: true},
	key: {color: 'cyanBright', bold: true},
	...loadStyles({load: inThree('greenBright', 'yellowBright', 'redBright'), memory: () => 'whiteBright'}),
};

export const sixteenContrastOnLight: Styles = {
	...onDark,
	plain: {color: 'black'},
	strong: {color: 'black', bold: true},
	dim: {color: 'black'},
	frame: {color: 'black'},
	focus: {color: 'blue', bold: true},
	heading: {color: 'black', bold: true},
	free: {color: 'black', bold: true},
	mine: {color: 'magenta', bold: true},
	others: {color: 'black'},
	warning: {color: 'red'},
	error: {color: 'red', bold: true},
	success: {color: 'black', bold: true},
	key: {color: 'blue', bold: true},
	...loadStyles({load: inThree('black', 'red', 'red'), memory: () => 'black'}),
};

/** Without green, which some eyes take for red. */
export const sixteenSafeOnDark: Styles = {
	...onDark,
	free: {color: 'cyanBright', bold: true},
	mine: {color: 'magentaBright', bold: true},
	warning: {color: 'yellowBright', bold: true},
	error: {color: 'redBright', bold: true},
	success: {color: 'cyanBright', bold: true},
	focus: {bold: true},
	key: {bold: true},
	...loadStyles({load: inThree('cyan', 'yellowBright', 'redBright'), memory: () => 'blueBright'}),
};
