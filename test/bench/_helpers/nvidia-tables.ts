import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {gpuFields, processFields} from '../../../source/gpu/nvidia/fields.js';

type Size = {
	readonly gpuCount: number;
	readonly pids: readonly number[];
	/** Memory in use on each GPU, in MiB. */
	readonly memoryUsed?: number;
};

const uuidOf = (index: number): string => `GPU-00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;

const cells: Readonly<Record<string, string>> = {
	name: 'NVIDIA H100 80GB HBM3',
	'memory.total': '81559',
	'utilization.gpu': '97',
	'utilization.memory': '41',
	'temperature.gpu': '61',
	pstate: 'P0',
	'power.draw': '640.50',
	'power.limit': '700.00',
	'clocks.current.sm': '1755',
	'clocks.current.memory': '2619',
	compute_mode: 'Default',
	'ecc.errors.uncorrected.volatile.total': '0',
	driver_version: '580.65.06',
	'mig.mode.current': 'Disabled',
	'memory.reserved': '612',
	compute_cap: '9.0',
	'clocks_event_reasons.active': '0x0000000000000004',
	'temperature.gpu.tlimit': '26',
	gpu_recovery_action: 'None',
	'remapped_rows.failure': 'No',
};

/** The output of nvidia-smi for this many GPUs, with these processes spread over them. */
export const tables = ({
	gpuCount,
	pids,
	memoryUsed = 40_123,
}: Size): {readonly gpus: string; readonly processes: string} => {
	const fields = gpuFields(new Set());
	const gpus = Array.from({length: gpuCount}, (_, index) => {
		const own: Readonly<Record<string, string>> = {
			index: String(index),
			'memory.used': String(memoryUsed),
			uuid: uuidOf(index),
			'pci.bus_id': `00000000:${index.toString(16).padStart(2, '0')}:00.0`,
		};
		return fields.map((field) => own[field] ?? cells[field] ?? '[N/A]').join(', ');
	});
	const processes = pids.map((pid, position) => `${uuidOf(position % gpuCount)}, ${pid}, 5012`);
	return {
		gpus: `${[fields.join(', '), ...gpus].join('\n')}\n`,
		processes: `${[processFields.join(', '), ...processes].join('\n')}\n`,
	};
};

/** Shell lines that print the requested table. */
export const answerOf = (directory: string, size: Size): string => {
	const {gpus, processes} = tables(size);
	writeFileSync(path.join(directory, 'gpus.csv'), gpus);
	writeFileSync(path.join(directory, 'processes.csv'), processes);
	return `case "$1" in --query-gpu*) cat '${directory}/gpus.csv';; *) cat '${directory}/processes.csv';; esac`;
};
