/** Pressing a key from a component, as a click on its hint does. */
import {createContext, use} from 'react';

/** Presses a key by its name in the table of keys. */
export type PressKey = (name: string) => void;

export const KeyContext = createContext<PressKey>(() => undefined);

export const usePressKey = (): PressKey => use(KeyContext);
