import type {ProcessRow} from '../../tool/process-rows.js';
import type {BareReading} from '../../reading.js';
import {ask, askText, codes, createCalls, integerAt, longAt, wordOf} from './calls.js';
import {brokenDevice, readDevice} from './device.js';
import type {NativeLibrary} from './library.js';
import type {WholeScan} from './lines.js';
import {readProcesses, readUtilization} from './processes.js';

const mostGpus = 1024;

type LibraryScanner = {
	/** Scans all GPUs. Throws Error if the GPUs cannot be counted. */
	readonly scan: () => WholeScan;
	readonly close: () => void;
};

/** Initializes the library. Throws Error if this fails, for example without a driver or permission, or if the driver has another version. */
export const openScanner = (library: NativeLibrary): LibraryScanner => {
	const calls = createCalls(library);
	const begun = calls.call(['nvmlInit_v2', 'nvmlInit'], []);
	if (begun !== codes.success) {
		throw new Error(`NVML cannot be started: ${begun}`);
	}

	/** Time of the last utilization sample of each GPU's processes, by UUID. */
	const latestSamples = new Map<string, number>();

	const withUtilization = (rows: readonly ProcessRow[], handle: bigint, uuid: string): readonly ProcessRow[] => {
		const {byPid, latest} = readUtilization(calls, handle, latestSamples.get(uuid) ?? 0);
		latestSamples.set(uuid, latest);
		return rows.map((row) => {
			const utilizationPercent = byPid.get(row.pid);
			return utilizationPercent === undefined ? row : {...row, utilizationPercent};
		});
	};

	return {
		scan() {
			const count = ask(calls, ['nvmlDeviceGetCount_v2'], {}, integerAt);
			if ('no' in count || count.value === 0 || count.value > mostGpus) {
				throw new Error('NVML reports no GPUs');
			}

			const version = askText(calls, 'nvmlSystemGetDriverVersion');
			const gpus: BareReading[] = [];
			const byGpu = new Map<string, readonly ProcessRow[]>();
			const hidden = new Map<string, string>();
			for (let index = 0; index < count.value; index++) {
				const handle = ask(calls, ['nvmlDeviceGetHandleByIndex_v2'], {numbers: [index], size: 8}, longAt);
				if ('no' in handle) {
					gpus.push(brokenDevice(index, handle.no));
					continue;
				}

				const gpu = readDevice(calls, handle.value, index);
				gpus.push(gpu);
				if (gpu.uuid === undefined) {
					continue;
				}

				const rows = readProcesses(calls, handle.value);
				if ('no' in rows) {
					hidden.set(gpu.uuid, wordOf(rows.no));
				} else {
					byGpu.set(gpu.uuid, withUtilization(rows.value, handle.value, gpu.uuid));
				}
			}

			return {
				gpus,
				processes: {byGpu, hidden, remarks: []},
				driverVersion: 'value' in version ? version.value : undefined,
			};
		},
		close() {
			calls.call(['nvmlShutdown'], []);
		},
	};
};
