import {instancesHeld} from '../core/rules/leases/holding-changes.js';
import type {ProfileCount} from '../core/rules/allocation/instances.js';
import {instanceText} from '../core/rules/mig/instances.js';
import type {WholeGpus} from '../core/rules/pool/status.js';
import type {HeldInstance, InstanceName, InstanceOfGpu, Lease} from '../core/model/types.js';
import {gpuList} from './text/gpu-list.js';
import {sanitize} from './text/text.js';

export const instanceLabel = ({profile, ...instance}: Omit<InstanceOfGpu, 'uuid'>): string =>
	`${instanceText(instance)}${profile === undefined ? '' : ` ${sanitize(profile)}`}`;

/** Returns the value of `CUDA_VISIBLE_DEVICES`: `0,1`, or the UUIDs of MIG instances, because CUDA finds an instance only by its UUID. */
export const devicesText = (gpus: readonly number[], instances: readonly InstanceOfGpu[] | undefined): string =>
	(instances?.map(({uuid}) => sanitize(uuid)) ?? gpus).join(',');

/** Returns `MIG instance 2:0` or `MIG instances 2:0, 2:1`. */
export const instancesText = (instances: readonly InstanceOfGpu[]): string =>
	`MIG ${instances.length === 1 ? 'instance' : 'instances'} ${instances.map((instance) => instanceText(instance)).join(', ')}`;

/** Returns `2 GPU(s): [0 1]`, as the Go program writes it, or `2 MIG instance(s): [0:1 1:0]`. */
export const partsText = (gpus: readonly number[], instances: readonly InstanceOfGpu[] | undefined): string =>
	instances === undefined
		? `${gpus.length} GPU(s): [${gpus.join(' ')}]`
		: `${instances.length} MIG instance(s): [${instances.map((instance) => instanceText(instance)).join(' ')}]`;

const freeText = (ids: readonly number[], split: number): string => {
	const text = ids.length === 0 ? 'No GPU is free now' : `Free now: ${gpuList(ids, 16)}`;
	return split === 0 ? text : `${text} (${split} more split by MIG)`;
};

/** Returns lines about free GPUs and instances, short enough for the smallest screen. `ids` are the free whole GPUs, if a request can name GPUs. */
export const freeLines = (
	{total, free, split}: WholeGpus,
	counts: readonly ProfileCount[],
	ids?: readonly number[],
): readonly string[] => [
	...(ids === undefined
		? split === 0
			? []
			: [`Whole GPUs free: ${free}/${total} (${split} more split by MIG)`]
		: [freeText(ids, split)]),
	...(counts.length === 0
		? []
		: [
				`MIG free: ${counts.map(({profile, total: all, free: left}) => `${left}/${all} ${sanitize(profile)}`).join(', ')}`,
			]),
];

export type HeldPart = {readonly index: number; readonly lease?: Pick<Lease, 'mig'>};

export type NamedParts = {readonly ids: readonly number[]; readonly instances: readonly InstanceName[]};

const isInstance = ({index, lease: {mig} = {}}: HeldPart, {gpu, number}: InstanceName): boolean =>
	index === gpu && mig?.number === number;

export const missingParts = ({ids, instances}: NamedParts, holdings: readonly HeldPart[]): NamedParts => ({
	ids: ids.filter((id) => holdings.every(({index}) => index !== id)),
	instances: instances.filter((name) => holdings.every((holding) => !isInstance(holding, name))),
});

/** Returns the GPUs that are held whole or as shares of memory, and not as MIG instances. */
const gpusHeld = (holdings: readonly HeldPart[]): readonly number[] => [
	...new Set(holdings.filter(({lease}) => lease?.mig === undefined).map(({index}) => index)),
];

/** Returns `GPUs 0,1`, `MIG instances 0:1, 1:0`, or both with `and` between them. */
export const gpusAndInstances = (gpus: readonly number[], instances: readonly InstanceOfGpu[] = []): string =>
	[...(gpus.length === 0 ? [] : [gpuList(gpus)]), ...(instances.length === 0 ? [] : [instancesText(instances)])].join(
		' and ',
	);

/** Returns what is held, such as `GPU 0` or `MIG instances 0:1, 1:0`. */
export const placesText = (holdings: readonly HeldPart[]): string =>
	gpusAndInstances(gpusHeld(holdings), instancesHeld(holdings));

/** Returns `2 GPU(s): [0 1]` or `1 MIG instance(s): [2:0]`, or both joined. Lists each GPU once. */
export function partsOfHoldings(holdings: readonly HeldPart[]): string {
	const gpus = gpusHeld(holdings);
	const instances = instancesHeld(holdings);
	return [
		...(gpus.length === 0 ? [] : [partsText(gpus, undefined)]),
		...(instances ? [partsText([], instances)] : []),
	].join(' and ');
}

export const partName = ({index, lease: {mig} = {}}: HeldPart): string =>
	mig === undefined ? `GPU ${index}` : `MIG instance ${instanceText({gpu: index, number: mig.number})}`;

export const namedText = (ids: readonly number[], instances: readonly InstanceName[]): string =>
	instances.length > 0 && ids.length === 0
		? `MIG instance(s): [${instances.map((name) => instanceText(name)).join(' ')}]`
		: `GPU(s): [${[...ids, ...instances.map((name) => instanceText(name))].join(' ')}]`;

export const heldInstanceJson = (instance: HeldInstance) => ({
	instance: instance.number,
	uuid: instance.uuid,
	profile: instance.profile,
	gpu_instance_id: instance.gpuInstanceId,
	compute_instance_id: instance.computeInstanceId,
});

const instanceJson = ({gpu, ...instance}: InstanceOfGpu) => ({gpu_id: gpu, ...heldInstanceJson(instance)});

export const instancesJson = (instances: readonly InstanceOfGpu[]) =>
	instances.map((instance) => instanceJson(instance));
