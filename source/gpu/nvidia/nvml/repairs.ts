import {olderRecoveryAction, type Symptoms} from '../../health.js';
import {codes, integerAt, type Calls} from './calls.js';

/** What is known of failing memory, and of what the driver wants to be done. Absent where this GPU or library does not tell. */
type Repairs = Pick<Symptoms, 'recoveryAction' | 'hasFailedRemapping' | 'hasPendingPages'>;

/** `nvmlDeviceGpuRecoveryAction_t`, as nvidia-smi says it. One that is not here asks for nothing of this GPU. */
const recoveryActions = ['None', 'Reset', 'Reboot', 'Drain P2P', 'Drain and Reset', 'Reset (bus)'] as const;

/** Ids of fields, `NVML_FI_DEV_...`: what the driver wants done, and what older ones say instead. */
const fields = {recoveryAction: 230, isResetRequired: 226, isDrainRecommended: 227} as const;

/** The size of `nvmlFieldValue_t`, and where in it stand the code and the value. */
const layout = {size: 40, code: 28, value: 32} as const;

const readField = (calls: Calls, handle: bigint, id: number): number | undefined => {
	const memory = new Uint8Array(layout.size);
	const view = new DataView(memory.buffer);
	view.setUint32(0, id, true);
	const code = calls.call(['nvmlDeviceGetFieldValues'], ['handle', 'number', 'memory'], handle, 1, memory);
	return code === codes.success && integerAt(view, layout.code) === codes.success
		? integerAt(view, layout.value)
		: undefined;
};

const readRecovery = (calls: Calls, handle: bigint): string | undefined => {
	const action = readField(calls, handle, fields.recoveryAction);
	return action === undefined
		? olderRecoveryAction(
				readField(calls, handle, fields.isResetRequired) === 1,
				readField(calls, handle, fields.isDrainRecommended) === 1,
			)
		: recoveryActions[action];
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
