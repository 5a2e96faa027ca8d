/** `scontrol show node --details --oneliner`: a node in each line. Only administrators can write text into it. */
import {countOf, gpuKinds, type GpuKind} from './gres.js';

/** Why no job can start on a node now. */
type NodeTrouble =
	/** An administrator took it out of service; what runs there goes on. */
	| {readonly kind: 'drained'; readonly reason?: string; readonly by?: string; readonly since?: number}
	/** It is down, or does not answer. `words` are for people. */
	| {readonly kind: 'down'; readonly words: string};

export type SlurmNode = {
	readonly name: string;
	/** By type, in the order in which Slurm numbers them. */
	readonly gpus: readonly GpuKind[];
	/** How many GPUs Slurm counts as in use there, also by jobs that it does not show. */
	readonly usedGpus: number;
	readonly shards: number;
	readonly trouble?: NodeTrouble;
};

const field = (line: string, name: string): string =>
	new RegExp(String.raw`(?:^|\s)${name}=(\S+)`, 'v').exec(line)?.[1] ?? '';

const runningStates = new Set(['IDLE', 'MIXED', 'ALLOCATED', 'PLANNED', 'COMPLETING']);
const drainFlags = new Set(['DRAIN', 'DRAINED', 'DRAINING', 'MAINTENANCE', 'MAINT', 'RESERVED']);

/** `Not responding [slurm@2026-11-22T21:25:30]` -> the words, the account, and since when, on the clock of this machine. */
function reasonIn(line: string): Omit<Extract<NodeTrouble, {kind: 'drained'}>, 'kind'> {
	const [, ...behind] = line.split(' Reason=');
	const words = behind.join(' Reason=').trim();
	const end = words.lastIndexOf(' [');
	const {by, time = ''} = /^ \[(?<by>[^@\]]+)@(?<time>[^\]]*)/v.exec(end === -1 ? '' : words.slice(end))?.groups ?? {};
	const since = Date.parse(time) / 1000;
	const reason = by === undefined ? words : words.slice(0, end);
	return {reason: reason === '' ? undefined : reason, by, since: Number.isNaN(since) ? undefined : since};
}

function troubleIn(line: string, name: string): NodeTrouble | undefined {
	const written = field(line, 'State');
	const [base = '', ...flags] = written.replaceAll(/[!#$%*\-@^~]/gv, '').split('+');
	const reasonAndOrigin = reasonIn(line);
	const {reason} = reasonAndOrigin;
	if (written.includes('*') || flags.includes('NOT_RESPONDING')) {
		return {kind: 'down', words: `node ${name} does not answer`};
	}

	if (!runningStates.has(base)) {
		return {
			kind: 'down',
			words: `node ${name} is ${base === '' ? 'in an unknown state' : base.toLowerCase()}${reason === undefined ? '' : `: ${reason}`}`,
		};
	}

	const kept = flags.includes('RESERVED') ? 'kept for a reservation of Slurm' : undefined;
	return flags.some((flag) => drainFlags.has(flag))
		? {kind: 'drained', ...reasonAndOrigin, reason: reason ?? kept}
		: undefined;
}

/** The nodes that have GPUs, by name, numbers in their order: box2 before box10. A node that is only planned (`FUTURE`) is none. */
export function readNodes(text: string): readonly SlurmNode[] {
	// To make one takes 7 ms, which `run` does not wait for.
	const byName = new Intl.Collator('en', {numeric: true});
	return text
		.split('\n')
		.filter((line) => line.startsWith('NodeName=') && !field(line, 'State').startsWith('FUTURE'))
		.map((line): SlurmNode => {
			const name = field(line, 'NodeName');
			const gres = field(line, 'Gres');
			return {
				name,
				gpus: gpuKinds(gres),
				usedGpus: countOf(field(line, 'GresUsed'), 'gpu'),
				shards: countOf(gres, 'shard'),
				trouble: troubleIn(line, name),
			};
		})
		.filter(({gpus}) => gpus.some(({count}) => count > 0))
		.toSorted((a, b) => byName.compare(a.name, b.name));
}
