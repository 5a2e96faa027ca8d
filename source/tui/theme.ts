/** The styles of each theme, by the tone (the role) of a text. States and loads have colors, and always a word or number beside the color. */
import {colorSchemes, type ColorScheme, type GraphCharacters, type ThemeName} from '../format/monitor-settings.js';
import {safeOnDark, safeOnLight} from './themes/color-blind.js';
import {contrastOnDark, contrastOnLight} from './themes/high-contrast.js';
import {sixteenContrastOnDark, sixteenContrastOnLight, sixteenOnLight, sixteenSafeOnDark} from './themes/sixteen.js';
import {completed, loadStyles, type BaseStyles, type Styles} from './themes/styles.js';
import {darkGradients, lightGradients, onDark, onLight} from './themes/usual.js';

const colored = {
	dark: onDark,
	light: onLight,
	'dark-gradient': {...onDark, ...loadStyles(darkGradients)},
	'light-gradient': {...onLight, ...loadStyles(lightGradients)},
	'high-contrast-dark': contrastOnDark,
	'high-contrast-light': contrastOnLight,
	'color-blind-dark': safeOnDark,
	'color-blind-light': safeOnLight,
	'light-16': sixteenOnLight,
	'high-contrast-dark-16': sixteenContrastOnDark,
	'high-contrast-light-16': sixteenContrastOnLight,
	'color-blind-dark-16': sixteenSafeOnDark,
};

export type Theme = 'mono' | keyof typeof colored;

const withoutColors = (styles: BaseStyles): BaseStyles =>
	Object.fromEntries(
		Object.entries(styles).map(([tone, style]) => [tone, {...style, color: undefined, backgroundColor: undefined}]),
	) as BaseStyles;

const styles = Object.fromEntries(
	Object.entries({...colored, mono: withoutColors(onDark)}).map(([theme, base]) => [theme, completed(base)]),
) as Readonly<Record<Theme, Styles>>;

export const stylesOf = (theme: Theme): Styles => styles[theme];

export type Appearance = {
	readonly isAscii: boolean;
	/** The characters of graphs. Defaults to braille. */
	readonly graphs?: GraphCharacters;
	readonly hasColor: boolean;
	readonly isLight: boolean;
	/** Whether the terminal shows exact colors, so that loads can have color gradients. */
	readonly hasGradients: boolean;
	readonly hasSixteenColors?: boolean;
	readonly scheme?: ColorScheme;
	/** The setting for the theme. `isLight` and `scheme` are derived from it. Defaults to `auto`. */
	readonly theme?: ThemeName;
	/** The value of COLORFGBG, which some terminals set to their colors. */
	readonly terminalColors?: string;
};

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

	// The terminal's own colors need no variant for a light background.
	if (scheme === 'terminal') {
		return 'dark';
	}

	if (scheme === 'usual') {
		return hasGradients ? `${ground}-gradient` : onWhite && hasSixteenColors ? 'light-16' : ground;
	}

	if (!hasSixteenColors) {
		return `${scheme}-${ground}`;
	}

	return scheme === 'high-contrast' ? `${scheme}-${ground}-16` : onWhite ? 'light-16' : 'color-blind-dark-16';
}

export const schemeOf = (theme: ThemeName = 'auto'): ColorScheme =>
	colorSchemes.find((scheme) => theme.startsWith(scheme)) ?? 'usual';

/** Whether the background is light, from `colors` (COLORFGBG, such as `0;15`). The terminal is not asked: a late answer would be read as keys. */
export function isLight(theme: ThemeName = 'auto', colors = ''): boolean {
	if (theme.endsWith('light') || theme.endsWith('dark')) {
		return theme.endsWith('light');
	}

	const ground = /;(?<number>\d+)$/v.exec(colors)?.groups?.['number'];
	return ground !== undefined && (ground === '7' || Number(ground) > 8);
}

export const withTheme = <Old extends Pick<Appearance, 'terminalColors'>>(
	appearance: Old,
	theme: ThemeName | undefined,
): Old & Pick<Appearance, 'theme' | 'isLight' | 'scheme'> => ({
	...appearance,
	theme,
	isLight: isLight(theme, appearance.terminalColors),
	scheme: schemeOf(theme),
});
