/** What each tone of text looks like. States and loads have colours, and every colour stands beside a word or a number. */
import {colorSchemes, type ColorScheme, type GraphCharacters, type ThemeName} from '../format/monitor-settings.js';
import {safeOnDark, safeOnLight} from './themes/color-blind.js';
import {contrastOnDark, contrastOnLight} from './themes/high-contrast.js';
import {sixteenContrastOnDark, sixteenContrastOnLight, sixteenOnLight, sixteenSafeOnDark} from './themes/sixteen.js';
import {completed, loadStyles, type Style, type Styles} from './themes/styles.js';
import {darkGradients, lightGradients, onDark, onLight} from './themes/usual.js';
import type {Tone} from './themes/tones.js';

/** Without colours, or those for letters on a dark or on a light background; the usual ones in 16 colours or with gradients. */
export type Theme =
	| 'mono'
	| 'dark'
	| 'light'
	| 'dark-gradient'
	| 'light-gradient'
	| 'high-contrast-dark'
	| 'high-contrast-light'
	| 'color-blind-dark'
	| 'color-blind-light'
	| 'light-16'
	| 'high-contrast-dark-16'
	| 'high-contrast-light-16'
	| 'color-blind-dark-16';

const styles: Readonly<Record<Theme, Styles>> = {
	mono: Object.fromEntries(
		Object.entries(completed(onDark)).map(([tone, style]) => [
			tone,
			{...style, color: undefined, backgroundColor: undefined},
		]),
	) as Styles,
	dark: completed(onDark),
	light: completed(onLight),
	'dark-gradient': completed({...onDark, ...loadStyles(darkGradients)}),
	'light-gradient': completed({...onLight, ...loadStyles(lightGradients)}),
	'high-contrast-dark': completed(contrastOnDark),
	'high-contrast-light': completed(contrastOnLight),
	'color-blind-dark': completed(safeOnDark),
	'color-blind-light': completed(safeOnLight),
	'light-16': completed(sixteenOnLight),
	'high-contrast-dark-16': completed(sixteenContrastOnDark),
	'high-contrast-light-16': completed(sixteenContrastOnLight),
	'color-blind-dark-16': completed(sixteenSafeOnDark),
};

/** How every tone is drawn. */
export const stylesOf = (theme: Theme): Styles => styles[theme];

export const styleOf = (tone: Tone, theme: Theme): Style => styles[theme][tone];

/** What the terminal can show, and what the user chose for it. */
export type Appearance = {
	readonly isAscii: boolean;
	/** The characters of graphs; braille by default. */
	readonly graphs?: GraphCharacters;
	readonly hasColor: boolean;
	/** Dark letters on a light ground. */
	readonly isLight: boolean;
	/** The terminal shows any colour, and not only those of a palette. */
	readonly hasGradients: boolean;
	/** The palette has 16 colours. */
	readonly hasSixteenColors?: boolean;
	readonly scheme?: ColorScheme;
};

/** Returns the theme for a terminal. */
export function themeOf({
	hasColor,
	isLight: onWhite,
	hasGradients,
	hasSixteenColors = false,
	scheme = 'usual',
}: Omit<Appearance, 'isAscii' | 'graphs'>): Theme {
	const ground = onWhite ? 'light' : 'dark';
	if (!hasColor) {
		return 'mono';
	}

	switch (scheme) {
		// The palette of the terminal goes with its own ground.
		case 'terminal': {
			return 'dark';
		}

		case 'usual': {
			return hasGradients ? `${ground}-gradient` : onWhite && hasSixteenColors ? 'light-16' : ground;
		}

		case 'high-contrast': {
			return hasSixteenColors ? `${scheme}-${ground}-16` : `${scheme}-${ground}`;
		}

		case 'color-blind': {
			return hasSixteenColors ? (onWhite ? 'light-16' : 'color-blind-dark-16') : `${scheme}-${ground}`;
		}
	}
}

/** Which colours a theme of the config has. */
export const schemeOf = (theme: ThemeName = 'auto'): ColorScheme =>
	colorSchemes.find((scheme) => theme.startsWith(scheme)) ?? 'usual';

/**
Whether the background is light. The terminal itself is not asked: an answer that comes late would be taken for keys.

@param colors - COLORFGBG as some terminals set it: `0;15`, `0;default;15`.
*/
export function isLight(theme: ThemeName = 'auto', colors = ''): boolean {
	if (theme.endsWith('light') || theme.endsWith('dark')) {
		return theme.endsWith('light');
	}

	const ground = /;(?<number>\d+)$/v.exec(colors)?.groups?.['number'];
	return ground !== undefined && (ground === '7' || Number(ground) > 8);
}
