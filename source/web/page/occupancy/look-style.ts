import type {Look} from './look.js';

export const lookStyle = (look: Look | undefined): Record<string, string> => ({'--hue': String(look?.hue)});
