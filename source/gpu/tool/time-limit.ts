/**
How long a look at the GPUs may take, where nobody has said. Most tools answer in a tenth of a second; `nvidia-smi` of a DGX B200 was measured
to need 7 to 27 s. A short limit tells a driver that hangs, so it is used where the tool is known to be quick.
*/

/** What earlier looks took on this machine, in milliseconds. */
export type ToolMemory = {
	/** The slowest of late that was answered. Undefined: none was seen yet. */
	readonly slowestMs?: number;
	/** The limit that was not enough the last time. */
	readonly exceededMs?: number;
};

const shortestLimitMs = 10_000;
const firstLimitMs = 40_000;
const longestLimitMs = 60_000;
/** A tool may need so many times what it needed before. */
const margin = 4;
/** What a look took counts for this much less with each one after it. */
const fading = 0.8;

export const timeLimitMs = ({slowestMs, exceededMs = 0}: ToolMemory): number =>
	slowestMs === undefined
		? firstLimitMs
		: Math.min(
				longestLimitMs,
				Math.max(shortestLimitMs, Math.round((margin * slowestMs) / 1000) * 1000, 2 * exceededMs),
			);

/** What is known after one more look, which took so long under the limit of `memory`. */
export function withLook(memory: ToolMemory, tookMs: number): ToolMemory {
	const limitMs = timeLimitMs(memory);
	// The rest is what it takes to end the tool.
	return tookMs >= 0.95 * limitMs
		? {...memory, exceededMs: limitMs}
		: {slowestMs: Math.max(tookMs, fading * (memory.slowestMs ?? 0))};
}
