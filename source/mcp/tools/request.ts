import * as v from 'valibot';
import type {AcquireRequest} from '../../core/rules/request/request.js';
import type {Need} from '../../core/model/types.js';
import {parseInstanceName} from '../../core/rules/mig/instances.js';
import {parseProfile} from '../../core/rules/mig/profile.js';
import {parseMemoryMiB, shareMiBOf} from '../../core/rules/request/memory-size.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {text, whole, yesNo} from '../input.js';

const gpuId = v.union(
	[v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(9999)), v.pipe(v.string(), v.regex(/^\d{1,4}:\d{1,4}$/v))],
	'A GPU id is a whole number, and a MIG instance is named like 0:1',
);

export const wantedFields = {
	count: v.optional(whole(1, 1024, 'number of GPUs. The default is 1.')),
	gpu_ids: v.optional(
		v.pipe(
			v.array(gpuId),
			v.minLength(1),
			v.maxLength(1024),
			v.description('exactly these GPUs, by number, or these MIG instances, such as "0:1"'),
		),
	),
	min_memory: v.optional(text('minimum memory of each GPU, such as 40G')),
	models: v.optional(
		v.pipe(
			v.array(text('a model name')),
			v.minLength(1),
			v.maxLength(32),
			v.description('only these models: ["h100"]'),
		),
	),
	min_compute: v.optional(
		v.pipe(
			v.string(),
			v.regex(/^\d{1,3}(?:\.\d{1,3})?$/v, 'It must be a version such as 8.0'),
			v.description('minimum CUDA compute capability, such as 8.0'),
		),
	),
	nvlink: v.optional(yesNo('whether all GPUs must be linked to each other. Needs a count of 2 or more.')),
	mixed: v.optional(yesNo('whether the GPUs may be of different models')),
	share: v.optional(text('reserve only this much memory of each GPU and share the rest, such as 8G')),
	mig: v.optional(text('a MIG instance of this profile or larger, such as 1g.10gb')),
};

type Wanted = v.InferOutput<ReturnType<typeof wantedSchema>>;

const wantedSchema = () => v.object(wantedFields);

function memoryOf(typed: string | undefined): number | undefined {
	const size = typed === undefined ? undefined : parseMemoryMiB(typed);
	if (typed !== undefined && size === undefined) {
		throw new CanhazgpuError('usage', `min_memory: ${quoted(typed)} is not a memory size`, {
			hint: 'Write a number and a unit: 40G or 512M.',
		});
	}

	return size;
}

function migOf({mig, gpu_ids: ids = []}: Wanted): Need['mig'] {
	const instances = ids.map((id) => parseInstanceName(String(id))).filter((name) => name !== undefined);
	if (mig === undefined) {
		if (instances.length > 0 && instances.length < ids.length) {
			throw new CanhazgpuError('usage', 'gpu_ids names both whole GPUs and MIG instances', {hint: 'Use two calls.'});
		}

		return instances.length === 0 ? undefined : {instances};
	}

	const profile = parseProfile(mig);
	if (profile === undefined || ids.length > 0) {
		throw new CanhazgpuError(
			'usage',
			profile === undefined ? `mig: ${quoted(mig)} is not a MIG profile` : 'Give mig or gpu_ids, not both',
			{
				hint: 'A profile such as 1g.10gb asks for any instance of that kind. A name such as 0:1 asks for that one instance.',
			},
		);
	}

	return {profile};
}

const wholeFields = ['min_memory', 'nvlink', 'mixed', 'share'] as const;

function needOf(wanted: Wanted, count: number): Need | undefined {
	const mig = migOf(wanted);
	const other = wholeFields.find((field) => wanted[field] !== undefined && wanted[field] !== false);
	if (mig !== undefined && other !== undefined) {
		throw new CanhazgpuError('usage', `${other} applies only to whole GPUs, and this asks for a MIG instance`, {
			hint: 'Leave out one of them.',
		});
	}

	if (wanted.nvlink === true && count === 1) {
		throw new CanhazgpuError('usage', 'nvlink is for links between GPUs, but you asked for only one GPU', {
			hint: 'Ask for more GPUs, or leave out nvlink.',
		});
	}

	const need: Need = {
		shareMiB: wanted.share === undefined ? undefined : shareMiBOf(wanted.share, 'share'),
		minMemoryMiB: memoryOf(wanted.min_memory),
		models: wanted.models,
		minCompute: wanted.min_compute,
		sameModel: wanted.mixed === true ? false : undefined,
		nvlink: wanted.nvlink === true ? true : undefined,
		mig,
	};
	return Object.values(need).every((value) => value === undefined) ? undefined : need;
}

export function wantedOf(wanted: Wanted): Pick<AcquireRequest, 'count' | 'ids' | 'need'> {
	const {gpu_ids: ids, count} = wanted;
	if (ids !== undefined && count !== undefined && count !== ids.length) {
		throw new CanhazgpuError('usage', `count is ${count}, but gpu_ids has ${ids.length}`, {
			hint: 'Leave out count: gpu_ids says how many.',
		});
	}

	const wantedCount = ids?.length ?? count ?? 1;
	const need = needOf(wanted, wantedCount);
	const isWhole = need?.mig === undefined;
	return {count: wantedCount, ids: isWhole ? ids?.map(Number) : undefined, need};
}
