/** GPUs that belong together: those of one job, or of one person. Pure. */
import {gpuStates} from '../../../format/states.js';
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

/** `0-3, 6` */
export function ranges(indexes: readonly number[]): string {
	const spans: Array<[first: number, last: number]> = [];
	for (const index of indexes.toSorted((a, b) => a - b)) {
		const span = spans.at(-1);
		if (span?.[1] === index - 1) {
			span[1] = index;
		} else {
			spans.push([index, index]);
		}
	}

	return spans.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

/** `4 GPUs: 0-3` */
export const groupText = ({gpus}: GpuGroup): string =>
	`${counted(gpus.length, 'GPU')}: ${ranges(gpus.map(({gpu_id: index}) => index))}`;

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
