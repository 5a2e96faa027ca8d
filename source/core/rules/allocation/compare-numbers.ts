/** Orders lists of numbers of the same length: the first number that differs decides. */
export function compareNumbers(one: readonly number[], other: readonly number[]): number {
	// Infinities are equal, although their difference is no number.
	const index = one.findIndex((value, position) => value !== other[position]);
	return index === -1 ? 0 : one[index]! - other[index]!;
}
