import type {GpuProcess} from '../../core/model/types.js';
import type {HostDetails} from './tool.js';

export type ProcessRow = {
	readonly pid: number;
	readonly memoryUsedMiB?: number;
	/** A path or a whole command line, as the tool saw it. */
	readonly program?: string;
	readonly utilizationPercent?: number;
	readonly kind?: GpuProcess['kind'];
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

/** Combines the tool's and the machine's facts about a process. The machine's name for the process is preferred. */
export const joinDetails = ({pid, memoryUsedMiB, program}: ProcessRow, found: HostDetails = {}): GpuProcess => {
	const details = isOfKernel(found) ? {} : found;
	return {
		pid,
		...details,
		name: details.name ?? baseName(program),
		commandLine: details.commandLine ?? program,
		memoryUsedMiB,
	};
};

/** Whether the pid belongs to a kernel thread, which uses no GPU. The tool's pid is then from another system, as under WSL. */
const isOfKernel = ({parentPid, commandLine, hostMemoryMiB}: HostDetails): boolean =>
	parentPid === 2 && commandLine === undefined && hostMemoryMiB === undefined;

const baseName = (program: string | undefined): string | undefined => program?.split(/\s/v, 1)[0]?.split('/').pop();
