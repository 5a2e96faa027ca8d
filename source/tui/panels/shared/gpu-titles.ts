/** What the columns of the table of GPUs are called. */
import type {GpuColumnName} from '../../../format/monitor-settings.js';

type Title = {
	/** Above the column. */
	readonly short: string;
	/** What stands in it, for the list of all columns. */
	readonly meaning: string;
};

export const gpuTitles: Readonly<Record<GpuColumnName, Title>> = {
	gpu: {short: 'GPU', meaning: 'index'},
	model: {short: 'MODEL', meaning: 'model, by itself on a mixed box'},
	state: {short: 'STATE', meaning: 'free, reserved, mine and so on'},
	owner: {short: 'OWNER', meaning: 'who holds or uses it'},
	kind: {short: 'KIND', meaning: 'a job (RUN) or by hand (MANUAL)'},
	held: {short: 'HELD', meaning: 'for how long'},
	ends: {short: 'ENDS', meaning: 'when the reservation ends'},
	utilization: {short: 'UTIL', meaning: 'load of its processors'},
	memory: {short: 'MEM', meaning: 'memory in use'},
	temperature: {short: 'TEMP ', meaning: 'temperature'},
	power: {short: 'PWR', meaning: 'power'},
	history: {short: '5-MIN', meaning: 'load of the last five minutes'},
	note: {short: 'NOTE', meaning: 'note of the reservation'},
	process: {short: 'PROCESS', meaning: 'largest process, or what is wrong'},
	fan: {short: 'FAN', meaning: 'fan'},
	clock: {short: 'CLOCK', meaning: 'clock of its processors'},
	pci: {short: 'PCI', meaning: 'address on the PCI bus'},
	numa: {short: 'NUMA', meaning: 'NUMA node'},
};
