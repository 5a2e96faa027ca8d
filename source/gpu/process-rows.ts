import type {GpuProcess} from '../core/types.js';
import type {HostDetails} from './tool.js';

/**
A process as a GPU tool lists it.
*/
export type ProcessRow = {
	readonly pid: number;
	readonly memoryUsedMiB?: number;
	/**
	A path or a whole command line, as the tool saw it.
	*/
	readonly program?: string;
	readonly utilizationPercent?: number;
	readonly kind?: GpuProcess['kind'];
};

/**
Puts what the tool and what the machine know of a process together. The machine knows names better.
*/
export const joinDetails = ({pid, memoryUsedMiB, program}: ProcessRow, details: HostDetails = {}): GpuProcess => ({
	pid,
	...details,
	name: details.name ?? baseName(program),
	commandLine: details.commandLine ?? program,
	memoryUsedMiB,
});

const baseName = (program: string | undefined): string | undefined => program?.split(/\s/v, 1)[0]?.split('/').pop();
