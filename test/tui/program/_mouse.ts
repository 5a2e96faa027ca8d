/** Mouse reports in the terminal's format. */
import {expect} from 'vitest';
import type {Terminal} from '../../_helpers/machine/terminal.js';

/** A cell, counted from 0. */
type Place = readonly [column: number, row: number];

export const mouseReport = (button: number, [column, row]: Place, end = 'M'): string =>
	`\u{1B}[<${button};${column + 1};${row + 1}${end}`;

/** The cell of a text on the screen. */
export function placeOf(top: Terminal, text: string): Place {
	const row = top.screen().findIndex((line) => line.includes(text));
	expect(row, `${text} in\n${top.screen().join('\n')}`).not.toBe(-1);
	return [top.screen()[row]!.indexOf(text), row];
}

/** A whole click, press and release, on a cell or on a text. */
export function click(top: Terminal, at: string | Place): void {
	const place = typeof at === 'string' ? placeOf(top, at) : at;
	top.write(mouseReport(0, place) + mouseReport(0, place, 'm'));
}
