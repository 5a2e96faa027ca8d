/** The messages of `run` about processes that its command has started and that outlive the command. */
import type {GpuProcess, LeftProcess, ProcessIdentity} from '../../../core/model/types.js';
import type {App, OpenWorld} from '../../../app/contract.js';
import {processList} from '../../../format/status-labels.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {firstOf} from '../../../format/text/numbers.js';

/** Processes named before the rest are only counted. */
const namedProcesses = 8;

/** The command has ended: a slow GPU tool holds up nobody for longer. */
const patienceMs = 2000;

/** Says that the command has ended and its children are waited for. */
export const waitingText = (children: readonly ProcessIdentity[]): string =>
	`canhazgpu: the command has ended, and its GPUs stay reserved until what it started ends: ${firstOf(
		children.map(({pid}) => `PID ${pid}`),
		namedProcesses,
	)}. Ctrl-C ends it.`;

/**
Says which of the processes that the job left still use its GPUs, and what to do. Scans the GPUs once, where the job left any; a scan that fails
or takes too long says nothing.
*/
export async function tellLeft(
	app: App,
	world: OpenWorld,
	gpus: readonly number[],
	left: readonly LeftProcess[],
): Promise<void> {
	if (left.length === 0) {
		return;
	}

	const scanned = new AbortController();
	const scan = await Promise.race([world.gpus.observe(), app.clock.sleep(patienceMs, scanned.signal)]);
	scanned.abort();
	const leftPids = new Set(left.map(({pid}) => pid));
	const used = (scan?.gpus ?? [])
		.filter(({index}) => gpus.includes(index))
		.map(({index, processes = []}) => ({
			index,
			processes: processes.filter(({pid}) => leftPids.has(pid)),
		}));
	const found = new Map(used.flatMap(({processes}) => processes.map((process) => [process.pid, process] as const)));
	if (found.size === 0) {
		return;
	}

	const indexes = used.filter(({processes}) => processes.length > 0).map(({index}) => index);
	app.remark(leftText(indexes, found.values().toArray()));
}

function leftText(gpus: readonly number[], processes: readonly GpuProcess[]): string {
	const pids = processes.map(({pid}) => pid);
	return [
		`canhazgpu: WARNING: ${processList(processes)} of this command still ${pids.length === 1 ? 'uses' : 'use'} ${gpuList(gpus)}, which ${gpus.length === 1 ? 'is' : 'are'} no longer reserved.`,
		`End ${pids.length === 1 ? 'it' : 'them'}: kill ${pids.slice(0, namedProcesses).join(' ')}. To keep GPUs until such processes end: canhazgpu run --wait-children`,
	].join('\n');
}
