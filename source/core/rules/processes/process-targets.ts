/**
Which processes may be acted on. What is shown may be the scan of another account, who may have written anything there: a process is acted
on only when a scan of our own has it on the GPU and the kernel names it as it was shown.
*/
import type {FactsOfProcesses, GpuProcess, Observation} from '../../model/types.js';

/** A scan by this process, and the kernel's facts about the processes in question. */
export type OwnScan = {readonly observation: Observation; readonly facts: FactsOfProcesses};

const processesOn = ({gpus}: Observation, gpu: number): readonly GpuProcess[] =>
	gpus.find(({index}) => index === gpu)?.processes ?? [];

/** The pids that the scan has on a GPU. */
export const pidsOn = (observation: Observation, gpu: number): readonly number[] =>
	processesOn(observation, gpu).map(({pid}) => pid);

/** The processes of our account on a GPU: their memory as the GPU tells it, everything else as the kernel does. */
export const ownTargets = ({observation, facts}: OwnScan, gpu: number): readonly GpuProcess[] =>
	processesOn(observation, gpu).flatMap(({pid, memoryUsedMiB, kind}) => {
		const known = facts.get(pid);
		if (known?.isOwn !== true) {
			return [];
		}

		const {startTicks, user, name, commandLine} = known;
		return [{pid, memoryUsedMiB, kind, startTicks, user, name, commandLine}];
	});

/** Why a process is not acted on. */
export type TargetProblem =
	/** There is no scan of our own. */
	| {readonly kind: 'no-scan'; readonly message: string}
	/** The process has ended. Its pid can belong to another process now. */
	| {readonly kind: 'gone'}
	/** The process is simulated. */
	| {readonly kind: 'simulated'}
	| {readonly kind: 'not-on-gpu'}
	| {readonly kind: 'not-yours'; readonly user: string | undefined};

/** Returns why a process shown on a GPU must not be touched, or undefined. */
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
