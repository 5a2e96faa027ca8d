/** `run --numa bind`: binds a job to the CPUs and memory near its GPUs. */
import type {Observation} from '../../../core/model/types.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {notBoundLine} from '../../../format/numa.js';
import type {OpenWorld} from '../../../app/contract.js';
import type {Flag, Input} from '../../../command-line/command.js';

const numaWishes = ['bind', 'off'] as const;

export const numaFlag: Flag = {
	value: 'HOW',
	summary: 'bind (use only the CPUs and memory near the GPUs) or off',
	completes: numaWishes,
};

export function isBindingWanted(input: Input): boolean {
	const typed = input.text('numa') ?? input.config.get('run.numa');
	if (typed !== undefined && !(numaWishes as readonly string[]).includes(typed)) {
		throw new CanhazgpuError('usage', `--numa must be bind or off, not ${quoted(typed)}`);
	}

	return typed === 'bind';
}

export type JobBinding = {
	readonly entrance: readonly string[];
	/** The NUMA nodes, sorted. Undefined if binding is not wanted or not possible. */
	readonly nodes: readonly number[] | undefined;
	readonly remark: string | undefined;
};

export const notWanted: JobBinding = {entrance: [], nodes: undefined, remark: undefined};

/** Binds a job to the NUMA nodes of its GPUs. A failure is only reported, because the job still works, although more slowly. */
export async function bindJob(
	{prepareNumaBinding}: Pick<OpenWorld, 'prepareNumaBinding'>,
	gpus: readonly number[],
	scan: Observation | undefined,
): Promise<JobBinding> {
	const nodeOf = (gpu: number): number | undefined => scan?.gpus.find(({index}) => index === gpu)?.numaNode;
	const unknown = gpus.find((gpu) => nodeOf(gpu) === undefined);
	if (unknown !== undefined) {
		return {...notWanted, remark: notBoundLine({kind: 'unknown-node', gpu: unknown})};
	}

	const nodes = [...new Set(gpus.map((gpu) => nodeOf(gpu)!))].toSorted((a, b) => a - b);
	const bindToNodes = await prepareNumaBinding();
	const binding = await bindToNodes(nodes);
	return binding.kind === 'bound'
		? {entrance: binding.entrance, nodes, remark: undefined}
		: {...notWanted, remark: notBoundLine(binding.problem)};
}
