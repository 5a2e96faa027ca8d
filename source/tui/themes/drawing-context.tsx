import {createContext, use} from 'react';
import type {GraphCharacters} from '../../format/monitor-settings.js';

export type Drawing = {
	readonly isAscii: boolean;
	readonly graphs: GraphCharacters;
	/** The frames of panels. `boxed`: borders on all sides. `ruled`: only a title line, on small terminals. `plain`: no lines, for screen readers. */
	readonly frame: 'boxed' | 'ruled' | 'plain';
};

export const DrawingContext = createContext<Drawing>({isAscii: false, graphs: 'braille', frame: 'boxed'});

export const useDrawing = (): Drawing => use(DrawingContext);
