import type {GpuProcess, GpuReading} from '../../core/model/observation.js';
import {addProblems, judgeHealth} from '../health.js';
import {isComplete, type RunTool} from '../tool/tool.js';
import {parseList, type ListedGpu} from './list.js';
import type {DetailedProcess, Details, GpuDetails} from './xml.js';

type Options = {
	readonly run: RunTool;
	readonly command: string;
	readonly timeoutMs: number;
	readonly signal?: AbortSignal;
};

const maxBytes = 8 * 1024 * 1024;

/**
Reads facts that the tables lack: MIG instances, recovery actions, slowdown limits, and processes that only draw graphics. Undefined if the tool does
not answer. Slow on large machines, so continuous scans do not wait for these facts.
*/
export const askDetails = async ({run, command, timeoutMs, signal}: Options): Promise<Details | undefined> => {
	const options = {timeoutMs, maxBytes, signal};
	const [details, listed, {parseDetails}] = await Promise.all([
		run(command, ['-q', '-x'], options),
		run(command, ['-L'], options),
		import('./xml.js'),
	]);
	const parsed = isComplete(details) ? parseDetails(details.stdout) : undefined;
	return parsed && nameParts(parsed, isComplete(listed) ? parseList(listed.stdout) : []);
};

/** Adds profiles and UUIDs from `listed` to the MIG instances in `details`, which have only sizes. */
const nameParts = (details: Details, listed: readonly ListedGpu[]): Details => ({
	...details,
	gpus: details.gpus.map((gpu) => {
		const {parts} = listed.find(({uuid}) => uuid === gpu.uuid) ?? {};
		return {
			...gpu,
			migInstances: gpu.migInstances?.map((instance) => {
				const {number} = instance;
				const named = number === undefined ? undefined : parts?.get(number);
				return {...instance, profile: named?.profile, uuid: instance.uuid ?? named?.uuid};
			}),
		};
	}),
});

export const attachParts = (gpus: readonly GpuReading[], details: Details | undefined): readonly GpuReading[] =>
	details === undefined
		? gpus
		: gpus.map((gpu) => {
				const found = details.gpus.find((one) => isSame(one, gpu));
				return gpu.isMigEnabled === true && found?.migInstances !== undefined
					? {
							...gpu,
							migInstances: found.migInstances,
							processes: gpu.processes?.map((process) => withPart(process, found.processes ?? [])),
						}
					: gpu;
			});

/** Adds recommended actions, failed memory repairs and temperature limits, which the table lacks in old versions. */
export const addDetailedHealth = (gpus: readonly GpuReading[], details: Details): readonly GpuReading[] =>
	gpus.map((gpu) => {
		const {recoveryAction, temperatureLimitCelsius, hasFailedRemapping, hasPendingPages} =
			details.gpus.find((one) => isSame(one, gpu)) ?? {};
		const {temperatureCelsius} = gpu;
		const symptoms = {recoveryAction, hasFailedRemapping, hasPendingPages, temperatureCelsius, temperatureLimitCelsius};
		return addProblems(gpu, judgeHealth(symptoms));
	});

const isSame = (details: GpuDetails, gpu: GpuReading): boolean =>
	details.uuid === undefined
		? details.pciBusId !== undefined && details.pciBusId === gpu.pciBusId
		: details.uuid === gpu.uuid;

const withPart = (process: GpuProcess, detailed: readonly DetailedProcess[]): GpuProcess => {
	const [first, ...others] = detailed.filter(({pid}) => pid === process.pid);
	const {gpuInstanceId, computeInstanceId} = first ?? {};
	const isOne = others.every(
		(other) => other.gpuInstanceId === gpuInstanceId && other.computeInstanceId === computeInstanceId,
	);
	return gpuInstanceId === undefined || !isOne ? process : {...process, gpuInstanceId, computeInstanceId};
};
