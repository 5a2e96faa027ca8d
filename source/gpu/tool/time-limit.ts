/**
How long a scan of the GPUs may take, where no setting says so. Most tools answer in a tenth of a second; `nvidia-smi` of a DGX B200 was measured
to need 7 to 27 s. A short limit tells a driver that hangs, so it is used where the tool is known to be quick.
*/

/** How long earlier scans took on this machine, in milliseconds. */
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
/** How long a scan took counts for this much less with each one after it. */
const fading = 0.8;

export const timeLimitMs = ({slowestMs, exceededMs = 0}: ToolMemory): number =>
	slowestMs === undefined
		? firstLimitMs
		: Math.min(
				longestLimitMs,
				Math.max(shortestLimitMs, Math.round((margin * slowestMs) / 1000) * 1000, 2 * exceededMs),
			);

/** What is known after a scan that was answered within so long. */
export const withAnswer = ({slowestMs = 0}: ToolMemory, tookMs: number): ToolMemory => ({
	slowestMs: Math.max(tookMs, fading * slowestMs),
});

/** What is known after a scan that was ended by this limit. */
export const withExceeded = (memory: ToolMemory, limitMs: number): ToolMemory => ({...memory, exceededMs: limitMs});
