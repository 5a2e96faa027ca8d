/** How people are drawn: each in a hue and a pattern that stay the same from day to day. Pure. */

const hues = 8;
const patterns = 4;

export type Look = {
	/** The angle is in degrees. */
	readonly hue: number;
	/** From 0 on: plain, two kinds of stripes, and dots. */
	readonly pattern: number;
};

/** The largest prime below 2 ** 31: products with it are exact. */
const prime = 2_147_483_647;

/** The number of a look, by the name alone. */
function numberOf(name: string): number {
	let hash = 1;
	for (const character of name) {
		hash = (hash * 65_599 + character.codePointAt(0)!) % prime;
	}

	// Names that differ in their last letter alone are far apart after two steps of Park and Miller's generator.
	const mixed = (((hash * 48_271) % prime) * 48_271) % prime;
	return Math.floor((mixed / prime) * hues * patterns);
}

/** Where two would look the same, the later one in the alphabet takes the next look that is free; of more than 32 people some share one. */
export function looksOf(names: Iterable<string>): ReadonlyMap<string, Look> {
	const looks = new Map<string, Look>();
	const taken = new Set<number>();
	for (const name of [...new Set(names)].toSorted()) {
		let look = numberOf(name);
		while (taken.has(look) && taken.size < hues * patterns) {
			look = (look + 1) % (hues * patterns);
		}

		taken.add(look);
		looks.set(name, {hue: (look % hues) * (360 / hues), pattern: Math.floor(look / hues)});
	}

	return looks;
}
