/** The color and pattern of each person, which stay the same from day to day. */

const hues = 8;
const patterns = 4;

export type Swatch = {
	/** The hue in degrees. */
	readonly hue: number;
	/** 0 is plain, 1 and 2 are stripes, and 3 is dots. */
	readonly pattern: number;
};

/** The largest prime under 2 ** 31. Small enough to keep the products in `numberOf` exact. */
const prime = 2_147_483_647;

function numberOf(name: string): number {
	let hash = 1;
	for (const character of name) {
		hash = (hash * 65_599 + character.codePointAt(0)!) % prime;
	}

	// Two steps of Park and Miller's random number generator separate names that differ only in the last letter.
	const mixed = (((hash * 48_271) % prime) * 48_271) % prime;
	return Math.floor((mixed / prime) * hues * patterns);
}

/** Returns a different swatch for each name, assigned in alphabetical order. If there are more than 32 names, some share a swatch. */
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
