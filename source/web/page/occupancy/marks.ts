/** Which words of the axis have room. */

/** Parts of the picture that the words of a mark need, on wide and on narrow screens: a time, and the name of a day. */
const wordsParts = {time: {wide: 0.07, narrow: 0.16}, day: {wide: 0.1, narrow: 0.22}} as const;

/** What the word of the present needs. */
const nowParts = {wide: 0.07, narrow: 0.14} as const;

/** Where the words of a mark have no room: before the present or the edge of the picture, or because the word of the present is there. */
export function roomOf(
	ms: number,
	{fromMs, nowMs, toMs}: {readonly fromMs: number; readonly nowMs: number; readonly toMs: number},
	words: keyof typeof wordsParts,
): 'none' | 'wide' | undefined {
	const isPast = ms < nowMs;
	const ahead = ((isPast ? nowMs : toMs) - ms) / (toMs - fromMs);
	const behind = isPast ? 1 : (ms - nowMs) / (toMs - fromMs);
	const lacksRoom = (screen: 'wide' | 'narrow'): boolean =>
		ahead < wordsParts[words][screen] || behind < nowParts[screen];
	return lacksRoom('wide') ? 'none' : lacksRoom('narrow') ? 'wide' : undefined;
}
