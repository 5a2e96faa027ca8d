import {gpuStates} from '../../../format/states.js';
import {gpuRanges} from '../../../format/text/gpu-list.js';
import type {Gpu} from '../fields.js';
import {counted, noteWords} from '../text.js';
import type {GpuQuestion} from './question.js';

export type GpuGroup = {
	readonly key: string;
	readonly name: string;
	readonly note?: string;
	readonly gpus: readonly Gpu[];
};

export const groupText = ({gpus}: GpuGroup): string =>
	`${counted(gpus.length, 'GPU')}: ${gpuRanges(gpus.map(({gpu_id: index}) => index))}`;

/** Returns a key for the job on a GPU: the lease id, or the user and start time for a lease of the Go program, which has no id. */
const jobOf = ({lease_id: id, user, start_time: start}: Gpu): string => id ?? `${user} since ${start}`;

function groupOf(gpu: Gpu, by: GpuQuestion['group']): Omit<GpuGroup, 'gpus'> {
	if (gpu.state === 'in-use' && gpu.shares !== undefined) {
		return {key: 'shared', name: 'Shared'};
	}

	if (gpu.state !== 'in-use' || gpu.user === undefined) {
		return {key: gpu.state, name: gpuStates[gpu.state].label};
	}

	return by === 'job'
		? {key: `job ${jobOf(gpu)}`, name: gpu.user, note: noteWords(gpu)}
		: {key: `user ${gpu.user}`, name: gpu.user};
}

/** Returns the groups in the order of their first GPUs. Groups of GPUs that are not in use come last. */
export function groupsOf(gpus: readonly Gpu[], by: GpuQuestion['group']): readonly GpuGroup[] {
	const groups = new Map<string, GpuGroup>();
	for (const gpu of gpus) {
		const group = groupOf(gpu, by);
		groups.set(group.key, {...group, gpus: [...(groups.get(group.key)?.gpus ?? []), gpu]});
	}

	return groups
		.values()
		.toArray()
		.toSorted((a, b) => Number(a.gpus[0]!.state !== 'in-use') - Number(b.gpus[0]!.state !== 'in-use'));
}
