import {instanceText} from '../../../core/rules/mig/instances.js';
import type {InstanceOfGpu, ProviderName} from '../../../core/model/types.js';

type GrantedDevices = {
	readonly gpus: readonly number[];
	readonly provider: ProviderName;
	/** The granted MIG instances, sorted. Undefined if whole GPUs were granted. */
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	/** The UUIDs of the granted GPUs. Set if the job sees no other GPUs. An unknown UUID is undefined. */
	readonly isolatedUuids?: ReadonlyArray<string | undefined>;
	readonly shareMiB?: number | undefined;
	readonly mpsDirectory?: string | undefined;
};

/** Returns the variables of a job that shares its GPUs. The limits are given by position, because MPS numbers the job's GPUs from 0. */
const shareEnvironment = ({
	gpus,
	shareMiB,
	mpsDirectory,
}: GrantedDevices): Readonly<Record<string, string | undefined>> => ({
	// Unset for whole GPUs, because a job inside a share can start another job and pass on its variables.
	CANHAZGPU_MEMORY_MIB: shareMiB === undefined ? undefined : String(shareMiB),
	...(shareMiB !== undefined &&
		mpsDirectory !== undefined && {
			CUDA_MPS_PIPE_DIRECTORY: mpsDirectory,
			CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: gpus.map((_, position) => `${position}=${shareMiB}M`).join(','),
		}),
});

/** The vendor whose libraries the job uses. Simulated GPUs are treated as NVIDIA GPUs. */
const makers: Readonly<Record<ProviderName, 'nvidia' | 'amd'>> = {nvidia: 'nvidia', amd: 'amd', fake: 'nvidia'};

/** Returns the names by which the job's libraries find its GPUs. Isolated libraries see only these GPUs, so numbers start from 0. */
const namesOf = ({gpus, provider, instances, isolatedUuids}: GrantedDevices): ReadonlyArray<number | string> => {
	if (instances !== undefined) {
		// An instance is found only by its UUID, isolated or not.
		return instances.map(({uuid}) => uuid);
	}

	if (isolatedUuids === undefined) {
		return gpus;
	}

	const uuids = isolatedUuids.filter((uuid) => uuid !== undefined);
	// HIP finds GPUs only by number.
	return makers[provider] === 'nvidia' && uuids.length === gpus.length ? uuids : gpus.map((_, position) => position);
};

/** Returns the variables that name the job's GPUs to a container runtime, which runs outside of any isolation and sees all GPUs. */
const containerEnvironment = ({gpus, provider, instances}: GrantedDevices): Readonly<Record<string, string>> => {
	// An instance without a known number is named by its UUID.
	const names =
		instances?.map(({gpu, number, uuid}) => (number === undefined ? uuid : instanceText({gpu, number}))) ??
		gpus.map(String);
	return {
		// Docker parses the value as CSV, so a list needs quotes inside the value.
		...(makers[provider] === 'nvidia' && {CANHAZGPU_DOCKER_GPUS: `"device=${names.join(',')}"`}),
		CANHAZGPU_CDI: names.map((name) => `${makers[provider]}.com/gpu=${name}`).join(','),
	};
};

/** Whether this program sets or removes this variable in the environment of a job. */
export const isOwnVariable = (name: string): boolean =>
	/^(?:CANHAZGPU_\w*|CUDA_(?:VISIBLE_DEVICES|DEVICE_ORDER)|(?:NVIDIA|HIP|ROCR)_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL)$/v.test(
		name,
	);

/** Returns the variables that name the job's GPUs. They replace all GPU variables that the job would inherit. */
export const gpuEnvironment = (granted: GrantedDevices): Readonly<Record<string, string | undefined>> => {
	const list = namesOf(granted).join(',');
	const {gpus, provider, instances, isolatedUuids = []} = granted;
	const isNamed = isolatedUuids.length > 0 && isolatedUuids.every((uuid) => uuid !== undefined);
	return {
		CUDA_VISIBLE_DEVICES: list,
		// The ids of this program are in PCI order. CUDA's default order starts with the fastest GPU.
		CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
		// For container runtimes, which see all GPUs even if the job is isolated.
		NVIDIA_VISIBLE_DEVICES: instances === undefined ? (isNamed ? isolatedUuids.join(',') : gpus.join(',')) : list,
		...containerEnvironment(granted),
		...shareEnvironment(granted),
		...(makers[provider] === 'amd' && {
			HIP_VISIBLE_DEVICES: list,
			// These variables hide GPUs from HIP, so HIP would number the remaining GPUs differently.
			ROCR_VISIBLE_DEVICES: undefined,
			GPU_DEVICE_ORDINAL: undefined,
		}),
	};
};
