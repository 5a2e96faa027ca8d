/** What the terminal is told while the monitor has it, beside what Ink tells it. */

/**
Terminals disagree about how wide some emoji are. A line that turned out wider than counted would go on in the next one and push the
whole frame down: so while the monitor has the terminal, lines end where the terminal does.
*/
const stopWrapping = '\u{1B}[?7l';
const wrapAgain = '\u{1B}[?7h';

/** Buttons and the wheel (1000), told in the form of SGR (1006), which has no bytes that could be keys. */
const takeMouse = '\u{1B}[?1000h\u{1B}[?1006h';
const leaveMouse = '\u{1B}[?1006l\u{1B}[?1000l';

export type TerminalModes = {
	/** The monitor has the terminal, for the first time or again. */
	readonly take: () => void;
	/** Somebody else has it from now on. */
	readonly leave: () => void;
	/** Remembered for when the terminal is taken. */
	readonly setMouse: (isOn: boolean) => void;
};

export function createTerminalModes(write: (text: string) => void): TerminalModes {
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
