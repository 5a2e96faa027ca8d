/** `8452MB`: the unit is MiB, written as the GPU tools and the peer write it. */
export const mebibytes = (amount: number): string => `${Math.round(amount)}MB`;

/** The first of them, and how many more there are: `a, b and 2 more`. */
export function firstOf(words: readonly string[], most: number): string {
	const named = words.slice(0, most).join(', ');
	return words.length > most ? `${named} and ${words.length - most} more` : named;
}

/** `1 GPU`, `2 GPUs`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
