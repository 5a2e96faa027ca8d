/** Decides which processes may be signaled. A shown scan can come from another account, so an own scan and the kernel must confirm the process. */
import type {FactsOfProcesses, GpuProcess, Observation} from '../../model/types.js';

export type OwnScan = {readonly observation: Observation; readonly facts: FactsOfProcesses};

const processesOn = ({gpus}: Observation, gpu: number): readonly GpuProcess[] =>
	gpus.find(({index}) => index === gpu)?.processes ?? [];

export const pidsOn = (observation: Observation, gpu: number): readonly number[] =>
	processesOn(observation, gpu).map(({pid}) => pid);

/** Returns this account's processes on a GPU. The GPU tool reports their memory, and the kernel reports all other facts. */
export const ownTargets = ({observation, facts}: OwnScan, gpu: number): readonly GpuProcess[] =>
	processesOn(observation, gpu).flatMap(({pid, memoryUsedMiB, kind}) => {
		const known = facts.get(pid);
		if (known?.isOwn !== true) {
			return [];
		}

		const {startTicks, user, name, commandLine} = known;
		return [{pid, memoryUsedMiB, kind, startTicks, user, name, commandLine}];
	});

export type TargetProblem =
	| {readonly kind: 'no-scan'; readonly message: string}
	/** The process has ended. Its pid can belong to another process now. */
	| {readonly kind: 'gone'}
	| {readonly kind: 'simulated'}
	| {readonly kind: 'not-on-gpu'}
	| {readonly kind: 'not-yours'; readonly user: string | undefined};

/** Returns why a process shown on a GPU must not get a signal. Undefined if the process may get a signal. */
export function problemWith(
	{pid, startTicks}: Pick<GpuProcess, 'pid' | 'startTicks'>,
	gpu: number,
	{observation, facts}: OwnScan,
): TargetProblem | undefined {
	const known = facts.get(pid);
	if (known === undefined || known.startTicks !== startTicks) {
		const shown = processesOn(observation, gpu).find((process) => process.pid === pid);
		const isSimulated = observation.simulated && known === undefined && shown?.startTicks === startTicks;
		return {kind: isSimulated ? 'simulated' : 'gone'};
	}

	if (!known.isOwn) {
		return {kind: 'not-yours', user: known.user};
	}

	if (observation.failure !== undefined) {
		return {kind: 'no-scan', message: observation.failure.message};
	}

	return pidsOn(observation, gpu).includes(pid) ? undefined : {kind: 'not-on-gpu'};
}
