/** Orders lists of numbers of equal length by the first difference. */
export function compareNumbers(one: readonly number[], other: readonly number[]): number {
	// Infinities are equal, although their difference is NaN.
	const index = one.findIndex((value, position) => value !== other[position]);
	return index === -1 ? 0 : one[index]! - other[index]!;
}
