/** GPUs that belong together: those of one job, or of one person. Pure. */
import {gpuStates} from '../../../format/states.js';
import {gpuRanges} from '../../../format/text/gpu-list.js';
import type {Gpu} from '../fields.js';
import {counted} from '../text.js';
import type {GpuQuestion} from './question.js';

export type GpuGroup = {
	readonly key: string;
	/** Who has them, or in which state they are. */
	readonly name: string;
	/** What they are used for. */
	readonly note?: string;
	readonly gpus: readonly Gpu[];
};

/** `5 GPUs: 0-3,6` */
export const groupText = ({gpus}: GpuGroup): string =>
	`${counted(gpus.length, 'GPU')}: ${gpuRanges(gpus.map(({gpu_id: index}) => index))}`;

/** A job has one lease on all of its GPUs. A record of the peer has no id, and its job is known by its user and its time. */
const jobOf = ({lease_id: id, user, start_time: start}: Gpu): string => id ?? `${user} since ${start}`;

function groupOf(gpu: Gpu, by: GpuQuestion['group']): Omit<GpuGroup, 'gpus'> {
	if (gpu.state === 'in-use' && gpu.shares !== undefined) {
		return {key: 'shared', name: 'Shared'};
	}

	if (gpu.state !== 'in-use' || gpu.user === undefined) {
		return {key: gpu.state, name: gpuStates[gpu.state].label};
	}

	return by === 'job'
		? {key: `job ${jobOf(gpu)}`, name: gpu.user, note: gpu.note}
		: {key: `user ${gpu.user}`, name: gpu.user};
}

/** In the order of their first GPU; those that are not reserved come last. */
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
