/** Draws components alone, with the state, the theme and the drawing context around them. */
import type {ReactElement} from 'react';
import chalk from 'chalk';
import {Box} from 'ink';
import {render} from 'ink-testing-library';
import type {State} from '../../source/tui/state/state.js';
import {createStateStore, type StateStore} from '../../source/tui/state/store.js';
import {StoreContext} from '../../source/tui/state/use-monitor.js';
import {stylesOf, type Theme} from '../../source/tui/theme.js';
import {DrawingContext, type Drawing} from '../../source/tui/themes/drawing-context.js';
import {ThemeContext} from '../../source/tui/themes/theme-context.js';

type Surroundings = Partial<Drawing> & {
	readonly state?: State;
	/** Width of the terminal. Defaults to that of the state, or to 100. */
	readonly columns?: number;
	readonly theme?: Theme;
};

/** Matches the frame that Ink draws after a component has thrown an error. */
const failure = /^\s*ERROR {2}/v;

/** Draws a component that stays on the screen while the state in the store changes. */
export function mounted(
	element: ReactElement,
	store: StateStore | undefined,
	{columns = store?.getState().size.columns ?? 100, theme = 'mono', ...drawing}: Omit<Surroundings, 'state'> = {},
): Omit<ReturnType<typeof render>, 'rerender'> {
	const {stdout, rerender, ...instance} = render(<></>);
	// The library has no option for the width of the terminal.
	Object.defineProperty(stdout, 'columns', {value: columns});
	rerender(
		<StoreContext value={store}>
			<ThemeContext value={stylesOf(theme)}>
				<DrawingContext value={{isAscii: false, graphs: 'braille', frame: 'boxed', ...drawing}}>
					{element}
				</DrawingContext>
			</ThemeContext>
		</StoreContext>,
	);
	return {stdout, ...instance};
}

/** Returns the whole frame of a component, without colors. Throws if the component does. */
export function drawn(element: ReactElement, {state, ...surroundings}: Surroundings = {}): string {
	const {frames, lastFrame, unmount} = mounted(element, state && createStateStore(state), surroundings);
	const frame = lastFrame()!;
	unmount();
	const error = frames.find((each) => failure.test(each));
	if (error !== undefined) {
		throw new Error(error);
	}

	return frame;
}

/** Returns the whole frame of a component with the escape codes of a theme in 16 colors. */
export function painted(element: ReactElement, theme: Theme, surroundings: Surroundings = {}): string {
	const {level} = chalk;
	chalk.level = 1;
	try {
		return drawn(element, {...surroundings, theme});
	} finally {
		chalk.level = level;
	}
}

/** Returns the frame of a dialog on the screen of a state, without the empty lines and columns around the dialog. */
export function drawnDialog(
	dialog: ReactElement,
	{state, ...surroundings}: Surroundings & {readonly state: State},
): string {
	const screen = drawn(<Box height={state.size.rows}>{dialog}</Box>, {state, ...surroundings});
	const shown = screen.split('\n').filter((line) => line !== '');
	const left = Math.min(...shown.map((line) => line.search(/\S/v)));
	return shown.map((line) => line.slice(left)).join('\n');
}

/** Joins the lines of an expected frame. */
export const lines = (...expected: readonly string[]): string => expected.join('\n');
