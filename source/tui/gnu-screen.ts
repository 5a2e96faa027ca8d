/**
What the program screen does otherwise than other terminals. It drops exact colours, of which the terminal around it told by COLORTERM. And while
a program listens to the mouse, it holds Escape back until another key follows.
*/

type Environment = Readonly<Record<string, string | undefined>>;

/** Here, or by ssh: only screen has names of terminals such as `screen.xterm-256color`. A tmux within it is a terminal of its own. */
export const isInGnuScreen = ({STY, TMUX, TERM = ''}: Environment): boolean =>
	TMUX === undefined && ((STY ?? '') !== '' || TERM.startsWith('screen.'));

/** How many colours there are, as chalk counts: none, 16, 256, or exact ones. */
export type ColorLevel = 0 | 1 | 2 | 3;

/** The colours that are really there. What someone asks for by FORCE_COLOR stands. */
export function colorLevelIn(environment: Environment, told: ColorLevel): ColorLevel {
	const {FORCE_COLOR, TERM = ''} = environment;
	return told === 3 && FORCE_COLOR === undefined && isInGnuScreen(environment)
		? /-256(?:color)?$/iv.test(TERM)
			? 2
			: 1
		: told;
}
