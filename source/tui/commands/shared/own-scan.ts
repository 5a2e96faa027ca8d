/** Scans processes before a question about one, or an action on one. */
import {pidsOn, type OwnScan, type TargetProblem} from '../../../core/rules/processes/process-targets.js';
import type {World} from '../../../core/model/ports.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {GpuProcess} from '../../../core/model/types.js';
import type {InspectProcesses} from '../../ports.js';
import type {State} from '../../state/state.js';
import {gpuTable} from '../../state/gpus/rows.js';
import {byMemory} from '../../../format/readings.js';

/** Returns the user's processes on the GPUs of the selected row as shown, largest first. */
export function ownProcesses(state: State): readonly GpuProcess[] {
	const {account} = state.settings.requester;
	return byMemory(gpuTable.selected(state)?.processes ?? []).filter(({user}) => user === account);
}

/**
Scans the GPUs, and reads the kernel's facts about processes on some of them. The readings on the screen may have been published by another
account, so they are not used.

@param shown - Pids to check even if the scan does not contain them.
*/
export async function scanProcesses(
	{gpus, clock}: Pick<World, 'gpus' | 'clock'>,
	inspect: InspectProcesses | undefined,
	indices: readonly number[],
	shown: readonly number[],
): Promise<OwnScan> {
	const startedAtMs = clock.monotonicMs();
	let observation = await gpus.observe();
	if (observation.takenAtMs < startedAtMs) {
		// The first answer may be a cached scan.
		observation = await gpus.observe();
	}

	const pids = new Set([...shown, ...indices.flatMap((gpu) => pidsOn(observation, gpu))]);
	return {observation, facts: (await inspect?.([...pids])) ?? new Map()};
}

/** Returns why a process is left alone, as the rest of a sentence. */
export function problemText(pid: number, gpu: number | readonly number[], problem: TargetProblem): string {
	switch (problem.kind) {
		case 'no-scan': {
			return `the GPUs cannot be looked at: ${sanitize(problem.message)}`;
		}

		case 'gone': {
			return `process ${pid} has ended meanwhile`;
		}

		case 'simulated': {
			return `process ${pid} is a simulated one: no real process is behind it`;
		}

		case 'not-on-gpu': {
			return `process ${pid} is not on ${gpuList(typeof gpu === 'number' ? [gpu] : gpu)}, by a scan of our own`;
		}

		case 'not-yours': {
			return problem.user === undefined
				? `process ${pid} is not yours`
				: `process ${pid} belongs to ${sanitize(problem.user)}`;
		}
	}
}
