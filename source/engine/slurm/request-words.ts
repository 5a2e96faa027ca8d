/** Translates requests into arguments of salloc and srun. Pure. */
import {CanhazgpuError, cutShort, quoted} from '../../errors.js';
import {isModel} from '../../core/rules/allocation/need.js';
import type {AcquireRequest} from '../../core/rules/request/request.js';
import type {Later} from '../../core/operations/engine.js';
import {hostsOf} from './answers/host-list.js';
import type {SlurmNode} from './answers/nodes.js';

/** The name of a job without a command, which is a reservation. */
export const reservationName = 'reserve';

const secondsPerMinute = 60;

/** Converts seconds to a time limit for Slurm, in whole minutes, rounded up. */
export const limitMinutes = (seconds: number): number => Math.max(1, Math.ceil(seconds / secondsPerMinute));

export const typesOf = (nodes: readonly SlurmNode[]): readonly string[] => [
	...new Set(nodes.flatMap(({gpus}) => gpus.flatMap(({type}) => type ?? []))),
];

/** Returns the GPU type for a model. Throws `impossible` if the cluster has no such type, `usage` for several matches. */
export function typeFor(model: string, types: readonly string[]): string {
	const exact = types.find((type) => type.toLowerCase() === model.toLowerCase());
	const fitting = exact === undefined ? types.filter((type) => isModel(type, model)) : [exact];
	const [type] = fitting;
	if (type === undefined) {
		throw new CanhazgpuError('impossible', `No GPU of model ${cutShort(model)} in this cluster`, {
			hint:
				types.length === 0
					? "The cluster's gres.conf names no GPU types: leave out --model, or name a node with --on NODE"
					: `Slurm knows: ${types.join(', ')}`,
		});
	}

	if (fitting.length > 1) {
		throw new CanhazgpuError('usage', `--model ${quoted(model)} matches several GPU types of Slurm`, {
			hint: `Name one of them: ${fitting.join(', ')}`,
		});
	}

	return type;
}

/** Returns the GPU type for a MIG profile, as gres.conf or AutoDetect names it. Throws `impossible` if there is none, `usage` for several matches. */
export function typeOfProfile(profile: string, types: readonly string[]): string {
	const isProfile = (type: string): boolean => /(?:^|[\-_])\d+g\.\d+gb$/iv.test(type);
	const fitting = types.filter((type) => type.toLowerCase() === profile || type.toLowerCase().endsWith(`_${profile}`));
	const [type] = fitting;
	if (type === undefined) {
		const instances = types.filter((each) => isProfile(each));
		throw new CanhazgpuError(
			'impossible',
			`No GPU of this cluster has MIG instances with the profile ${cutShort(profile)}`,
			{
				hint:
					instances.length === 0
						? "The cluster's gres.conf names no type such as 1g.10gb: ask its administrator, or leave out --mig."
						: `Slurm knows: ${instances.join(', ')}`,
			},
		);
	}

	if (fitting.length > 1) {
		throw new CanhazgpuError('usage', `--mig ${quoted(profile)} matches several GPU types of Slurm`, {
			hint: `Submit with srun and one of these types: ${fitting.map((each) => `--gres=gpu:${each}:1`).join(', ')}`,
		});
	}

	return type;
}

export type Gres = {
	readonly name: 'gpu' | 'shard';
	/** Type from gres.conf. Undefined for any GPU. */
	readonly type?: string;
	readonly count: number;
};

/** Returns the number of shards for a share of this size. Throws `impossible` if no node has shards. */
export function shardsFor(shareMiB: number, shardMiB: number, nodes: readonly SlurmNode[]): number {
	if (nodes.every(({shards}) => shards === 0)) {
		throw new CanhazgpuError('impossible', 'No node of this cluster has GPU shards', {
			hint: 'Ask for a whole GPU: leave out --share.',
		});
	}

	return Math.max(1, Math.ceil(shareMiB / shardMiB));
}

/** Whether a node that has the requested GPUs is out of service. */
export const isOutOfService = (nodes: readonly SlurmNode[], {name, type, count}: Gres, host?: string): boolean =>
	nodes.some(({name: node, trouble, gpus, shards}) => {
		const fitting = gpus.filter((kind) => type === undefined || kind.type === type);
		const has = name === 'shard' ? shards : fitting.reduce((sum, kind) => sum + kind.count, 0);
		return trouble !== undefined && has >= count && (host === undefined || hostsOf(host).includes(node));
	});

/** Returns the arguments common to salloc and srun. All GPUs are on one node. */
export function requestWords(
	{note, tenure, host}: AcquireRequest,
	{waitSeconds, gres, name}: {readonly waitSeconds: number | undefined; readonly gres: Gres; readonly name: string},
): readonly string[] {
	const limitSeconds = tenure.type === 'manual' ? tenure.durationSeconds : tenure.timeLimitSeconds;
	return [
		'--nodes=1',
		`--gres=${[gres.name, gres.type, gres.count].filter((part) => part !== undefined).join(':')}`,
		`--job-name=${name}`,
		...(limitSeconds === undefined ? [] : [`--time=${limitMinutes(limitSeconds)}`]),
		...(note === undefined || note === '' ? [] : [`--comment=${note}`]),
		...(host === undefined ? [] : [`--nodelist=${host}`]),
		// Slurm's shortest wait is a second.
		...(waitSeconds === undefined ? [] : [`--immediate=${Math.max(1, Math.ceil(waitSeconds))}`]),
	];
}

/** Formats a time for srun and sbatch by this machine's clock. The Swedish format is ISO 8601. */
const localTime = (seconds: number): string =>
	new Date(Math.ceil(seconds) * 1000).toLocaleString('sv-SE').replace(' ', 'T');

/** Returns the arguments common to srun and sbatch for a later start. `17,18` means after success, and `any:17` after any end. */
export const laterWords = ({after, begin, array}: Later): readonly string[] => [
	...(after === undefined
		? []
		: [
				`--dependency=${after
					.replace(/^(?=\d)/v, 'afterok:')
					.replace(/^any:/v, 'afterany:')
					.replaceAll(',', ':')}`,
			]),
	...(begin === undefined ? [] : [`--begin=${localTime(begin)}`]),
	...(array === undefined ? [] : [`--array=${array}`]),
];

/** Returns a line for sh that executes the command with exactly these words. */
export const scriptOf = (words: readonly string[]): string =>
	['exec', ...words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)].join(' ');
