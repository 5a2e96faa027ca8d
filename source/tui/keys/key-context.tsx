/** Lets components press keys, for example when a key hint is clicked. */
import {createContext, use} from 'react';

/** Presses a key, given by its name in the table of all keys. */
export type PressKey = (name: string) => void;

export const KeyContext = createContext<PressKey>(() => undefined);

export const usePressKey = (): PressKey => use(KeyContext);
