import {type MigInstance, normalizePciBusId} from '../../../core/model/observation.js';
import {failureOfWords, withoutBrackets, type ReadingWord} from '../../error-words.js';
import {healthOf, olderRecoveryAction, type Symptoms} from '../../health.js';
import {readingNamed, readingOfField, type ReadingField} from '../fields.js';
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

/** Reads the memory in use. Version 2 of the function requires a version in the structure: its size, with 2 in the highest byte. */
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

/** Whether the refusal is about the GPU and not about an old library. */
const isAnswer = (no: Refusal): boolean =>
	new Set<Refusal>([codes.gpuIsLost, codes.resetRequired, codes.unknown]).has(no);

const computeModes = ['Default', 'Exclusive_Thread', 'Prohibited', 'Exclusive_Process'] as const;

/** Returns the profile at the end of an instance's name, such as `NVIDIA A100 MIG 1g.10gb`. */
const profileOf = (name: string): string | undefined => / MIG (?<profile>\S+)$/v.exec(name)?.groups?.['profile'];

const valueOf = <Value>(answer: Answer<Value>): Value | undefined => ('value' in answer ? answer.value : undefined);

/** Returns the MIG instances of a GPU. Undefined if they are not all known, because a missing instance would not be shown as held. */
const readParts = (calls: Calls, handle: bigint): readonly MigInstance[] | undefined => {
	const most = valueOf(ask(calls, ['nvmlDeviceGetMaxMigDeviceCount'], {handle}, integerAt));
	const answers = Array.from({length: Math.min(most ?? 0, 64)}, (_, number) =>
		ask(calls, ['nvmlDeviceGetMigDeviceHandleByIndex'], {handle, numbers: [number], size: 8}, longAt),
	);
	// NVML answers `not found` for a number without an instance.
	const isUnreadable = answers.some((answer) => 'no' in answer && answer.no !== codes.notFound);
	return most === undefined || isUnreadable
		? undefined
		: answers.flatMap((answer, number) => ('value' in answer ? [{number, ...readPart(calls, answer.value)}] : []));
};

const readPart = (calls: Calls, handle: bigint): MigInstance => {
	const memory = readMemory(calls, handle);
	return {
		profile: profileOf(valueOf(askText(calls, 'nvmlDeviceGetName', handle)) ?? ''),
		uuid: valueOf(askText(calls, 'nvmlDeviceGetUUID', handle)),
		gpuInstanceId: valueOf(ask(calls, ['nvmlDeviceGetGpuInstanceId'], {handle}, integerAt)),
		computeInstanceId: valueOf(ask(calls, ['nvmlDeviceGetComputeInstanceId'], {handle}, integerAt)),
		...('value' in memory
			? {memoryUsedMiB: memory.value.used, memoryTotalMiB: memory.value.total}
			: {unknown: {memoryUsedMiB: wordOf(memory.no)}}),
	};
};

/** The values of `nvmlDeviceGpuRecoveryAction_t`, in nvidia-smi's words. Other values require no action on this GPU. */
const recoveryActions = ['None', 'Reset', 'Reboot', 'Drain P2P', 'Drain and Reset', 'Reset (bus)'] as const;

/** Ids of fields, `NVML_FI_DEV_...`: the recommended action, and the two flags that old drivers report instead. */
const fields = {recoveryAction: 230, isResetRequired: 226, isDrainRecommended: 227} as const;

/** The size of `nvmlFieldValue_t`, and the offsets of the code and the value. */
const layout = {size: 40, code: 28, value: 32} as const;

const readField = (calls: Calls, handle: bigint, id: number): Answer<number> => {
	const memory = new Uint8Array(layout.size);
	const view = new DataView(memory.buffer);
	view.setUint32(0, id, true);
	const called = calls.call(['nvmlDeviceGetFieldValues'], ['handle', 'number', 'memory'], handle, 1, memory);
	const code = called === codes.success ? integerAt(view, layout.code) : called;
	return code === codes.success ? {value: integerAt(view, layout.value)} : {no: code};
};

/** Returns the value of an answer. If there is no value, stores nvidia-smi's word for the reason under nvidia-smi's field name. */
type Keep = <Value>(field: string, answer: Answer<Value>) => Value | undefined;

const readRecovery = (calls: Calls, handle: bigint, keep: Keep): string | undefined => {
	const read = (field: string, id: number) => keep(field, readField(calls, handle, id));
	const action = read('gpu_recovery_action', fields.recoveryAction);
	return action === undefined
		? olderRecoveryAction(
				read('reset_status.reset_required', fields.isResetRequired) === 1,
				read('reset_status.drain_and_reset_recommended', fields.isDrainRecommended) === 1,
			)
		: recoveryActions[action];
};

const askNumbers = (calls: Calls, name: string, handle: bigint, count: number): Answer<readonly number[]> => {
	const numbers = Array.from({length: count}, () => new Uint8Array(4));
	const code = calls.call([name], ['handle', ...numbers.map(() => 'memory' as const)], handle, ...numbers);
	return code === codes.success ? {value: numbers.map((memory) => integerAt(new DataView(memory.buffer)))} : {no: code};
};

const isOne = (number: number | undefined): boolean | undefined => (number === undefined ? undefined : number === 1);

const readRepairs = (
	calls: Calls,
	handle: bigint,
	keep: Keep,
): Pick<Symptoms, 'recoveryAction' | 'hasFailedRemapping' | 'hasPendingPages'> => {
	const flag = (field: string, name: string, count: number) =>
		isOne(keep(field, askNumbers(calls, name, handle, count))?.at(-1));
	return {
		recoveryAction: readRecovery(calls, handle, keep),
		// The answer has four numbers: rows remapped for corrected and for uncorrected errors, whether rows wait for a reset, whether remapping failed.
		hasFailedRemapping: flag('remapped_rows.failure', 'nvmlDeviceGetRemappedRows', 4),
		hasPendingPages: flag('retired_pages.pending', 'nvmlDeviceGetRetiredPagesPendingStatus', 1),
	};
};

export const brokenDevice = (index: number, no: Refusal): BareReading => {
	const failure = withoutBrackets(wordOf(no));
	return {index, failure, ...healthOf({failure}), unknown: {}};
};

export const readDevice = (calls: Calls, handle: bigint, index: number): BareReading => {
	const unknown: Record<string, string> = {};
	const words: ReadingWord[] = [];

	const note: Keep = (field, answer) => {
		if ('value' in answer) {
			return answer.value;
		}

		words.push({field, word: wordOf(answer.no), reading: readingNamed(field)});
		return undefined;
	};

	const keep = <Value>(field: ReadingField, answer: Answer<Value>): Value | undefined => {
		if ('no' in answer) {
			unknown[readingOfField[field]] = wordOf(answer.no);
		}

		return note(field, answer);
	};

	const number = (field: ReadingField, names: readonly string[], numbers: readonly number[] = []) =>
		keep(field, ask(calls, names, {handle, numbers}, integerAt));

	const busId = keep(
		'pci.bus_id',
		ask(calls, ['nvmlDeviceGetPciInfo_v3'], {handle, size: 68}, (memory) =>
			textIn(new Uint8Array(memory.buffer, memory.byteOffset + 36, 32)),
		),
	);
	const memory = keep('memory.used', readMemory(calls, handle));
	const rates = keep(
		'utilization.gpu',
		ask(
			calls,
			['nvmlDeviceGetUtilizationRates'],
			{handle, size: 8},
			(both) => [integerAt(both), integerAt(both, 4)] as const,
		),
	);
	const temperatureCelsius = number('temperature.gpu', ['nvmlDeviceGetTemperature'], [0]);
	number('pstate', ['nvmlDeviceGetPerformanceState', 'nvmlDeviceGetPowerState']);
	const temperatureLimitCelsius = number('temperature.gpu.tlimit', ['nvmlDeviceGetTemperatureThreshold'], [1]);
	const reasons = keep(
		'clocks_event_reasons.active',
		ask(
			calls,
			['nvmlDeviceGetCurrentClocksEventReasons', 'nvmlDeviceGetCurrentClocksThrottleReasons'],
			{handle, size: 8},
			long,
		),
	);
	const eccUncorrectedErrors = keep(
		'ecc.errors.uncorrected.volatile.total',
		ask(calls, ['nvmlDeviceGetTotalEccErrors'], {handle, numbers: [1, 0], size: 8}, long),
	);
	const [mig, pendingMig] = keep('mig.mode.current', askNumbers(calls, 'nvmlDeviceGetMigMode', handle, 2)) ?? [];
	const isMigEnabled = isOne(mig);
	const capability = keep('compute_cap', askNumbers(calls, 'nvmlDeviceGetCudaComputeCapability', handle, 2));
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
		powerWatts: keep('power.draw', ask(calls, ['nvmlDeviceGetPowerUsage'], {handle}, watts)),
		powerLimitWatts: keep('power.limit', ask(calls, ['nvmlDeviceGetPowerManagementLimit'], {handle}, watts)),
		fanPercent: number('fan.speed', ['nvmlDeviceGetFanSpeed']),
		smClockMHz: number('clocks.current.sm', ['nvmlDeviceGetClockInfo'], [1]),
		memoryClockMHz: number('clocks.current.memory', ['nvmlDeviceGetClockInfo'], [2]),
		throttleReasons: reasons === undefined ? undefined : throttleWords(reasons),
		eccUncorrectedErrors,
		isMigEnabled,
		...(mig !== pendingMig && {isMigPending: true}),
		...(isMigEnabled === true && {migInstances: readParts(calls, handle)}),
		computeMode: computeModes[number('compute_mode', ['nvmlDeviceGetComputeMode']) ?? -1],
		computeCapability: capability?.join('.'),
	};
	const repairs = readRepairs(calls, handle, note);
	// A GPU without an identity cannot be matched with anything else.
	const failure =
		failureOfWords(words) ??
		(reading.uuid === undefined ? `${withoutBrackets(unknown['uuid'] ?? '')} (uuid)` : undefined);
	const health = healthOf({
		failure,
		...repairs,
		eccUncorrectedErrors,
		temperatureCelsius,
		temperatureLimitCelsius,
		isBrakingForHeat: reasons !== undefined && isBrakingForHeat(reasons),
	});
	return withoutVoidMemory({...reading, ...health, failure, unknown});
};
