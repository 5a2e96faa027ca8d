/** What each tone of text looks like. States and loads have colours, and every colour stands beside a word or a number. */
import type {TextProps} from 'ink';
import {loadTone, type LoadTone, type Tone} from './widgets/styled-text.js';

type Style = Pick<TextProps, 'color' | 'bold' | 'dimColor' | 'inverse'>;

type Styles = Readonly<Record<Tone, Style>>;

/** Without colours, or those for letters on a dark or on a light background, in 16 colours or with gradients. */
export type Theme = 'mono' | 'dark' | 'light' | 'dark-gradient' | 'light-gradient';

/** A share of the processors is calm, busy or hot from these shares on. */
const busyShare = 0.6;
const hotShare = 0.85;

type Colors = {readonly load: (share: number) => string; readonly memory: (share: number) => string};

const tenths = Array.from({length: 11}, (_, tenth) => tenth / 10);

const loadStyles = ({load, memory}: Colors): Readonly<Record<LoadTone, Style>> =>
	Object.fromEntries(
		tenths.flatMap((share) => [
			[loadTone('load', share), {color: load(share)}],
			[loadTone('memory', share), {color: memory(share)}],
		]),
	) as Readonly<Record<LoadTone, Style>>;

/** One of three colours. */
const inThree =
	(calm: string, busy: string, hot: string) =>
	(share: number): string =>
		share < busyShare ? calm : share < hotShare ? busy : hot;

type Rgb = readonly [red: number, green: number, blue: number];

/** A colour between those of a row, evenly spread from a share of 0 to one of 1. */
const gradient =
	(...stops: readonly Rgb[]) =>
	(share: number): string => {
		const place = share * (stops.length - 1);
		const from = Math.min(stops.length - 2, Math.floor(place));
		const part = place - from;
		const mixed = stops[from]!.map((value, channel) => Math.round(value + (stops[from + 1]![channel]! - value) * part));
		return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
	};

const darkGradients: Colors = {
	load: gradient([78, 186, 122], [120, 200, 100], [235, 190, 70], [240, 84, 84]),
	memory: gradient([70, 130, 180], [90, 175, 225], [125, 215, 255]),
};

const lightGradients: Colors = {
	load: gradient([20, 110, 50], [60, 110, 20], [150, 90, 0], [176, 0, 0]),
	memory: gradient([50, 110, 150], [25, 90, 140], [0, 70, 130]),
};

/** The terminal's own colours: people have chosen them to be read. */
const onDark: Styles = {
	plain: {},
	strong: {bold: true},
	dim: {dimColor: true},
	frame: {dimColor: true},
	focus: {color: 'cyan'},
	heading: {bold: true},
	free: {color: 'green', bold: true},
	mine: {color: 'magentaBright', bold: true},
	others: {color: 'blueBright'},
	warning: {color: 'yellow', bold: true},
	error: {color: 'redBright', bold: true},
	success: {color: 'green', bold: true},
	key: {color: 'cyan', bold: true},
	marked: {inverse: true},
	...loadStyles({load: inThree('green', 'yellow', 'red'), memory: () => 'cyan'}),
};

/** Yellow, cyan and faint letters vanish on white. */
const onLight: Styles = {
	...onDark,
	dim: {color: '#5f5f5f'},
	frame: {color: '#767676'},
	focus: {color: '#005f87'},
	free: {color: '#006600', bold: true},
	mine: {color: '#8700af', bold: true},
	others: {color: '#3a3ac0'},
	warning: {color: '#8a4b00', bold: true},
	error: {color: '#b00000', bold: true},
	success: {color: '#006600', bold: true},
	key: {color: '#005f87', bold: true},
	...loadStyles({load: inThree('#006600', '#8a4b00', '#b00000'), memory: () => '#005f87'}),
};

const styles: Readonly<Record<Theme, Styles>> = {
	mono: Object.fromEntries(
		Object.entries(onDark).map(([tone, style]) => [tone, {...style, color: undefined}]),
	) as Styles,
	dark: onDark,
	light: onLight,
	'dark-gradient': {...onDark, ...loadStyles(darkGradients)},
	'light-gradient': {...onLight, ...loadStyles(lightGradients)},
};

/** How every tone is drawn. */
export const stylesOf = (theme: Theme): Styles => styles[theme];

export const styleOf = (tone: Tone, theme: Theme): Style => styles[theme][tone];

type Abilities = {readonly hasColor: boolean; readonly isLight: boolean; readonly hasGradients: boolean};

export function themeOf({hasColor, isLight: onWhite, hasGradients}: Abilities): Theme {
	const ground = onWhite ? 'light' : 'dark';
	return hasColor ? (hasGradients ? `${ground}-gradient` : ground) : 'mono';
}

/**
Whether the background is light. The terminal itself is not asked: an answer that comes late would be taken for keys.

@param colors - COLORFGBG as some terminals set it: `0;15`, `0;default;15`.
*/
export function isLight(theme: 'auto' | 'dark' | 'light' = 'auto', colors = ''): boolean {
	const ground = /;(?<number>\d+)$/v.exec(colors)?.groups?.['number'];
	return theme === 'auto' ? ground !== undefined && (ground === '7' || Number(ground) > 8) : theme === 'light';
}
