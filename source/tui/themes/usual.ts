/** The default themes: the terminal's own colors on a dark background, and colors that are readable on a light background. */
import {gradient, inThree, loadStyles, type Colors, type BaseStyles} from './styles.js';

export const darkGradients: Colors = {
	load: gradient([78, 186, 122], [120, 200, 100], [235, 190, 70], [240, 84, 84]),
	memory: gradient([100, 130, 215], [120, 155, 240], [150, 190, 255]),
};

export const lightGradients: Colors = {
	load: gradient([20, 110, 50], [60, 110, 20], [150, 90, 0], [176, 0, 0]),
	memory: gradient([75, 85, 200], [60, 60, 190], [45, 35, 170]),
};

/** Uses the terminal's own colors, which are readable for its user. All six hues have other meanings, so reservations of other users have none. */
export const onDark: BaseStyles = {
	plain: {},
	dim: {dimColor: true},
	frame: {dimColor: true},
	focus: {color: 'cyan'},
	free: {color: 'green', bold: true},
	mine: {color: 'magentaBright', bold: true},
	others: {},
	warning: {color: 'yellow', bold: true},
	error: {color: 'redBright', bold: true},
	...loadStyles({load: inThree('green', 'yellow', 'red'), memory: () => 'blueBright'}),
};

/** Avoids yellow, cyan and faint text, which are hard to see on white. */
export const onLight: BaseStyles = {
	...onDark,
	dim: {color: '#5f5f5f'},
	frame: {color: '#767676'},
	focus: {color: '#005f87'},
	free: {color: '#006600', bold: true},
	mine: {color: '#8700af', bold: true},
	warning: {color: '#8a4b00', bold: true},
	error: {color: '#b00000', bold: true},
	...loadStyles({load: inThree('#006600', '#8a4b00', '#b00000'), memory: () => '#3a3ac0'}),
};
