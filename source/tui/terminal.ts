/** The terminal: what is written to it, beside what Ink writes, while the monitor has it, and what the program screen does otherwise than others. */

/**
Terminals disagree about how wide some emoji are. A line that turned out wider than counted would go on in the next one and push the
whole frame down: so while the monitor has the terminal, lines end where the terminal does.
*/
const stopWrapping = '\u{1B}[?7l';
const wrapAgain = '\u{1B}[?7h';

/** Buttons and the wheel (1000), reported in the form of SGR (1006), which has no bytes that could be keys. */
const takeMouse = '\u{1B}[?1000h\u{1B}[?1006h';
const leaveMouse = '\u{1B}[?1006l\u{1B}[?1000l';

export type TerminalModes = {
	/** The monitor has the terminal, for the first time or again. */
	readonly take: () => void;
	/** Another program has the terminal from now on. */
	readonly leave: () => void;
	/** Remembered for when the terminal is taken. */
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
Whether it is the program screen, here or by ssh, unless a tmux runs within it: only screen has names of terminals such as `screen.xterm-256color`.
It drops exact colours, of which COLORTERM speaks all the same, and holds Escape back until another key while a program listens to the mouse.
*/
export const isInGnuScreen = ({STY, TMUX, TERM = ''}: Environment): boolean =>
	TMUX === undefined && ((STY ?? '') !== '' || TERM.startsWith('screen.'));

/** How many colours there are, as chalk counts: none, 16, 256, or exact ones. */
export type ColorLevel = 0 | 1 | 2 | 3;

/** The colours that are really there. What someone asks for by FORCE_COLOR stands. */
export function colorLevelIn(environment: Environment, reported: ColorLevel): ColorLevel {
	const {FORCE_COLOR, TERM = ''} = environment;
	return reported === 3 && FORCE_COLOR === undefined && isInGnuScreen(environment)
		? /-256(?:color)?$/iv.test(TERM)
			? 2
			: 1
		: reported;
}
