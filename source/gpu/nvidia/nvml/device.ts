import {type GpuReading, type MigInstance, normalizePciBusId} from '../../../core/model/observation.js';
import {healthOf, olderRecoveryAction, type Symptoms} from '../../health.js';
import {isBrakingForHeat, throttleWords} from '../problems/throttle.js';
import {type BareReading, withoutVoidMemory} from '../../reading.js';
import {
	ask,
	askText,
	codes,
	inMebibytes,
	integerAt,
	longAt,
	textIn,
	wordOf,
	type Calls,
	type Refusal,
	type Answer,
} from './calls.js';

const mebibytesAt = (memory: DataView, offset: number): number => inMebibytes(longAt(memory, offset));
const long = (memory: DataView): number => Number(longAt(memory));
const watts = (memory: DataView): number => integerAt(memory) / 1000;

type Memory = {readonly total: number; readonly used: number; readonly reserved?: number};

/** In the second form the caller says which version it is: the size, and 2 in the highest byte. */
const readMemory = (calls: Calls, handle: bigint): Answer<Memory> => {
	const size = 40;
	const memory = new Uint8Array(size);
	new DataView(memory.buffer).setUint32(0, size + 2 * 2 ** 24, true);
	const code = calls.call(['nvmlDeviceGetMemoryInfo_v2'], ['handle', 'memory'], handle, memory);
	if (code === codes.success) {
		const view = new DataView(memory.buffer);
		return {value: {total: mebibytesAt(view, 8), reserved: mebibytesAt(view, 16), used: mebibytesAt(view, 32)}};
	}

	return isAnswer(code)
		? {no: code}
		: ask(calls, ['nvmlDeviceGetMemoryInfo'], {handle, size: 24}, (old) => ({
				total: mebibytesAt(old, 0),
				used: mebibytesAt(old, 16),
			}));
};

/** Of the GPU, not of the library's age. */
const isAnswer = (no: Refusal): boolean =>
	new Set<Refusal>([codes.gpuIsLost, codes.resetRequired, codes.unknown]).has(no);

const computeModes = ['Default', 'Exclusive_Thread', 'Prohibited', 'Exclusive_Process'] as const;

/** The name of a part ends in its profile: `NVIDIA A100 MIG 1g.10gb`. */
const profileOf = (name: string): string | undefined => / MIG (?<profile>\S+)$/v.exec(name)?.groups?.['profile'];

const valueOf = <Value>(answer: Answer<Value>): Value | undefined => ('value' in answer ? answer.value : undefined);

const readParts = (calls: Calls, handle: bigint): readonly MigInstance[] | undefined => {
	const most = valueOf(ask(calls, ['nvmlDeviceGetMaxMigDeviceCount'], {handle}, integerAt));
	return most === undefined
		? undefined
		: Array.from({length: Math.min(most, 64)}, (_, number) =>
				ask(calls, ['nvmlDeviceGetMigDeviceHandleByIndex'], {handle, numbers: [number], size: 8}, longAt),
			).flatMap((answer, number) => ('value' in answer ? [{number, ...readPart(calls, answer.value)}] : []));
};

const readPart = (calls: Calls, handle: bigint): MigInstance => {
	const memory = valueOf(readMemory(calls, handle));
	return {
		profile: profileOf(valueOf(askText(calls, 'nvmlDeviceGetName', handle)) ?? ''),
		uuid: valueOf(askText(calls, 'nvmlDeviceGetUUID', handle)),
		gpuInstanceId: valueOf(ask(calls, ['nvmlDeviceGetGpuInstanceId'], {handle}, integerAt)),
		computeInstanceId: valueOf(ask(calls, ['nvmlDeviceGetComputeInstanceId'], {handle}, integerAt)),
		memoryUsedMiB: memory?.used,
		memoryTotalMiB: memory?.total,
	};
};

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

/** A function that writes so many numbers. */
const askNumbers = (calls: Calls, name: string, handle: bigint, count: number): Answer<readonly number[]> => {
	const numbers = Array.from({length: count}, () => new Uint8Array(4));
	const code = calls.call([name], ['handle', ...numbers.map(() => 'memory' as const)], handle, ...numbers);
	return code === codes.success ? {value: numbers.map((memory) => integerAt(new DataView(memory.buffer)))} : {no: code};
};

const isOne = (number: number | undefined): boolean | undefined => (number === undefined ? undefined : number === 1);

/** The last of these numbers, as yes or no. */
const readFlag = (calls: Calls, name: string, handle: bigint, count: number): boolean | undefined =>
	isOne(valueOf(askNumbers(calls, name, handle, count))?.at(-1));

/** What is known of failing memory, and of what the driver wants to be done. Absent where this GPU or library does not tell. */
const readRepairs = (
	calls: Calls,
	handle: bigint,
): Pick<Symptoms, 'recoveryAction' | 'hasFailedRemapping' | 'hasPendingPages'> => ({
	recoveryAction: readRecovery(calls, handle),
	// Rows remapped for corrected and for uncorrected errors, whether more wait for a reset, whether that failed.
	hasFailedRemapping: readFlag(calls, 'nvmlDeviceGetRemappedRows', handle, 4),
	hasPendingPages: readFlag(calls, 'nvmlDeviceGetRetiredPagesPendingStatus', handle, 1),
});

/** A GPU of which nothing is known but that it fails, and how. */
export const brokenDevice = (index: number, no: Refusal): BareReading => {
	const failure = wordOf(no).slice(1, -1);
	return {index, failure, ...healthOf({failure}), unknown: {}};
};

/** Everything that the library tells of one GPU but its processes. */
export const readDevice = (calls: Calls, handle: bigint, index: number): BareReading => {
	const unknown: Record<string, string> = {};
	let broken: Refusal | undefined;

	const keep = <Value>(field: keyof GpuReading, answer: Answer<Value>): Value | undefined => {
		if ('value' in answer) {
			return answer.value;
		}

		broken ??= answer.no === codes.gpuIsLost || answer.no === codes.resetRequired ? answer.no : undefined;
		unknown[field] = wordOf(answer.no);
		return undefined;
	};

	const number = (field: keyof GpuReading, names: readonly string[], numbers: readonly number[] = []) =>
		keep(field, ask(calls, names, {handle, numbers}, integerAt));

	const busId = keep(
		'pciBusId',
		ask(calls, ['nvmlDeviceGetPciInfo_v3'], {handle, size: 68}, (memory) =>
			textIn(new Uint8Array(memory.buffer, memory.byteOffset + 36, 32)),
		),
	);
	const memory = keep('memoryUsedMiB', readMemory(calls, handle));
	const rates = keep(
		'utilizationPercent',
		ask(
			calls,
			['nvmlDeviceGetUtilizationRates'],
			{handle, size: 8},
			(both) => [integerAt(both), integerAt(both, 4)] as const,
		),
	);
	const temperatureCelsius = number('temperatureCelsius', ['nvmlDeviceGetTemperature'], [0]);
	const temperatureLimitCelsius = number('temperatureLimitCelsius', ['nvmlDeviceGetTemperatureThreshold'], [1]);
	const reasons = keep(
		'throttleReasons',
		ask(
			calls,
			['nvmlDeviceGetCurrentClocksEventReasons', 'nvmlDeviceGetCurrentClocksThrottleReasons'],
			{handle, size: 8},
			long,
		),
	);
	const eccUncorrectedErrors = keep(
		'eccUncorrectedErrors',
		ask(calls, ['nvmlDeviceGetTotalEccErrors'], {handle, numbers: [1, 0], size: 8}, long),
	);
	const [mig, pendingMig] = keep('isMigEnabled', askNumbers(calls, 'nvmlDeviceGetMigMode', handle, 2)) ?? [];
	const isMigEnabled = isOne(mig);
	const capability = keep('computeCapability', askNumbers(calls, 'nvmlDeviceGetCudaComputeCapability', handle, 2));
	const reading = {
		index,
		uuid: keep('uuid', askText(calls, 'nvmlDeviceGetUUID', handle)),
		pciBusId: normalizePciBusId(busId ?? '') ?? busId,
		name: keep('name', askText(calls, 'nvmlDeviceGetName', handle)),
		memoryUsedMiB: memory?.used,
		memoryTotalMiB: memory?.total,
		memoryReservedMiB: memory?.reserved,
		utilizationPercent: rates?.[0],
		memoryUtilizationPercent: rates?.[1],
		temperatureCelsius,
		temperatureLimitCelsius,
		powerWatts: keep('powerWatts', ask(calls, ['nvmlDeviceGetPowerUsage'], {handle}, watts)),
		powerLimitWatts: keep('powerLimitWatts', ask(calls, ['nvmlDeviceGetPowerManagementLimit'], {handle}, watts)),
		fanPercent: number('fanPercent', ['nvmlDeviceGetFanSpeed']),
		smClockMHz: number('smClockMHz', ['nvmlDeviceGetClockInfo'], [1]),
		memoryClockMHz: number('memoryClockMHz', ['nvmlDeviceGetClockInfo'], [2]),
		throttleReasons: reasons === undefined ? undefined : throttleWords(reasons),
		eccUncorrectedErrors,
		isMigEnabled,
		...(mig !== pendingMig && {isMigPending: true}),
		...(isMigEnabled === true && {migInstances: readParts(calls, handle)}),
		computeMode: computeModes[number('computeMode', ['nvmlDeviceGetComputeMode']) ?? -1],
		computeCapability: capability?.join('.'),
	};
	// Nothing but errors where it says who it is: not a sensor, the GPU.
	broken ??= reading.uuid === undefined || unknown['memoryUsedMiB'] === '[Unknown Error]' ? codes.unknown : undefined;
	const failure = broken === undefined ? undefined : wordOf(broken).slice(1, -1);
	const health = healthOf({
		failure,
		...readRepairs(calls, handle),
		eccUncorrectedErrors,
		temperatureCelsius,
		temperatureLimitCelsius,
		isBrakingForHeat: reasons !== undefined && isBrakingForHeat(reasons),
	});
	return withoutVoidMemory({...reading, ...health, failure, unknown});
};
