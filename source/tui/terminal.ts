/** Terminal modes that Ink does not set, and the peculiarities of GNU screen. */

/**
Disables automatic wrapping. Terminals disagree about the width of some emoji, and a line that turns out wider than counted would wrap and
push the whole frame down.
*/
const stopWrapping = '\u{1B}[?7l';
const wrapAgain = '\u{1B}[?7h';

/** Enables reports of buttons and the wheel (mode 1000) in SGR form (mode 1006), which cannot be mistaken for keys. */
const takeMouse = '\u{1B}[?1000h\u{1B}[?1006h';
const leaveMouse = '\u{1B}[?1006l\u{1B}[?1000l';

export type TerminalModes = {
	/** Takes the terminal, for the first time or again. */
	readonly take: () => void;
	/** Gives the terminal to another program. */
	readonly leave: () => void;
	/** Turns the mouse on or off, now or when the terminal is taken. */
	readonly setMouse: (isOn: boolean) => void;
};

export function createTerminalModes(write: (text: string) => unknown): TerminalModes {
	let isTaken = false;
	let isMouseOn = false;
	return {
		take() {
			isTaken = true;
			write(isMouseOn ? stopWrapping + takeMouse : stopWrapping);
		},
		leave() {
			isTaken = false;
			write(isMouseOn ? leaveMouse + wrapAgain : wrapAgain);
		},
		setMouse(isOn) {
			if (isOn === isMouseOn) {
				return;
			}

			isMouseOn = isOn;
			if (isTaken) {
				write(isOn ? takeMouse : leaveMouse);
			}
		},
	};
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
Whether the terminal is GNU screen, locally or over ssh, without a tmux inside. Only screen uses names such as `screen.xterm-256color`. GNU
screen drops exact colors even if COLORTERM promises them, and holds Escape back until the next key while the mouse is on.
*/
export const isInGnuScreen = ({STY, TMUX, TERM = ''}: Environment): boolean =>
	TMUX === undefined && ((STY ?? '') !== '' || TERM.startsWith('screen.'));

/** Number of colors, as chalk counts them: none, 16, 256 or exact. */
export type ColorLevel = 0 | 1 | 2 | 3;

/** Returns the color level that the terminal supports. FORCE_COLOR overrides it. */
export function colorLevelIn(environment: Environment, reported: ColorLevel): ColorLevel {
	const {FORCE_COLOR, TERM = ''} = environment;
	return reported === 3 && FORCE_COLOR === undefined && isInGnuScreen(environment)
		? /-256(?:color)?$/iv.test(TERM)
			? 2
			: 1
		: reported;
}
