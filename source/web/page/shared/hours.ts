/** Hours, to the hundredth. */
export const hourWords = (hours: number): string =>
	hours.toLocaleString(undefined, {minimumFractionDigits: 2, maximumFractionDigits: 2});
