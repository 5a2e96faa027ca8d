/** How long the GPU tool may take: as configured, else by what it took this user before on this machine. */
import path from 'node:path';
import type {Config} from '../../config/config.js';
import type {GpuProvider, Host} from '../../core/model/ports.js';
import {timeLimitMs, withAnswer, withExceeded, type ToolMemory} from '../../gpu/tool/time-limit.js';
import {machineStateDirectory, readUserFile, writeUserFile} from '../user-file.js';

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

	const file = path.join(machineStateDirectory(host), 'gpu-tool.json');
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
