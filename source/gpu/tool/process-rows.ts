import type {GpuProcess} from '../../core/model/types.js';
import type {HostDetails} from './tool.js';

/** A process as a GPU tool lists it. */
export type ProcessRow = {
	readonly pid: number;
	readonly memoryUsedMiB?: number;
	/** A path or a whole command line, as the tool saw it. */
	readonly program?: string;
	readonly utilizationPercent?: number;
	readonly kind?: GpuProcess['kind'];
	/** GPU instance that the process uses. */
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

/** Puts what the tool and what the machine know of a process together. The machine knows names better. */
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

/** A thread of the kernel's own uses no GPU: the tool counts the processes of another system, as under WSL. */
const isOfKernel = ({parentPid, commandLine, hostMemoryMiB}: HostDetails): boolean =>
	parentPid === 2 && commandLine === undefined && hostMemoryMiB === undefined;

const baseName = (program: string | undefined): string | undefined => program?.split(/\s/v, 1)[0]?.split('/').pop();
