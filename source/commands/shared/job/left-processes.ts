import type {GpuProcess, LeftProcess, ProcessIdentity} from '../../../core/model/types.js';
import type {App, OpenWorld} from '../../../app/contract.js';
import {processList} from '../../../format/status-labels.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {firstOf} from '../../../format/text/numbers.js';

const namedProcesses = 8;

const patienceMs = 2000;

export const waitingText = (children: readonly ProcessIdentity[]): string =>
	`canhazgpu: the command has ended, but its GPUs stay reserved until all processes that it started have ended: ${firstOf(
		children.map(({pid}) => `PID ${pid}`),
		namedProcesses,
	)}. Ctrl-C ends them.`;

/** Reports which processes still use the GPUs after the job, and what to do. Needs a scan. If the scan fails, reports nothing. */
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
