/** What the terminal can draw. */
import {createContext, use} from 'react';
import type {GraphCharacters} from '../../format/monitor-settings.js';

export type Drawing = {
	/** Bars and graphs use plain ASCII characters. */
	readonly isAscii: boolean;
	/** The characters of graphs. */
	readonly graphs: GraphCharacters;
	/** `boxed`: panels have borders on all sides. `ruled`: one line with their title, on a small terminal. `plain`: none, for a screen reader. */
	readonly frame: 'boxed' | 'ruled' | 'plain';
};

export const DrawingContext = createContext<Drawing>({isAscii: false, graphs: 'braille', frame: 'boxed'});

export const useDrawing = (): Drawing => use(DrawingContext);
