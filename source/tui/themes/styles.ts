/** Parts from which themes are built: a style for each tone (the role of a text), and colors for loads. */
import type {TextProps} from 'ink';
import {loadTone, type LoadTone, type Tone} from './tones.js';

export type Style = Pick<TextProps, 'color' | 'backgroundColor' | 'bold' | 'dimColor' | 'inverse'>;

export type Styles = Readonly<Record<Tone, Style>>;

/** The styles that each theme defines. {@link completed} derives the other styles from them. */
export type BaseStyles = Omit<Styles, 'strong' | 'heading' | 'success' | 'key' | 'marked'>;

/** Adds the styles that are derived from others, so that related tones look similar in every theme. */
export const completed = (base: BaseStyles): Styles => ({
	...base,
	strong: {...base.plain, bold: true},
	heading: {...base.plain, bold: true},
	success: base.free,
	key: {...base.focus, bold: true},
	marked: {inverse: true},
});

const busyShare = 0.6;
const hotShare = 0.85;

export type Colors = {
	readonly load: (share: number) => string;
	readonly memory: (share: number) => string;
};

const tenths = Array.from({length: 11}, (_, tenth) => tenth / 10);

export const loadStyles = ({load, memory}: Colors): Readonly<Record<LoadTone, Style>> =>
	Object.fromEntries(
		tenths.flatMap((share) => [
			[loadTone('load', share), {color: load(share)}],
			[loadTone('memory', share), {color: memory(share)}],
		]),
	) as Readonly<Record<LoadTone, Style>>;

export const inThree =
	(calm: string, busy: string, hot: string) =>
	(share: number): string =>
		share < busyShare ? calm : share < hotShare ? busy : hot;

type Rgb = readonly [red: number, green: number, blue: number];

/** Returns a function that interpolates between colors, which are evenly spaced from share 0 to share 1. */
export const gradient =
	(...stops: readonly Rgb[]) =>
	(share: number): string => {
		const position = share * (stops.length - 1);
		const from = Math.min(stops.length - 2, Math.floor(position));
		const part = position - from;
		const mixed = stops[from]!.map((value, channel) => Math.round(value + (stops[from + 1]![channel]! - value) * part));
		return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
	};
