/** Themes with a contrast of at least 7 to 1 on black or on white. They have no faint text. */
import {gradient, loadStyles, type BaseStyles} from './styles.js';

export const contrastOnDark: BaseStyles = {
	plain: {color: '#ffffff'},
	dim: {color: '#d0d0d0'},
	frame: {color: '#ffffff'},
	focus: {color: '#7fffff', bold: true},
	free: {color: '#7fff7f', bold: true},
	mine: {color: '#ff9fff', bold: true},
	others: {color: '#ffffff'},
	warning: {color: '#ffff00', bold: true},
	error: {color: '#ff9090', bold: true},
	...loadStyles({
		load: gradient([140, 255, 140], [255, 255, 0], [255, 144, 144]),
		memory: gradient([160, 180, 255], [200, 212, 255]),
	}),
};

export const contrastOnLight: BaseStyles = {
	plain: {color: '#000000'},
	dim: {color: '#3a3a3a'},
	frame: {color: '#000000'},
	focus: {color: '#004a5a', bold: true},
	free: {color: '#004d00', bold: true},
	mine: {color: '#5a0080', bold: true},
	others: {color: '#000000'},
	warning: {color: '#5c3200', bold: true},
	error: {color: '#8a0000', bold: true},
	...loadStyles({
		load: gradient([0, 80, 0], [80, 60, 0], [138, 0, 0]),
		memory: gradient([30, 40, 140], [0, 0, 100]),
	}),
};
