/** Bars of loads, in their colour. */
import type {Drawing} from './drawing.js';
import {barTone, loadTone, span, type Line} from './styled-text.js';

/** An eighth of a cell to seven eighths of it. */
const partsOfCell = [...'▏▎▍▌▋▊▉'];

/**
A bar of exactly `columns`, in eighths of a cell or in whole characters. One per cent shows at least a trace, what a driver keeps for itself
does not, and what is below all never looks full.

@param share - 0 to 1.
*/
export function bar(share: number, columns: number, isAscii: boolean): {filled: string; rest: string} {
	const cells = isAscii ? columns - 2 : columns;
	const steps = isAscii ? cells : cells * 8;
	const clamped = Math.min(1, Math.max(0, share));
	const least = clamped < 0.01 ? 0 : 1;
	const length = clamped === 1 ? steps : Math.min(steps - 1, Math.max(least, Math.round(clamped * steps)));
	if (isAscii) {
		return {filled: `[${'#'.repeat(length)}`, rest: `${'.'.repeat(cells - length)}]`};
	}

	const filled = '█'.repeat(Math.floor(length / 8)) + (partsOfCell[(length % 8) - 1] ?? '');
	return {filled, rest: '░'.repeat(cells - filled.length)};
}

type BarDrawing = Omit<Drawing, 'graphs' | 'isLight'>;

/** With colours of its own, a bar lies on a track; with those of a palette, which has no faint ground, the rest of it is dotted. */
const hasTrack = ({isAscii, hasColor, hasGradients, scheme}: BarDrawing): boolean =>
	!isAscii && hasColor && hasGradients && scheme !== 'terminal';

/**
A bar of exactly `columns` in the colour of its load.

@param share - 0 to 1.
*/
export function barSpans(of: 'load' | 'memory', share: number, columns: number, drawing: BarDrawing): Line {
	const tone = loadTone(of, share);
	const {filled, rest} = bar(share, columns, drawing.isAscii);
	return hasTrack(drawing)
		? [span(filled + ' '.repeat(rest.length), barTone(tone))]
		: [span(filled, tone), span(rest, 'dim')];
}
