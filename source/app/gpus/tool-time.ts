/**
How long the GPU tool may take: as configured, else by what it took this user before on this machine. Most tools answer in a tenth of a second;
`nvidia-smi` of a DGX B200 was measured to need 7 to 27 s. A short limit tells a driver that hangs, so it is used where the tool is known to be quick.
*/
import path from 'node:path';
import type {Config} from '../../config/config.js';
import type {GpuProvider, Host} from '../../core/model/ports.js';
import {machineStateDirectory, readUserFile, writeUserFile} from '../user-file.js';

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

export type ToolTime = {
	/** For the next scan: other commands of this user may have learned meanwhile. */
	readonly limitMs: () => number;
	/** The provider, the time of each scan of which is remembered. */
	readonly watch: (provider: GpuProvider) => GpuProvider;
};

const longestBytes = 1000;

function parse(text: string): ToolMemory {
	try {
		const {slowestMs, exceededMs} = JSON.parse(text) as Readonly<Record<string, unknown>>;
		const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;
		return {
			...(isTime(slowestMs) && {slowestMs}),
			...(isTime(exceededMs) && {exceededMs}),
		};
	} catch {
		return {};
	}
}

export function createToolTime(config: Config, host: Host, monotonicMs: () => number): ToolTime {
	const given = config.get('gpu.timeout');
	if (given !== undefined) {
		return {limitMs: () => given * 1000, watch: (provider) => provider};
	}

	const directory = machineStateDirectory(host);
	if (directory === undefined) {
		return {limitMs: () => timeLimitMs({}), watch: (provider) => provider};
	}

	const file = path.join(directory, 'gpu-tool.json');
	const recall = (): ToolMemory => parse(readUserFile(file, longestBytes) ?? '{}');
	return {
		limitMs: () => timeLimitMs(recall()),
		watch: (provider) => ({
			...provider,
			async observe() {
				const before = recall();
				const limitMs = timeLimitMs(before);
				const beganMs = monotonicMs();
				const observation = await provider.observe();
				const tookMs = monotonicMs() - beganMs;
				const isAnswered = observation.failure === undefined;
				// A tool that failed at once tells nothing of its speed. A scan may have begun a little before it was asked for.
				const after = isAnswered
					? withAnswer(before, tookMs)
					: tookMs >= 0.9 * limitMs
						? withExceeded(before, limitMs)
						: before;
				// Most scans change nothing that matters.
				if (timeLimitMs(after) !== limitMs || (isAnswered && before.exceededMs !== undefined)) {
					writeUserFile(file, `${JSON.stringify(after)}\n`);
				}

				return observation;
			},
		}),
	};
}
