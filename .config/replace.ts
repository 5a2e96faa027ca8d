/** Changes of a published package that are made while it is bundled. */

export type Replacements = ReadonlyArray<readonly [before: string, after: string]>;

/**
Replaces each text, which must be there exactly once.

@param complaint - What is wrong when one is not.
*/
export function replaceOnce(code: string, replacements: Replacements, complaint: string): string {
	let changed = code;
	for (const [before, after] of replacements) {
		if (changed.split(before).length !== 2) {
			throw new Error(`${complaint}. It looks for:\n${before}`);
		}

		changed = changed.replace(before, () => after);
	}

	return changed;
}
