/** Finds the device nodes of GPUs by PCI address. A node's name contains the driver's minor number, which can differ from nvidia-smi's index. */
import {lstatSync, readdirSync, readFileSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import type {GrantedGpu} from '../../core/model/isolation.js';
import {normalizePciBusId} from '../../core/model/observation.js';

export type DeviceNode = {
	readonly file: string;
	/** `gpu`: the GPU itself. `render`: its graphics node, the only node of an AMD GPU. `part`: a node that MIG requires for an instance. */
	readonly kind: 'gpu' | 'render' | 'part';
	/** PCI address of the GPU in the spelling of {@link normalizePciBusId}, if known. */
	readonly pciBusId: string | undefined;
	readonly uuid?: string;
	/** The MIG instance of the node. Without `computeInstanceId`, the node belongs to all compute instances of the GPU instance. */
	readonly gpuInstanceId?: number;
	readonly computeInstanceId?: number;
};

const namesIn = (directory: string): readonly string[] => {
	try {
		return readdirSync(directory);
	} catch {
		return [];
	}
};

const readText = (file: string): string => {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		return '';
	}
};

const isDevice = (file: string): boolean => {
	try {
		return lstatSync(file).isCharacterDevice();
	} catch {
		return false;
	}
};

type Known = {readonly pciBusId: string; readonly uuid: string | undefined};

/** Reads `Device Minor:`, `Bus Location:` and `GPU UUID:` of each GPU from /proc/driver/nvidia/gpus. Returns the facts by minor number. */
const nvidiaGpus = (root: string): ReadonlyMap<number, Known> => {
	const directory = path.join(root, 'proc/driver/nvidia/gpus');
	return new Map(
		namesIn(directory).flatMap((name) => {
			const text = readText(path.join(directory, name, 'information'));
			const minor = /^Device Minor:\s*(?<minor>\d+)\s*$/mv.exec(text)?.groups?.['minor'];
			const pciBusId = normalizePciBusId(/^Bus Location:\s*(?<bus>\S+)/mv.exec(text)?.groups?.['bus'] ?? name);
			const uuid = /^GPU UUID:\s*(?<uuid>GPU-[\d\-a-f]+)\s*$/mv.exec(text)?.groups?.['uuid'];
			return minor === undefined || pciBusId === undefined ? [] : [[Number(minor), {pciBusId, uuid}] as const];
		}),
	);
};

const nvidiaNodes = (root: string, gpus: ReadonlyMap<number, Known>): readonly DeviceNode[] =>
	namesIn(path.join(root, 'dev')).flatMap((name) => {
		const minor = /^nvidia(?<minor>\d+)$/v.exec(name)?.groups?.['minor'];
		const file = path.join(root, 'dev', name);
		const {pciBusId, uuid} = gpus.get(Number(minor)) ?? {};
		return minor === undefined || !isDevice(file) ? [] : [{file, kind: 'gpu', pciBusId, uuid} as const];
	});

/** Returns the nodes of MIG instances, by `DeviceFileMinor:` in /proc/driver/nvidia/capabilities/gpuMINOR/mig/giN/access and giN/ciN/access. */
const partNodes = (root: string, gpus: ReadonlyMap<number, Known>): readonly DeviceNode[] => {
	const capabilities = path.join(root, 'proc/driver/nvidia/capabilities');
	const nodeOf = (directory: string, facts: Omit<DeviceNode, 'file' | 'kind'>): readonly DeviceNode[] => {
		const text = readText(path.join(directory, 'access'));
		const minor = /^DeviceFileMinor:\s*(?<minor>\d+)\s*$/mv.exec(text)?.groups?.['minor'];
		const file = path.join(root, 'dev/nvidia-caps', `nvidia-cap${minor}`);
		return minor === undefined || !isDevice(file) ? [] : [{file, kind: 'part', ...facts}];
	};

	return namesIn(capabilities).flatMap((name) => {
		const minor = /^gpu(?<minor>\d+)$/v.exec(name)?.groups?.['minor'];
		const pciBusId = gpus.get(Number(minor))?.pciBusId;
		const mig = path.join(capabilities, name, 'mig');
		return minor === undefined
			? []
			: namesIn(mig).flatMap((instance) => {
					const gpuInstanceId = Number(/^gi(?<id>\d+)$/v.exec(instance)?.groups?.['id']);
					const directory = path.join(mig, instance);
					return Number.isNaN(gpuInstanceId)
						? []
						: [
								...nodeOf(directory, {pciBusId, gpuInstanceId}),
								...namesIn(directory).flatMap((compute) => {
									const computeInstanceId = Number(/^ci(?<id>\d+)$/v.exec(compute)?.groups?.['id']);
									return Number.isNaN(computeInstanceId)
										? []
										: nodeOf(path.join(directory, compute), {pciBusId, gpuInstanceId, computeInstanceId});
								}),
							];
				});
	});
};

/** PCI vendor ids of NVIDIA and AMD. GPUs of other vendors, such as graphics controllers of mainboards, are not managed. */
const vendors: ReadonlySet<string> = new Set(['0x10de', '0x1002']);

/** Start of the device name of an AMD GPU's compute partition, which has no PCI address. */
const amdPartition = 'amdgpu_xcp';

const renderNodes = (root: string): readonly DeviceNode[] =>
	namesIn(path.join(root, 'dev/dri')).flatMap((name) => {
		const file = path.join(root, 'dev/dri', name);
		const link = path.join(root, 'sys/class/drm', name, 'device');
		let device: string;
		try {
			device = path.basename(readlinkSync(link));
		} catch {
			return [];
		}

		const isGpu = vendors.has(readText(path.join(link, 'vendor')).trim()) || device.startsWith(amdPartition);
		return isGpu && isDevice(file) ? [{file, kind: 'render', pciBusId: normalizePciBusId(device)} as const] : [];
	});

/** Returns the device nodes of all GPUs. `root` contains /dev, /proc and /sys: the root directory, or a test directory. */
export const readDeviceNodes = (root: string): readonly DeviceNode[] => {
	const gpus = nvidiaGpus(root);
	return [...nvidiaNodes(root, gpus), ...partNodes(root, gpus), ...renderNodes(root)];
};

type Parted =
	| {
			readonly kind: 'parted';
			readonly granted: readonly DeviceNode[];
			readonly foreign: readonly DeviceNode[];
	  }
	| {readonly kind: 'no-devices'}
	| {readonly kind: 'unknown-device'; readonly gpu: number};

export const belongsTo = (node: DeviceNode, {pciBusId, uuid}: GrantedGpu): boolean =>
	(node.pciBusId !== undefined && node.pciBusId === pciBusId) || (node.uuid !== undefined && node.uuid === uuid);

const isGrantedPart = ({kind, gpuInstanceId, computeInstanceId}: DeviceNode, {parts}: GrantedGpu): boolean =>
	kind !== 'part' ||
	parts === undefined ||
	parts.some(
		(part) =>
			part.gpuInstanceId === gpuInstanceId &&
			(computeInstanceId === undefined || part.computeInstanceId === computeInstanceId),
	);

/** Divides the nodes into those that a job may open and those of foreign GPUs. A node of an unknown GPU is foreign. */
export const partNodesBy = (nodes: readonly DeviceNode[], granted: readonly GrantedGpu[]): Parted => {
	const main = nodes.some(({kind}) => kind === 'gpu') ? 'gpu' : 'render';
	if (nodes.length === 0) {
		return {kind: 'no-devices'};
	}

	// A GPU without a known node would be unusable, because its node may be hidden as foreign.
	const unknown = granted.find((gpu) => nodes.every((node) => !(node.kind === main && belongsTo(node, gpu))));
	if (unknown !== undefined) {
		return {kind: 'unknown-device', gpu: unknown.index};
	}

	const byAddress = new Map(
		nodes.flatMap((node) => {
			const gpu = granted.find((each) => belongsTo(node, each));
			return node.pciBusId === undefined || gpu === undefined ? [] : [[node.pciBusId, gpu] as const];
		}),
	);
	const isGranted = (node: DeviceNode): boolean => {
		const gpu = node.pciBusId === undefined ? undefined : byAddress.get(node.pciBusId);
		return gpu !== undefined && isGrantedPart(node, gpu);
	};

	return {
		kind: 'parted',
		granted: nodes.filter((node) => isGranted(node)),
		foreign: nodes.filter((node) => !isGranted(node)),
	};
};
