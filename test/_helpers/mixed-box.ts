/** A machine with four A100-80G and four L40S-48G, which NVLink connects in pairs. */
import type {GpuLink, GpuLinks, GpuReading} from '../../source/core/model/types.js';
import {idleReading} from './world.js';

export const a100 = 'NVIDIA A100-SXM4-80GB';
export const l40s = 'NVIDIA L40S';

export const mixedReading = (index: number): GpuReading => ({
	...idleReading(index),
	...(index < 4
		? {name: a100, memoryTotalMiB: 81_920, computeCapability: '8.0'}
		: {name: l40s, memoryTotalMiB: 46_068, computeCapability: '8.9'}),
});

export const mixedBox: readonly GpuReading[] = Array.from({length: 8}, (_, index) => mixedReading(index));

const linkOf = (one: number, other: number): GpuLink =>
	Math.floor(one / 2) === Math.floor(other / 2)
		? 'NV12'
		: Math.floor(one / 4) === Math.floor(other / 4)
			? 'PHB'
			: 'SYS';

export const pairedLinks: GpuLinks = mixedBox.map((_, one) =>
	mixedBox.map((__, other) => (one === other ? undefined : linkOf(one, other))),
);
