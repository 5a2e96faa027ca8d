/** What each tone of text looks like. States have colours, loads have none, and every colour stands beside a word. */
import type {TextProps} from 'ink';
import type {Tone} from './widgets/styled-text.js';

type Style = Pick<TextProps, 'color' | 'bold' | 'dimColor' | 'inverse'>;

/** Without colours, or those for letters on a dark or on a light ground. */
export type Theme = 'mono' | 'dark' | 'light';

/** The terminal's own colours: people have chosen them to be read. */
const onDark: Readonly<Record<Tone, Style>> = {
	plain: {},
	strong: {bold: true},
	dim: {dimColor: true},
	frame: {dimColor: true},
	focus: {color: 'cyan'},
	heading: {color: 'cyan'},
	free: {color: 'green', bold: true},
	mine: {color: 'cyan', bold: true},
	others: {color: 'blueBright'},
	warning: {color: 'yellow', bold: true},
	error: {color: 'redBright', bold: true},
	success: {color: 'green', bold: true},
	key: {color: 'cyan', bold: true},
	marked: {inverse: true},
};

/** Yellow, cyan and faint letters vanish on white. */
export const onLight: Readonly<Record<Tone, Style>> = {
	...onDark,
	dim: {color: '#5f5f5f'},
	frame: {color: '#767676'},
	focus: {color: '#005f87'},
	heading: {color: '#005f87'},
	free: {color: '#006600', bold: true},
	mine: {color: '#005f87', bold: true},
	others: {color: '#3a3ac0'},
	warning: {color: '#8a4b00', bold: true},
	error: {color: '#b00000', bold: true},
	success: {color: '#006600', bold: true},
	key: {color: '#005f87', bold: true},
};

export function styleOf(tone: Tone, theme: Theme): Style {
	switch (theme) {
		case 'dark': {
			return onDark[tone];
		}

		case 'light': {
			return onLight[tone];
		}

		case 'mono': {
			return {...onDark[tone], color: undefined};
		}
	}
}

export const themeOf = ({
	hasColor,
	isLight: onWhite,
}: {
	readonly hasColor: boolean;
	readonly isLight: boolean;
}): Theme => (hasColor ? (onWhite ? 'light' : 'dark') : 'mono');

/**
Whether the ground is light. The terminal itself is not asked: an answer that comes late would be taken for keys.

@param colors - COLORFGBG as some terminals set it: `0;15`, `0;default;15`.
*/
export function isLight(theme: 'auto' | 'dark' | 'light' = 'auto', colors = ''): boolean {
	const ground = /;(?<number>\d+)$/v.exec(colors)?.groups?.['number'];
	return theme === 'auto' ? ground !== undefined && (ground === '7' || Number(ground) > 8) : theme === 'light';
}
