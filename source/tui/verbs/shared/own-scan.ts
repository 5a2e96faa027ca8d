/** A scan of processes by this monitor itself, before anything is asked about one or done to one. */
import {pidsOn, type OwnScan, type TargetProblem} from '../../../core/rules/processes/process-targets.js';
import type {World} from '../../../core/model/ports.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {GpuProcess} from '../../../core/model/types.js';
import type {InspectProcesses} from '../../ports.js';
import type {State} from '../../state/state.js';
import {rowWith} from '../../state/table/rows.js';
import {byMemory} from '../../../format/readings.js';

/** The user's own processes on the GPUs of the selected row as they are shown, the largest first. */
export function ownProcesses(state: State): readonly GpuProcess[] {
	const {account} = state.settings.requester;
	return byMemory(rowWith(state, state.selectedGpu)?.processes ?? []).filter(({user}) => user === account);
}

/**
Scans the GPUs and reads what the kernel tells of the processes on some of them. The GPUs of the world are scanned by ourselves; those that
are watched may show what another account has published.

@param shown - Pids that are asked about, whether or not the scan has them.
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
		// A scan from before, kept for the first caller.
		observation = await gpus.observe();
	}

	const pids = new Set([...shown, ...indices.flatMap((gpu) => pidsOn(observation, gpu))]);
	return {observation, facts: (await inspect?.([...pids])) ?? new Map()};
}

/** Why nothing is done to a process, as the rest of a sentence. */
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
