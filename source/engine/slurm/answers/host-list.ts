/** Expands Slurm's short form of host names: `box[1-3,7],login`. */

/** Limit for a list of hosts, more than any cluster has. A longer list is cut off. */
const mostHosts = 10_000;

/** Splits at commas outside of brackets and parentheses: `gpu:2(IDX:0,3),shard:4` has two parts. */
export function splitOutside(text: string): readonly string[] {
	const parts: string[] = [];
	let depth = 0;
	let part = '';
	for (const character of text) {
		depth += '[('.includes(character) ? 1 : '])'.includes(character) ? -1 : 0;
		if (character === ',' && depth === 0) {
			parts.push(part);
			part = '';
		} else {
			part += character;
		}
	}

	return [...parts, part].filter((each) => each !== '');
}

/** Expands ranges: `0-2,5` becomes 0, 1, 2, 5. Ignores anything but ranges of whole numbers. */
export const rangeNumbers = (text: string): readonly number[] => rangeTexts(text).map(Number);

/** Expands ranges like {@link rangeNumbers}, but keeps leading zeros: `08-10` becomes `08`, `09`, `10`. */
function rangeTexts(text: string): readonly string[] {
	return text.split(',').flatMap((range) => {
		const {first, last = first} = /^(?<first>\d{1,9})(?:-(?<last>\d{1,9}))?$/v.exec(range)?.groups ?? {};
		if (first === undefined || last === undefined) {
			return [];
		}

		const count = Math.min(mostHosts, Math.max(0, Number(last) - Number(first) + 1));
		return Array.from({length: count}, (_, offset) => String(Number(first) + offset).padStart(first.length, '0'));
	});
}

/** Expands brackets: `box[1-3]` becomes `box1`, `box2`, `box3`. A name can have several, as in `rack[1-2]n[1-4]`. */
function expand(pattern: string): readonly string[] {
	const {before, ranges, after} = /^(?<before>[^\[]*)\[(?<ranges>[^\]]*)\](?<after>.*)$/v.exec(pattern)?.groups ?? {};
	if (before === undefined || ranges === undefined || after === undefined) {
		return [pattern];
	}

	const ends = expand(after);
	return rangeTexts(ranges).flatMap((number) => ends.map((end) => `${before}${number}${end}`));
}

export const hostsOf = (list: string): readonly string[] =>
	splitOutside(list)
		.flatMap((pattern) => expand(pattern))
		.slice(0, mostHosts);
