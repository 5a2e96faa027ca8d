/**
Every return code of every NVML function that reads a value. The expected results are repeated here, so that a mistake in the program's table is
noticed.
*/
import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import type {NativeLibrary} from '../../../source/gpu/nvidia/nvml/library.js';
import {openScanner} from '../../../source/gpu/nvidia/nvml/scan.js';
import {attachProcesses} from '../../../source/gpu/nvidia/processes.js';
import {threshold} from './_words.js';

/** The field that each function reads. The functions for fan and power also fail on healthy cards. */
const functions: Readonly<Record<string, string>> = {
	nvmlDeviceGetMemoryInfo_v2: 'memory.used',
	nvmlDeviceGetUtilizationRates: 'utilization.gpu',
	nvmlDeviceGetTemperature: 'temperature.gpu',
	nvmlDeviceGetPerformanceState: 'pstate',
	nvmlDeviceGetClockInfo: 'clocks.current.sm',
	nvmlDeviceGetUUID: 'uuid',
	nvmlDeviceGetPowerUsage: 'power.draw',
	nvmlDeviceGetPowerManagementLimit: 'power.limit',
	nvmlDeviceGetFanSpeed: 'fan.speed',
	nvmlDeviceGetName: 'name',
	nvmlDeviceGetPciInfo_v3: 'pci.bus_id',
	nvmlDeviceGetTotalEccErrors: 'ecc.errors.uncorrected.volatile.total',
	nvmlDeviceGetComputeMode: 'compute_mode',
	nvmlDeviceGetMigMode: 'mig.mode.current',
	nvmlDeviceGetCudaComputeCapability: 'compute_cap',
	nvmlDeviceGetTemperatureThreshold: 'temperature.gpu.tlimit',
	nvmlDeviceGetCurrentClocksEventReasons: 'clocks_event_reasons.active',
	nvmlDeviceGetFieldValues: 'gpu_recovery_action',
	nvmlDeviceGetRemappedRows: 'remapped_rows.failure',
	nvmlDeviceGetRetiredPagesPendingStatus: 'retired_pages.pending',
	nvmlDeviceGetComputeRunningProcesses_v3: 'processes',
};
const names = Object.keys(functions);
const vital = new Set(names.slice(0, 6));
const fieldOf = (name: string): string => functions[name] ?? '?';

/** A library with one idle GPU, in which one function returns this code. */
const libraryWith = (failing?: string, code = 0): NativeLibrary => ({
	find: (name) =>
		names.includes(name) || ['nvmlInit_v2', 'nvmlDeviceGetCount_v2', 'nvmlDeviceGetHandleByIndex_v2'].includes(name)
			? (...given) => {
					if (name === failing) {
						return code;
					}

					const memory = given.find((one) => one instanceof Uint8Array)!;
					if (name === 'nvmlDeviceGetCount_v2') {
						memory[0] = 1;
					} else if (name === 'nvmlDeviceGetUUID') {
						memory.set(new TextEncoder().encode('GPU-1'));
					} else if (name.startsWith('nvmlDeviceGetMemoryInfo')) {
						new DataView(memory.buffer).setBigUint64(8, 2n ** 36n, true);
					} else if (name.startsWith('nvmlDeviceGetTemperature')) {
						memory[0] = name.endsWith('Threshold') ? 90 : 30;
					} else if (name.startsWith('nvmlDeviceGetCompute') && name.includes('Processes')) {
						memory.fill(0);
					}

					return 0;
				}
			: undefined,
});

const scan = async (failing?: string, code?: number) => {
	const {gpus, processes} = openScanner(libraryWith(failing, code)).scan();
	const attached = await attachProcesses(gpus, processes, async () => new Map());
	return {failure: attached.gpus[0]?.failure, use: judgeUsage(attached.gpus[0], threshold).kind};
};

/** Codes: not supported, no permission, not found, unknown function, another version, deprecated. */
const absentCodes = new Set([3, 4, 6, 13, 25, 26]);
const lostCodes: ReadonlyMap<number, string> = new Map([
	[15, 'GPU is lost'],
	[16, 'GPU requires reset'],
]);

test('a scan in which NVML returns no errors reports the GPU as idle', async () => {
	expect(await scan()).toEqual({failure: undefined, use: 'idle'});
});

test('the NVML codes for a lost GPU and a required reset mean a broken GPU, whichever function returns them', async () => {
	for (const name of names) {
		for (const [code, word] of lostCodes) {
			expect(await scan(name, code), name).toEqual({failure: `${word} (${fieldOf(name)})`, use: 'failed'});
		}
	}
});

test('any other NVML error means a broken GPU only if a vital function returns it', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(...names),
			fc.oneof(fc.integer({min: 1, max: 40}), fc.constant(999)),
			async (name, code) => {
				// Code 7 means that the process list has grown. After other codes, an older form of a function is used.
				fc.pre(!lostCodes.has(code) && code !== 7);
				fc.pre(name !== 'nvmlDeviceGetMemoryInfo_v2' || code === 999);
				const {failure, use} = await scan(name, code);
				const isBroken = vital.has(name) && !absentCodes.has(code);
				expect(use === 'failed', `${name} ${code} ${failure}`).toBe(isBroken || name === 'nvmlDeviceGetUUID');
				expect(failure === undefined || failure.endsWith(` (${fieldOf(name)})`)).toBe(true);
			},
		),
		{numRuns: 2000},
	);
});
