import type {Symptoms} from '../health.js';
import {codes, integerAt, type Calls} from './calls.js';

/** What is known of failing memory, and of what the driver wants to be done. Absent where this GPU or library does not tell. */
export type Repairs = Pick<Symptoms, 'recoveryAction' | 'hasFailedRemapping' | 'hasPendingPages'>;

/** `nvmlDeviceGpuRecoveryAction_t`, as nvidia-smi says it. One that is not here asks for nothing of this GPU. */
const recoveryActions = ['None', 'Reset', 'Reboot', 'Drain P2P', 'Drain and Reset', 'Reset (bus)'] as const;

/** `NVML_FI_DEV_GET_GPU_RECOVERY_ACTION`. */
const recoveryField = 230;

/** Of `nvmlFieldValue_t`, and where in it stand the code and the value. */
const field = {size: 40, code: 28, value: 32} as const;

const readRecovery = (calls: Calls, handle: bigint): string | undefined => {
	const memory = new Uint8Array(field.size);
	const view = new DataView(memory.buffer);
	view.setUint32(0, recoveryField, true);
	const code = calls.call(['nvmlDeviceGetFieldValues'], ['handle', 'number', 'memory'], handle, 1, memory);
	return code === codes.success && integerAt(view, field.code) === codes.success
		? recoveryActions[integerAt(view, field.value)]
		: undefined;
};

/** The last of the numbers that the function writes, as yes or no. */
const readFlag = (calls: Calls, name: string, handle: bigint, count: number): boolean | undefined => {
	const numbers = Array.from({length: count}, () => new Uint8Array(4));
	const code = calls.call([name], ['handle', ...numbers.map(() => 'memory' as const)], handle, ...numbers);
	const last = numbers.at(-1);
	return code === codes.success && last !== undefined ? integerAt(new DataView(last.buffer)) === 1 : undefined;
};

export const readRepairs = (calls: Calls, handle: bigint): Repairs => ({
	recoveryAction: readRecovery(calls, handle),
	// Rows remapped for corrected and for uncorrected errors, whether more wait for a reset, whether that failed.
	hasFailedRemapping: readFlag(calls, 'nvmlDeviceGetRemappedRows', handle, 4),
	hasPendingPages: readFlag(calls, 'nvmlDeviceGetRetiredPagesPendingStatus', handle, 1),
});
