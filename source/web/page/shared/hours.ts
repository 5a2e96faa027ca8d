import {unknown} from '../text.js';

export const hourText = (hours: number | undefined): string =>
	hours?.toLocaleString(undefined, {minimumFractionDigits: 2, maximumFractionDigits: 2}) ?? unknown;
