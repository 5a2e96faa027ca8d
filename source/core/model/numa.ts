export type NumaProblem =
	| {readonly kind: 'unknown-node'; readonly gpu: number}
	| {readonly kind: 'no-processors'; readonly node: number}
	| {readonly kind: 'no-program'}
	| {readonly kind: 'refused'; readonly program: string; readonly words: string};

type NumaBinding =
	/** `entrance`: a command prefix that starts the job bound to the nodes. */
	| {readonly kind: 'bound'; readonly entrance: readonly string[]}
	| {readonly kind: 'not-bound'; readonly problem: NumaProblem};

/** Finds a way to bind a job to these NUMA nodes, and tests it. Never rejects. */
export type BindToNodes = (nodes: readonly number[]) => Promise<NumaBinding>;
