/** What a request is in the words of salloc and srun. Pure. */
import {CanhazgpuError, cutShort, quoted} from '../../errors.js';
import {isModel} from '../../core/rules/allocation/need.js';
import type {AcquireRequest} from '../../core/rules/allocation/request.js';
import type {SlurmNode} from './answers/nodes.js';

/** The name of a job that is a reservation and runs no command. */
export const reservationName = 'reserve';

const secondsPerMinute = 60;

/** Slurm counts time limits in minutes, and rounds up. */
export const limitMinutes = (seconds: number): number => Math.max(1, Math.ceil(seconds / secondsPerMinute));

/** The types of GPUs of a cluster, each once. */
export const typesOf = (nodes: readonly SlurmNode[]): readonly string[] => [
	...new Set(nodes.flatMap(({gpus}) => gpus.flatMap(({type}) => type ?? []))),
];

/**
The type of GPUs that a model means.

@throws CanhazgpuError `impossible` where the cluster has no such type, `usage` where several fit.
*/
export function typeFor(model: string, types: readonly string[]): string {
	const exact = types.find((type) => type.toLowerCase() === model.toLowerCase());
	const fitting = exact === undefined ? types.filter((type) => isModel(type, model)) : [exact];
	const [type] = fitting;
	if (type === undefined) {
		throw new CanhazgpuError('impossible', `No GPU of model ${cutShort(model)} in this cluster`, {
			hint:
				types.length === 0
					? 'Its gres.conf names no types of GPUs: leave out --model, and name a node: --on NODE'
					: `Slurm knows: ${types.join(', ')}`,
		});
	}

	if (fitting.length > 1) {
		throw new CanhazgpuError('usage', `--model ${quoted(model)} means several types of GPUs`, {
			hint: `Name one of them: ${fitting.join(', ')}`,
		});
	}

	return type;
}

/** Seconds as salloc and srun take them. Immediate means: within a second. */
const immediateSeconds = (waitSeconds: number): number => Math.max(1, Math.ceil(waitSeconds));

export type WordOptions = {
	readonly waitSeconds: number | undefined;
	/** Of gres.conf. Undefined: any GPU will do. */
	readonly type: string | undefined;
	readonly name: string;
};

/** What salloc and srun take alike: all GPUs on one node, as on a box of ours. */
export function requestWords(
	{count, note, tenure, host}: AcquireRequest,
	{waitSeconds, type, name}: WordOptions,
): readonly string[] {
	const limitSeconds = tenure.type === 'manual' ? tenure.durationSeconds : tenure.timeLimitSeconds;
	return [
		'--nodes=1',
		`--gres=gpu:${type === undefined ? '' : `${type}:`}${count}`,
		`--job-name=${name}`,
		...(limitSeconds === undefined ? [] : [`--time=${limitMinutes(limitSeconds)}`]),
		...(note === undefined || note === '' ? [] : [`--comment=${note}`]),
		...(host === undefined ? [] : [`--nodelist=${host}`]),
		...(waitSeconds === undefined ? [] : [`--immediate=${immediateSeconds(waitSeconds)}`]),
	];
}
