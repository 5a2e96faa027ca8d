import type {Swatch} from './swatch.js';

export const swatchStyle = (swatch: Swatch | undefined): Record<string, string> => ({'--hue': String(swatch?.hue)});
