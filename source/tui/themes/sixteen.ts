/** Themes for terminals with 16 colors. Such terminals replace exact colors with unsuitable ones: dark green with black, amber with red. */
import {inThree, loadStyles, type BaseStyles} from './styles.js';
import {onDark} from './usual.js';

/** Avoids green, yellow and cyan, which are hard to see on white in most terminals. Problems are red, and bold if they are severe. */
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

/** Has no faint text, and uses colors only for the most important tones. */
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

/** Has no green, because some people cannot tell it from red. */
export const sixteenSafeOnDark: BaseStyles = {
	...onDark,
	free: {color: 'cyanBright', bold: true},
	mine: {color: 'magentaBright', bold: true},
	warning: {color: 'yellowBright', bold: true},
	error: {color: 'redBright', bold: true},
	focus: {bold: true},
	...loadStyles({load: inThree('cyan', 'yellowBright', 'redBright'), memory: () => 'blueBright'}),
};
