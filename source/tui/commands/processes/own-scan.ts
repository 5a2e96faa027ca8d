/** Scans processes before the monitor asks about a process, or acts on a process. */
import {pidsOn, type OwnScan, type TargetProblem} from '../../../core/rules/processes/process-targets.js';
import type {World} from '../../../core/model/ports.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import type {GpuProcess} from '../../../core/model/types.js';
import type {InspectProcesses} from '../../ports.js';
import type {State} from '../../state/state.js';
import {gpuTable} from '../../state/gpus/rows.js';
import {byMemory} from '../../../format/readings.js';

/** Returns the user's processes on the GPUs of the selected row, largest first. Uses the readings on the screen. */
export function ownProcesses(state: State): readonly GpuProcess[] {
	const {account} = state.settings.requester;
	return byMemory(gpuTable.selected(state)?.processes ?? []).filter(({user}) => user === account);
}

/**
Scans the GPUs, and asks the kernel about the processes on the GPUs `indices`. The readings on the screen are not used, because another account may
have published them.

@param shown - Pids of processes on the screen. The kernel is asked about these processes even if the scan does not list them.
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
		// Scans again, because the first answer was a cached scan from before this call.
		observation = await gpus.observe();
	}

	const pids = new Set([...shown, ...indices.flatMap((gpu) => pidsOn(observation, gpu))]);
	return {observation, facts: (await inspect?.([...pids])) ?? new Map()};
}

/** Returns why a process cannot be acted on, as the second half of a sentence. */
export function problemText(pid: number, gpus: readonly number[], problem: TargetProblem): string {
	switch (problem.kind) {
		case 'no-scan': {
			return `the GPUs cannot be read: ${sanitize(problem.message)}`;
		}

		case 'gone': {
			return `process ${pid} has already ended`;
		}

		case 'simulated': {
			return `process ${pid} is simulated, so there is no real process`;
		}

		case 'not-on-gpu': {
			return `process ${pid} is not on ${gpuList(gpus)}, according to a new scan`;
		}

		case 'not-yours': {
			return problem.user === undefined
				? `process ${pid} is not yours`
				: `process ${pid} belongs to ${sanitize(problem.user)}`;
		}
	}
}
