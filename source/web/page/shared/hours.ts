/** Hours, to the hundredth. */
export const hourText = (hours: number): string =>
	hours.toLocaleString(undefined, {minimumFractionDigits: 2, maximumFractionDigits: 2});
