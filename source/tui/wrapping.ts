/**
Terminals disagree about how wide some emoji are. A line that turned out wider than counted would go on in the next one and push the
whole frame down: so while the monitor has the terminal, lines end where the terminal does.
*/
export const stopWrapping = '\u{1B}[?7l';
export const wrapAgain = '\u{1B}[?7h';
