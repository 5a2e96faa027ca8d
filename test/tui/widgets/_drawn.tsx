/** Draws widgets alone, without a monitor. */
import type {ReactElement} from 'react';
import chalk from 'chalk';
import {render} from 'ink-testing-library';
import {stylesOf, type Theme} from '../../../source/tui/theme.js';
import {DrawingContext, type Drawing} from '../../../source/tui/themes/drawing-context.js';
import {ThemeContext} from '../../../source/tui/themes/theme-context.js';

/** Returns the whole frame of a component, without colors. */
export function drawn(element: ReactElement, drawing: Partial<Drawing> = {}): string {
	const {lastFrame, unmount} = render(
		<DrawingContext value={{isAscii: false, graphs: 'braille', frame: 'boxed', ...drawing}}>{element}</DrawingContext>,
	);
	const frame = lastFrame()!;
	unmount();
	return frame;
}

/** Returns the whole frame of a component with the escape codes of a theme in 16 colors. */
export function painted(element: ReactElement, theme: Theme): string {
	const {level} = chalk;
	chalk.level = 1;
	try {
		return drawn(<ThemeContext value={stylesOf(theme)}>{element}</ThemeContext>);
	} finally {
		chalk.level = level;
	}
}

/** Joins the lines of an expected frame. */
export const lines = (...expected: readonly string[]): string => expected.join('\n');
