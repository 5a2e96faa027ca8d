/** What each tone of text looks like. States have colours, loads have none, and every colour stands beside a word. */
import type {TextProps} from 'ink';
import type {Tone} from './view/spans.js';

type Style = Pick<TextProps, 'color' | 'bold' | 'dimColor' | 'inverse'>;

const styles: Readonly<Record<Tone, Style>> = {
	plain: {},
	strong: {bold: true},
	dim: {dimColor: true},
	frame: {dimColor: true},
	focus: {color: 'cyan'},
	heading: {color: 'cyan'},
	free: {color: 'green', bold: true},
	mine: {color: 'cyan', bold: true},
	others: {color: 'blue'},
	warning: {color: 'yellow', bold: true},
	error: {color: 'red', bold: true},
	success: {color: 'green', bold: true},
	key: {color: 'cyan', bold: true},
	marked: {inverse: true},
};

/** The same, without its colour where colours are not wanted. */
export const styleOf = (tone: Tone, hasColor: boolean): Style =>
	hasColor ? styles[tone] : {...styles[tone], color: undefined};
