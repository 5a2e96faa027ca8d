/** How people are drawn: each in a hue and a pattern that stay the same from day to day. Pure. */

const hues = 8;
const patterns = 4;

export type Swatch = {
	/** The angle is in degrees. */
	readonly hue: number;
	/** From 0 on: plain, two kinds of stripes, and dots. */
	readonly pattern: number;
};

/** The largest prime below 2 ** 31: products with it are exact. */
const prime = 2_147_483_647;

/** The number of a swatch, by the name alone. */
function numberOf(name: string): number {
	let hash = 1;
	for (const character of name) {
		hash = (hash * 65_599 + character.codePointAt(0)!) % prime;
	}

	// Names that differ in their last letter alone are far apart after two steps of Park and Miller's generator.
	const mixed = (((hash * 48_271) % prime) * 48_271) % prime;
	return Math.floor((mixed / prime) * hues * patterns);
}

/** Where two people would get the same swatch, the later one in the alphabet takes the next that is free; of more than 32 people some share one. */
export function swatchesOf(names: Iterable<string>): ReadonlyMap<string, Swatch> {
	const swatches = new Map<string, Swatch>();
	const taken = new Set<number>();
	for (const name of [...new Set(names)].toSorted()) {
		let number = numberOf(name);
		while (taken.has(number) && taken.size < hues * patterns) {
			number = (number + 1) % (hues * patterns);
		}

		taken.add(number);
		swatches.set(name, {hue: (number % hues) * (360 / hues), pattern: Math.floor(number / hues)});
	}

	return swatches;
}

export const swatchStyle = (swatch: Swatch | undefined): Record<string, string> => ({'--hue': String(swatch?.hue)});
