/** Parses `scontrol --all show --oneliner` for nodes (with `--details`) and partitions. Only administrators choose the names and reasons in it. */
import {gpuKinds, heldGres, namedGpus, shardCount, type GpuKind} from './gres.js';

type NodeTrouble =
	/** Taken out of service by an administrator. Running jobs continue. */
	| {readonly kind: 'drained'; readonly reason?: string; readonly by?: string; readonly since?: number}
	/** Down or not responding. `words` are for people. */
	| {readonly kind: 'down'; readonly words: string};

export type SlurmNode = {
	readonly name: string;
	readonly gpus: readonly GpuKind[];
	/** The number of GPUs in use, including those of jobs that Slurm hides. */
	readonly usedGpus: number;
	/** The used GPUs, as far as Slurm identifies them. */
	readonly usedIds?: readonly number[];
	readonly shards: number;
	readonly trouble?: NodeTrouble;
	/** Why no job can start now on a healthy node, even if the node has free GPUs. For people. */
	readonly closed?: string;
};

const field = (line: string, name: string): string =>
	new RegExp(String.raw`(?:^|\s)${name}=(\S+)`, 'v').exec(line)?.[1] ?? '';

const runningStates = new Set(['IDLE', 'MIXED', 'ALLOCATED', 'PLANNED', 'COMPLETING']);

/** Flags of nodes that are out of service, with the default reason of each flag, if it has one. */
const drainFlags: ReadonlyMap<string, string | undefined> = new Map([
	...['DRAIN', 'DRAINED', 'DRAINING', 'MAINTENANCE', 'MAINT'].map((flag) => [flag, undefined] as const),
	['RESERVED', 'kept for a Slurm reservation'],
	['FAIL', 'expected to fail soon'],
	['REBOOT_ISSUED', 'being rebooted'],
	['POWERING_DOWN', 'being powered down'],
]);

/** Parses a reason: `Not responding [slurm@2026-11-22T21:25:30]` has the words, the account, and the time by this machine's clock. */
function reasonIn(line: string): Omit<Extract<NodeTrouble, {kind: 'drained'}>, 'kind'> {
	const [, ...behind] = line.split(' Reason=');
	const words = behind.join(' Reason=').trim();
	const end = words.lastIndexOf(' [');
	const {by, time = ''} = /^ \[(?<by>[^@\]]+)@(?<time>[^\]]*)/v.exec(end === -1 ? '' : words.slice(end))?.groups ?? {};
	const since = Date.parse(time) / 1000;
	const reason = by === undefined ? words : words.slice(0, end);
	return {reason: reason === '' ? undefined : reason, by, since: Number.isNaN(since) ? undefined : since};
}

type Partition = {
	/** `up` if jobs can start. Otherwise for example `down`, `drained` or `inactive`. */
	readonly state: string;
	readonly sharesCores: boolean;
};

export const readPartitions = (text: string): ReadonlyMap<string, Partition> =>
	new Map(
		text
			.split('\n')
			.filter((line) => line.startsWith('PartitionName='))
			.map((line) => [
				field(line, 'PartitionName'),
				{
					state: field(line, 'State')
						.toLowerCase()
						.replace(/^drain$/v, 'drained'),
					sharesCores: field(line, 'OverSubscribe').startsWith('FORCE'),
				},
			]),
	);

/** Returns why no job can start on a node, by its partitions. Undefined if jobs can start. An unknown partition counts as up. */
function closedBy(line: string, name: string, partitions: ReadonlyMap<string, Partition>): string | undefined {
	const names = field(line, 'Partitions')
		.split(',')
		.filter((each) => each !== '');
	if (names.length === 0) {
		return partitions.size === 0 ? undefined : `node ${name} is in no partition`;
	}

	const states = names.map((each) => [each, partitions.get(each)?.state ?? 'up'] as const);
	if (states.every(([, state]) => state !== 'up')) {
		return `partition ${states.map(([each, state]) => `${each} is ${state}`).join(', ')}`;
	}

	const sharesCores = names.some((each) => partitions.get(each)?.sharesCores === true);
	return field(line, 'State').startsWith('ALLOCATED') && !sharesCores ? `jobs use all cores of ${name}` : undefined;
}

function troubleIn(line: string, name: string): NodeTrouble | undefined {
	const written = field(line, 'State');
	const [base = '', ...flags] = written.replaceAll(/[!#$%*\-@^~]/gv, '').split('+');
	const {reason, ...origin} = reasonIn(line);
	if (written.includes('*') || flags.includes('NOT_RESPONDING')) {
		return {kind: 'down', words: `node ${name} does not answer`};
	}

	if (!runningStates.has(base)) {
		return {
			kind: 'down',
			words: `node ${name} is ${base === '' ? 'in an unknown state' : base.toLowerCase()}${reason === undefined ? '' : `: ${reason}`}`,
		};
	}

	const flag = flags.find((each) => drainFlags.has(each));
	return flag === undefined ? undefined : {kind: 'drained', ...origin, reason: reason ?? drainFlags.get(flag)};
}

/** Returns the nodes with GPUs by name, with numbers in order: box2 before box10. Omits planned nodes (`FUTURE`). */
export function readNodes(text: string, partitions: ReadonlyMap<string, Partition> = new Map()): readonly SlurmNode[] {
	// Created here and not when the program starts, because it takes 7 ms, and `run` does not need it.
	const byName = new Intl.Collator('en', {numeric: true});
	return text
		.split('\n')
		.filter((line) => line.startsWith('NodeName=') && !field(line, 'State').startsWith('FUTURE'))
		.map((line): SlurmNode => {
			const name = field(line, 'NodeName');
			const gres = field(line, 'Gres');
			const used = heldGres(field(line, 'GresUsed'));
			const usedIds = namedGpus(used);
			return {
				name,
				gpus: gpuKinds(gres),
				usedGpus: usedIds.length + used.unnamed,
				usedIds,
				shards: shardCount(gres),
				trouble: troubleIn(line, name),
				closed: closedBy(line, name, partitions),
			};
		})
		.filter(({gpus}) => gpus.some(({count}) => count > 0))
		.toSorted((a, b) => byName.compare(a.name, b.name));
}
