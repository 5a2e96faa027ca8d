/** Compares two lists of numbers of equal length by the first position at which they differ. */
export function compareNumbers(one: readonly number[], other: readonly number[]): number {
	// `!==` also handles infinite values, whose difference would be NaN.
	const index = one.findIndex((value, position) => value !== other[position]);
	return index === -1 ? 0 : one[index]! - other[index]!;
}
