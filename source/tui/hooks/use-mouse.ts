/** Brings the mouse to the keys' controller, while it is switched on. */
import {useEffect} from 'react';
import type {Controller} from '../controller.js';
import type {MouseInput} from '../mouse/input.js';
import type {State} from '../state/state.js';
import type {TerminalModes} from '../terminal-modes.js';

type Options = {
	/** Undefined where there is none. */
	readonly mouse: MouseInput | undefined;
	readonly modes: TerminalModes;
};

export function useMouse({mouse, modes}: Options, {isMouseOn = false}: State, {point}: Controller): void {
	useEffect(() => {
		modes.setMouse(isMouseOn);
		mouse?.listen(isMouseOn ? point : () => undefined);
	}, [mouse, modes, isMouseOn, point]);
}
