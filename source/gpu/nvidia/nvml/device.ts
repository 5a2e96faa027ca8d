import type {GpuReading, MigInstance} from '../../../core/model/observation.js';
import {judgeHealth} from '../../health.js';
import {isBrakingForHeat, throttleWords} from '../problems/throttle.js';
import {normalizePciBusId} from '../../../core/model/pci.js';
import {type BareReading, withoutVoidMemory} from '../../reading.js';
import {readRepairs} from './repairs.js';
import {
	ask,
	askText,
	codes,
	integerAt,
	longAt,
	textIn,
	wordOf,
	type Calls,
	type Refusal,
	type Answer,
} from './calls.js';

const bytesPerMiB = 1024 * 1024;
const mebibytes = (memory: DataView, offset: number): number =>
	Math.floor(Number(longAt(memory, offset)) / bytesPerMiB);
const first = (memory: DataView): number => integerAt(memory);
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
		return {value: {total: mebibytes(view, 8), reserved: mebibytes(view, 16), used: mebibytes(view, 32)}};
	}

	return isAnswer(code)
		? {no: code}
		: ask(calls, ['nvmlDeviceGetMemoryInfo'], {handle, size: 24}, (old) => ({
				total: mebibytes(old, 0),
				used: mebibytes(old, 16),
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
	const most = valueOf(ask(calls, ['nvmlDeviceGetMaxMigDeviceCount'], {handle}, first));
	return most === undefined
		? undefined
		: Array.from({length: Math.min(most, 64)}, (_, number) =>
				ask(calls, ['nvmlDeviceGetMigDeviceHandleByIndex'], {handle, numbers: [number], size: 8}, (memory) =>
					longAt(memory),
				),
			).flatMap((answer, number) => ('value' in answer ? [{number, ...readPart(calls, answer.value)}] : []));
};

const readPart = (calls: Calls, handle: bigint): MigInstance => {
	const memory = valueOf(readMemory(calls, handle));
	return {
		profile: profileOf(valueOf(askText(calls, 'nvmlDeviceGetName', handle)) ?? ''),
		uuid: valueOf(askText(calls, 'nvmlDeviceGetUUID', handle)),
		gpuInstanceId: valueOf(ask(calls, ['nvmlDeviceGetGpuInstanceId'], {handle}, first)),
		computeInstanceId: valueOf(ask(calls, ['nvmlDeviceGetComputeInstanceId'], {handle}, first)),
		memoryUsedMiB: memory?.used,
		memoryTotalMiB: memory?.total,
	};
};

/** A GPU of which nothing is known but that it fails, and how. */
export const brokenDevice = (index: number, no: Refusal): BareReading => {
	const failure = wordOf(no).slice(1, -1);
	const health = judgeHealth({failure});
	return {index, failure, ...(health.length > 0 && {health}), unknown: {}};
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
		keep(field, ask(calls, names, {handle, numbers}, first));

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
			(both) => [first(both), integerAt(both, 4)] as const,
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
	const modes = keep('isMigEnabled', readMigModes(calls, handle));
	const mig = modes?.isEnabled;
	const capability = keep('computeCapability', readCapability(calls, handle));
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
		isMigEnabled: mig,
		...(modes?.isPending === true && {isMigPending: true}),
		...(mig === true && {migInstances: readParts(calls, handle)}),
		computeMode: computeModes[number('computeMode', ['nvmlDeviceGetComputeMode']) ?? -1],
		computeCapability: capability,
	};
	// Nothing but errors where it says who it is: not a sensor, the GPU.
	broken ??= reading.uuid === undefined || unknown['memoryUsedMiB'] === '[Unknown Error]' ? codes.unknown : undefined;
	const failure = broken === undefined ? undefined : wordOf(broken).slice(1, -1);
	const health = judgeHealth({
		failure,
		...readRepairs(calls, handle),
		eccUncorrectedErrors,
		temperatureCelsius,
		temperatureLimitCelsius,
		isBrakingForHeat: reasons !== undefined && isBrakingForHeat(reasons),
	});
	return withoutVoidMemory({...reading, ...(health.length > 0 && {health}), failure, unknown});
};

const readMigModes = (
	calls: Calls,
	handle: bigint,
): Answer<{readonly isEnabled: boolean; readonly isPending: boolean}> => {
	const [current, pending] = [new Uint8Array(4), new Uint8Array(4)];
	const code = calls.call(['nvmlDeviceGetMigMode'], ['handle', 'memory', 'memory'], handle, current, pending);
	return code === codes.success
		? {value: {isEnabled: current[0] === 1, isPending: current[0] !== pending[0]}}
		: {no: code};
};

const readCapability = (calls: Calls, handle: bigint): Answer<string> => {
	const [major, minor] = [new Uint8Array(4), new Uint8Array(4)];
	const code = calls.call(['nvmlDeviceGetCudaComputeCapability'], ['handle', 'memory', 'memory'], handle, major, minor);
	return code === codes.success ? {value: `${major[0]}.${minor[0]}`} : {no: code};
};
