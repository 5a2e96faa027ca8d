/**
Themes for color-blind people. The colors of the states differ as much as possible for all three kinds of color blindness and for normal vision,
according to the model of Machado, Oliveira and Fernandes (2009).
*/
import {gradient, loadStyles, type BaseStyles} from './styles.js';
import {onDark, onLight} from './usual.js';

export const safeOnDark: BaseStyles = {
	...onDark,
	dim: {color: '#a0a0a0'},
	frame: {color: '#808080'},
	focus: {color: '#8ab4d8'},
	free: {color: '#65ffb9', bold: true},
	mine: {color: '#de32ff', bold: true},
	others: {color: '#708da2'},
	warning: {color: '#ffff00', bold: true},
	error: {color: '#ff4137', bold: true},
	...loadStyles({
		load: gradient([80, 130, 200], [130, 170, 200], [240, 220, 80], [255, 120, 60]),
		memory: gradient([160, 120, 200], [190, 140, 225], [222, 160, 255]),
	}),
};

export const safeOnLight: BaseStyles = {
	...onLight,
	free: {color: '#1f7579', bold: true},
	mine: {color: '#c600e1', bold: true},
	others: {color: '#0a0a50'},
	warning: {color: '#766d05', bold: true},
	error: {color: '#5a0000', bold: true},
	...loadStyles({
		load: gradient([20, 60, 140], [50, 80, 110], [110, 95, 0], [140, 40, 0]),
		memory: gradient([120, 60, 150], [140, 40, 170], [160, 0, 190]),
	}),
};
