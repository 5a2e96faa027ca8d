/** Boxes that can be clicked, and the context with which a click presses a key. */
import {createContext, use, type ReactElement, type ReactNode} from 'react';
import {Box} from 'ink';
import {useMouse} from './mouse-context.js';

/** Presses a key, given by its name in the table of all keys. */
type PressKey = (name: string) => void;

export const KeyContext = createContext<PressKey>(() => undefined);

export const usePressKey = (): PressKey => use(KeyContext);

type Properties = {readonly onClick: () => void; readonly children: ReactNode};

export function Clickable({onClick, children}: Properties): ReactElement {
	const ref = useMouse({
		onClick() {
			onClick();
			return true;
		},
	});
	return (
		<Box ref={ref} flexShrink={0}>
			{children}
		</Box>
	);
}

export function KeyButton({name, children}: {readonly name: string; readonly children: ReactNode}): ReactElement {
	const press = usePressKey();
	return (
		<Clickable
			onClick={() => {
				press(name);
			}}
		>
			{children}
		</Clickable>
	);
}
