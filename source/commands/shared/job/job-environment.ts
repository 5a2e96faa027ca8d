import {instanceText} from '../../../core/rules/mig/instances.js';
import type {InstanceOfGpu, ProviderName} from '../../../core/model/types.js';

type GrantedDevices = {
	/** Their ids, sorted. */
	readonly gpus: readonly number[];
	readonly provider: ProviderName;
	/** Where it got instances of MIG, and no GPUs; sorted. */
	readonly instances?: readonly InstanceOfGpu[] | undefined;
	/** Set where the job sees no other GPUs. Each is undefined where it is not known. */
	readonly isolatedUuids?: ReadonlyArray<string | undefined>;
	/** Of a share of each GPU: how much of its memory. */
	readonly shareMiB?: number | undefined;
	/** Where the MPS daemon listens that limits a share. */
	readonly mpsDirectory?: string | undefined;
};

/** What tells the job its share. MPS counts the GPUs of the job from 0. */
const shareEnvironment = ({
	gpus,
	shareMiB,
	mpsDirectory,
}: GrantedDevices): Readonly<Record<string, string | undefined>> => ({
	// Of a job that was started within a share and has GPUs of its own, too.
	CANHAZGPU_MEMORY_MIB: shareMiB === undefined ? undefined : String(shareMiB),
	...(shareMiB !== undefined &&
		mpsDirectory !== undefined && {
			CUDA_MPS_PIPE_DIRECTORY: mpsDirectory,
			CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: gpus.map((_, position) => `${position}=${shareMiB}M`).join(','),
		}),
});

/** Whose libraries a job finds its GPUs by. Simulated GPUs pass for those of NVIDIA. */
const makers: Readonly<Record<ProviderName, 'nvidia' | 'amd'>> = {nvidia: 'nvidia', amd: 'amd', fake: 'nvidia'};

/** By which names a job's own libraries find its GPUs. Where it sees no others, they count from 0. */
const namesOf = ({gpus, provider, instances, isolatedUuids}: GrantedDevices): ReadonlyArray<number | string> => {
	if (instances !== undefined) {
		// No other name finds an instance, isolated or not.
		return instances.map(({uuid}) => uuid);
	}

	if (isolatedUuids === undefined) {
		return gpus;
	}

	const uuids = isolatedUuids.filter((uuid) => uuid !== undefined);
	// HIP knows its GPUs by number alone.
	return makers[provider] === 'nvidia' && uuids.length === gpus.length ? uuids : gpus.map((_, position) => position);
};

/** For containers, whose runtime is outside of any isolation: the GPUs as the whole machine counts them. */
const containerEnvironment = ({gpus, provider, instances}: GrantedDevices): Readonly<Record<string, string>> => {
	// An instance whose number is unknown has its UUID for a name, as well.
	const names =
		instances?.map(({gpu, number, uuid}) => (number === undefined ? uuid : instanceText({gpu, number}))) ??
		gpus.map(String);
	return {
		// Docker reads it as a row of CSV, so a list needs quotes of its own.
		...(makers[provider] === 'nvidia' && {CANHAZGPU_DOCKER_GPUS: `"device=${names.join(',')}"`}),
		CANHAZGPU_CDI: names.map((name) => `${makers[provider]}.com/gpu=${name}`).join(','),
	};
};

/** What tells the job its GPUs. Whatever the caller's environment said of GPUs is replaced. */
export const gpuEnvironment = (granted: GrantedDevices): Readonly<Record<string, string | undefined>> => {
	const list = namesOf(granted).join(',');
	const {gpus, provider, instances, isolatedUuids = []} = granted;
	const isNamed = isolatedUuids.length > 0 && isolatedUuids.every((uuid) => uuid !== undefined);
	return {
		CUDA_VISIBLE_DEVICES: list,
		// Ids here count in PCI order; CUDA's own order is fastest first.
		CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
		// A container runtime reads it, which sees all GPUs.
		NVIDIA_VISIBLE_DEVICES: instances === undefined ? (isNamed ? isolatedUuids.join(',') : gpus.join(',')) : list,
		...containerEnvironment(granted),
		...shareEnvironment(granted),
		...(makers[provider] === 'amd' && {
			HIP_VISIBLE_DEVICES: list,
			// Of the layers below and beside HIP: what these leave out HIP would no longer count.
			ROCR_VISIBLE_DEVICES: undefined,
			GPU_DEVICE_ORDINAL: undefined,
		}),
	};
};
