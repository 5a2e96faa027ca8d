/**
Parses generic resources in Slurm's notation: those of a node (`gpu:a100:4(S:0-1),shard:16`), those of a job on a node (`gpu:a100:2(IDX:0,3)`), and
those of a request (`gres:gpu:2`, since Slurm 23.11 `gres/gpu:2`). See the manual of gres.conf.
*/
import {rangeNumbers, splitOutside} from './host-list.js';

/** GPUs of one type. `type` is undefined if the cluster has no types. */
export type GpuKind = {readonly type: string | undefined; readonly count: number};

type Part = {
	readonly name: string;
	readonly type: string | undefined;
	readonly count: number;
	readonly details: string;
};

const units: Readonly<Record<string, number>> = {'': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3};

/** Parses `2` or `4K`. Undefined for anything else. */
export function countIn(word: string | undefined): number | undefined {
	const {digits, unit} = /^(?<digits>\d{1,9})(?<unit>[GKM]?)$/v.exec(word ?? '')?.groups ?? {};
	return digits === undefined ? undefined : Number(digits) * units[unit ?? '']!;
}

/** Parses one part, such as `gres:gpu:a100:2(IDX:0-1)`: the name, an optional type, an optional count. */
function partOf(written: string): Part {
	const [base = '', details = ''] = written
		.replace(/^gres[\/:]/v, '')
		.replace(/\)$/v, '')
		.split('(', 2);
	const [name = '', ...words] = base.split(/[:=]/v);
	const count = countIn(words.at(-1));
	const type = (count === undefined ? words : words.slice(0, -1))[0];
	return {name, type: type === '' ? undefined : type, count: count ?? 1, details};
}

const partsOf = (text: string): readonly Part[] => splitOutside(text).map((written) => partOf(written));

/** Returns the GPUs of a node by type, in the order of Slurm's numbers. */
export const gpuKinds = (gres: string): readonly GpuKind[] =>
	partsOf(gres)
		.filter(({name}) => name === 'gpu')
		.map(({type, count}) => ({type, count}));

export const shardCount = (gres: string): number =>
	partsOf(gres)
		.filter(({name}) => name === 'shard')
		.reduce((sum, {count}) => sum + count, 0);

/** Names of resources that are parts of GPUs, so that several jobs can share a GPU. */
const sharedNames = ['shard', 'mps'] as const;
type SharedName = (typeof sharedNames)[number];

export type HeldGres = {
	/** GPUs that the job has alone, by their numbers on the node. */
	readonly gpus: readonly number[];
	/** How many further GPUs the job has. Slurm does not show their numbers. */
	readonly unnamed: number;
	/** Shards, or MPS percentage, by GPU. */
	readonly shards: ReadonlyMap<number, number>;
};

/** Returns the shards of a job by GPU. `0(2/4),1(0/4)` means 2 shards on GPU 0: for each GPU, Slurm writes the job's shards and the GPU's total. */
function shardsIn(details: string): ReadonlyMap<number, number> {
	const shares = details.split(',').map((each) => /^(?<used>\d{1,6})\/\d{1,6}$/v.exec(each)?.groups?.['used']);
	return new Map(
		shares.flatMap((used, gpu) => (used === undefined || Number(used) === 0 ? [] : [[gpu, Number(used)] as const])),
	);
}

/** Parses one element of `gres_detail`, or the `GresUsed` of a node. */
export function heldGres(detail: string): HeldGres {
	const gpus: number[] = [];
	const shards = new Map<number, number>();
	let unnamed = 0;
	for (const {name, count, details} of partsOf(detail)) {
		const named = rangeNumbers(/^IDX:(?<ids>.*)$/v.exec(details)?.groups?.['ids'] ?? '');
		if (name === 'gpu') {
			gpus.push(...named);
			unnamed += Math.max(0, count - named.length);
		} else if (sharedNames.includes(name as SharedName)) {
			// Some versions list only the GPUs and the total of shards, shard:2(IDX:0). The shards are then divided among the GPUs.
			const own = named.map((gpu) => [gpu, Math.ceil(count / named.length)] as const);
			for (const [gpu, used] of [...shardsIn(details), ...own]) {
				shards.set(gpu, (shards.get(gpu) ?? 0) + used);
			}
		}
	}

	return {gpus: gpus.toSorted((a, b) => a - b), unnamed, shards};
}

export const namedGpus = ({gpus, shards}: HeldGres): readonly number[] => [...gpus, ...shards.keys()];

/** A job's requests per node, job, task and socket, and the numbers of nodes and tasks to multiply them with. */
export type Wishes = {
	readonly perNode: string;
	readonly perJob: string;
	readonly perTask: string;
	readonly perSocket: string;
	readonly nodes: number;
	readonly tasks: number;
};

/** Returns the total request of a job and its type, or undefined for no request. */
export function wantedGres(wishes: Wishes, name: 'gpu' | SharedName): GpuKind | undefined {
	const {perNode, perJob, perTask, perSocket, nodes, tasks} = wishes;
	const texts = [
		[perJob, 1],
		[perNode, Math.max(1, nodes)],
		[perTask, Math.max(1, tasks)],
		[perSocket, Math.max(1, nodes)],
	] as const;
	for (const [text, times] of texts) {
		const parts = partsOf(text).filter((part) => part.name === name);
		if (parts.length > 0) {
			return {
				type: parts.find(({type}) => type !== undefined)?.type,
				count: parts.reduce((sum, {count}) => sum + count, 0) * times,
			};
		}
	}

	return undefined;
}

export type WantedShares = GpuKind & {readonly name: SharedName};

export const wantedShares = (wishes: Wishes): WantedShares | undefined =>
	sharedNames
		.map((name) => {
			const kind = wantedGres(wishes, name);
			return kind && {name, ...kind};
		})
		.find((shares) => shares !== undefined);
