/** Keeping a job on the processors and the memory beside its GPUs. */

/** Why a job is not bound. */
export type NumaProblem =
	/** The node of a GPU is unknown. */
	| {readonly kind: 'unknown-node'; readonly gpu: number}
	/** The kernel knows no processors of it. */
	| {readonly kind: 'no-processors'; readonly node: number}
	/** Neither numactl nor taskset is installed. */
	| {readonly kind: 'no-program'}
	/** The program refused, in its own words, which are not sanitised. */
	| {readonly kind: 'refused'; readonly program: string; readonly words: string};

type NumaBinding =
	/** `entrance`: words that start a command so; the command follows them. */
	| {readonly kind: 'bound'; readonly entrance: readonly string[]}
	| {readonly kind: 'not-bound'; readonly problem: NumaProblem};

/** Finds out how a job is bound to these NUMA nodes, and tries it. Never rejects. */
export type BindToNodes = (nodes: readonly number[]) => Promise<NumaBinding>;
