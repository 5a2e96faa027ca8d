import {XMLParser} from 'fast-xml-parser';
import {type GpuProcess, type MigInstance, normalizePciBusId} from '../../core/model/observation.js';
import {olderRecoveryAction} from '../health.js';
import {cap} from '../tool/text.js';
import {isMarker, readAnswer, readNumber} from './csv.js';

export type DetailedProcess = Pick<
	GpuProcess,
	'pid' | 'kind' | 'memoryUsedMiB' | 'gpuInstanceId' | 'computeInstanceId'
>;

/** Facts about a GPU that only `nvidia-smi -q -x` reports. */
export type GpuDetails = {
	readonly pciBusId?: string;
	readonly uuid?: string;
	readonly isMigEnabled?: boolean;
	/** Undefined if the output does not mention instances. */
	readonly migInstances?: readonly MigInstance[];
	/** Recommended action, such as `None` or `GPU Reset`. */
	readonly recoveryAction?: string;
	readonly temperatureLimitCelsius?: number;
	readonly hasFailedRemapping?: boolean;
	readonly hasPendingPages?: boolean;
	/** Includes processes that only draw graphics. Undefined if unreadable. */
	readonly processes?: readonly DetailedProcess[];
};

export type Details = {readonly driverVersion?: string; readonly gpus: readonly GpuDetails[]};

const longestText = 8 * 1024 * 1024;

/** A parser that resolves no entities and guesses no numbers, because another account may have written the text. */
const parser = new XMLParser({
	processEntities: false,
	parseTagValue: false,
	ignoreDeclaration: true,
	ignorePiTags: true,
	ignoreAttributes: false,
	attributeNamePrefix: '@',
	maxNestedTags: 32,
});

export const parseDetails = (text: string): Details | undefined => {
	const start = text.indexOf('<?xml');
	if (start === -1 || text.length > longestText) {
		return undefined;
	}

	let document: unknown;
	try {
		document = parser.parse(text.slice(start));
	} catch {
		return undefined;
	}

	const log = child(document, 'nvidia_smi_log');
	return log === undefined
		? undefined
		: {driverVersion: textOf(log, 'driver_version'), gpus: list(log, 'gpu').map((gpu) => readGpu(gpu))};
};

const readGpu = (gpu: unknown): GpuDetails => {
	const mig = textOf(child(gpu, 'mig_mode'), 'current_mig')?.toLowerCase();
	const parts = child(gpu, 'mig_devices');
	const processes = child(gpu, 'processes');
	const resetStatus = child(gpu, 'gpu_reset_status');
	return {
		pciBusId: normalizePciBusId(textOf(gpu, '@id') ?? ''),
		uuid: textOf(gpu, 'uuid'),
		isMigEnabled: mig === 'enabled' ? true : mig === 'disabled' ? false : undefined,
		migInstances: parts === undefined ? undefined : list(parts, 'mig_device').map((part) => readPart(part)),
		recoveryAction:
			textOf(gpu, 'gpu_recovery_action') ??
			olderRecoveryAction(
				answerOf(resetStatus, 'reset_required'),
				answerOf(resetStatus, 'drain_and_reset_recommended'),
			),
		temperatureLimitCelsius: numberOf(child(gpu, 'temperature'), 'gpu_temp_slow_threshold'),
		hasFailedRemapping:
			answerOf(child(gpu, 'ecc_errors'), 'unrepairable_memory') === true ||
			answerOf(child(gpu, 'remapped_rows'), 'remapped_row_failure'),
		hasPendingPages: answerOf(child(gpu, 'retired_pages'), 'pending_retirement'),
		processes:
			processes === undefined || isUnknown(processes)
				? undefined
				: list(processes, 'process_info').flatMap((process) => readProcess(process)),
	};
};

const readPart = (part: unknown): MigInstance => {
	const memory = child(part, 'fb_memory_usage');
	const memoryUsedMiB = numberOf(memory, 'used');
	const word = child(memory, 'used');
	return {
		number: numberOf(part, 'index'),
		gpuInstanceId: numberOf(part, 'gpu_instance_id'),
		computeInstanceId: numberOf(part, 'compute_instance_id'),
		uuid: textOf(part, 'uuid'),
		memoryUsedMiB,
		memoryTotalMiB: numberOf(memory, 'total'),
		...(memoryUsedMiB === undefined && typeof word === 'string' && {unknown: {memoryUsedMiB: cap(word.trim(), 100)}}),
	};
};

const idsOf = (process: unknown): Pick<GpuProcess, 'gpuInstanceId' | 'computeInstanceId'> => {
	const [gpuInstanceId, computeInstanceId] = ['gpu_instance_id', 'compute_instance_id'].map((name) =>
		numberOf(process, name),
	);
	return gpuInstanceId === undefined ? {} : {gpuInstanceId, computeInstanceId};
};

const kinds: Readonly<Record<string, GpuProcess['kind']>> = {C: 'compute', G: 'graphics', 'C+G': 'both'};

const readProcess = (process: unknown): readonly DetailedProcess[] => {
	const pid = textOf(process, 'pid') ?? '';
	return /^[1-9]\d{0,9}$/v.test(pid)
		? [
				{
					pid: Number(pid),
					kind: kinds[textOf(process, 'type') ?? ''],
					memoryUsedMiB: numberOf(process, 'used_memory'),
					...idsOf(process),
				},
			]
		: [];
};

/** Whether the processes are unknown, as in `<processes>N/A</processes>`. An empty element means that there are none. */
const isUnknown = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

const child = (value: unknown, name: string): unknown =>
	typeof value === 'object' && value !== null && Object.hasOwn(value, name)
		? (value as Readonly<Record<string, unknown>>)[name]
		: undefined;

/** Returns the elements of this name as a list. The parser returns a single element without a list. */
const list = (value: unknown, name: string): readonly unknown[] => {
	const found = child(value, name);
	return found === undefined ? [] : Array.isArray(found) ? found : [found];
};

const textOf = (value: unknown, name: string): string | undefined => {
	const text = child(value, name);
	return typeof text !== 'string' || isMarker(text.trim()) ? undefined : cap(text.trim(), 200);
};

const numberOf = (value: unknown, name: string): number | undefined => readNumber(textOf(value, name) ?? '');

const answerOf = (value: unknown, name: string): boolean | undefined => readAnswer(textOf(value, name) ?? '');
