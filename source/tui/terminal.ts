/** Terminal modes that Ink does not set, and special cases of GNU screen. */

/** Turns off wrapping, because terminals disagree about the width of some emoji. A wrapped line would move the rest of the screen down. */
const stopWrapping = '\u{1B}[?7l';
const wrapAgain = '\u{1B}[?7h';

/** Makes the terminal report buttons and the wheel (mode 1000) in SGR form (mode 1006), which cannot be mistaken for keys. */
const takeMouse = '\u{1B}[?1000h\u{1B}[?1006h';
const leaveMouse = '\u{1B}[?1006l\u{1B}[?1000l';

const enterAlternateScreen = '\u{1B}[?1049h';
const moveToTopLeft = '\u{1B}[H';

/** Makes a frame of Ink begin at the top left. Ink enters the alternate screen without moving the cursor, and then draws from the cursor's column. */
export const fromTopLeft = (frame: string): string =>
	frame.replaceAll(enterAlternateScreen, (sequence) => sequence + moveToTopLeft);

export type TerminalModes = {
	/** Sets the modes that the monitor needs. Can be called again. */
	readonly take: () => void;
	/** Resets the modes, so that another program can use the terminal. */
	readonly leave: () => void;
	/** Turns the mouse on or off. While another program has the terminal, this has no effect until the next `take`. */
	readonly setMouse: (isOn: boolean) => void;
};

/** @param refuseMessages - Stops messages of other programs to the terminal, and returns a function that allows them again. */
export function createTerminalModes(
	write: (text: string) => unknown,
	refuseMessages: () => () => void = () => () => undefined,
): TerminalModes {
	let isTaken = false;
	let isMouseOn = false;
	let allowMessages: (() => void) | undefined;
	return {
		take() {
			isTaken = true;
			allowMessages ??= refuseMessages();
			write(isMouseOn ? stopWrapping + takeMouse : stopWrapping);
		},
		leave() {
			isTaken = false;
			allowMessages?.();
			allowMessages = undefined;
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
Whether the terminal is GNU screen, even over ssh. False for tmux. Only GNU screen uses terminal names such as `screen.xterm-256color`. GNU screen
does not show exact colors even if COLORTERM announces them. While the mouse is on, GNU screen delays Escape until the next key.
*/
export const isInGnuScreen = ({STY, TMUX, TERM = ''}: Environment): boolean =>
	TMUX === undefined && ((STY ?? '') !== '' || TERM.startsWith('screen.'));

/** The number of colors, in chalk's numbering: 0 for none, 1 for 16, 2 for 256, 3 for exact colors. */
export type ColorLevel = 0 | 1 | 2 | 3;

/** Returns the number of colors that the terminal supports. FORCE_COLOR overrides this number. */
export function colorLevelIn(environment: Environment, reported: ColorLevel): ColorLevel {
	const {FORCE_COLOR, TERM = ''} = environment;
	return reported === 3 && FORCE_COLOR === undefined && isInGnuScreen(environment)
		? /-256(?:color)?$/iv.test(TERM)
			? 2
			: 1
		: reported;
}
