/** Returns `8452MB`. The unit is MiB, but GPU tools and the Go program write MB. */
export const mebibytes = (amount: number): string => `${Math.round(amount)}MB`;

export function firstOf(words: readonly string[], most: number): string {
	const named = words.slice(0, most).join(', ');
	return words.length > most ? `${named} and ${words.length - most} more` : named;
}

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
