/** Learns the GPU tool's time limit from earlier scans, to detect hangs early: most answer in 0.1 s, but `nvidia-smi` of a DGX B200 took 7 to 27 s. */
import path from 'node:path';
import type {Config} from '../../config/config.js';
import type {GpuProvider, Host} from '../../core/model/ports.js';
import {machineStateDirectory, readUserFile, writeUserFile} from '../user-file.js';

export type ToolMemory = {
	/** The duration of the slowest recent scan that succeeded. */
	readonly slowestMs?: number;
	/** The time limit that the last scan exceeded. */
	readonly exceededMs?: number;
};

const shortestLimitMs = 10_000;
const firstLimitMs = 40_000;
const longestLimitMs = 60_000;
const margin = 4;
/** The remembered duration is multiplied by this factor at each scan, so that an old slow scan is forgotten. */
const fading = 0.8;

export const timeLimitMs = ({slowestMs, exceededMs = 0}: ToolMemory): number =>
	slowestMs === undefined
		? firstLimitMs
		: Math.min(
				longestLimitMs,
				Math.max(shortestLimitMs, Math.round((margin * slowestMs) / 1000) * 1000, 2 * exceededMs),
			);

export const withAnswer = ({slowestMs = 0}: ToolMemory, tookMs: number): ToolMemory => ({
	slowestMs: Math.max(tookMs, fading * slowestMs),
});

export const withExceeded = (memory: ToolMemory, limitMs: number): ToolMemory => ({...memory, exceededMs: limitMs});

export type ToolTime = {
	/** Returns the current time limit. Reads the stored durations again, because other commands of this user update them. */
	readonly limitMs: () => number;
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
				// A failure long before the limit is not remembered, because it shows nothing about the speed of the tool.
				const after = isAnswered
					? withAnswer(before, tookMs)
					: tookMs >= 0.9 * limitMs
						? withExceeded(before, limitMs)
						: before;
				if (timeLimitMs(after) !== limitMs || (isAnswered && before.exceededMs !== undefined)) {
					writeUserFile(file, `${JSON.stringify(after)}\n`);
				}

				return observation;
			},
		}),
	};
}
