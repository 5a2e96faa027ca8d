/** The hue and pattern of each person, stable from day to day. Pure. */

const hues = 8;
const patterns = 4;

export type Swatch = {
	/** In degrees. */
	readonly hue: number;
	/** 0 is plain, then two kinds of stripes, and dots. */
	readonly pattern: number;
};

/** The largest prime below 2 ** 31, so that products are exact. */
const prime = 2_147_483_647;

function numberOf(name: string): number {
	let hash = 1;
	for (const character of name) {
		hash = (hash * 65_599 + character.codePointAt(0)!) % prime;
	}

	// Two steps of Park and Miller's generator separate names that differ only in the last letter.
	const mixed = (((hash * 48_271) % prime) * 48_271) % prime;
	return Math.floor((mixed / prime) * hues * patterns);
}

/** Returns distinct swatches by alphabetical order. Above 32 people, some share a swatch. */
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
