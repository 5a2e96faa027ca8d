/** What a strategy may look at to rank a free GPU. Times are seconds on the store's clock. */
export type Candidate = {
	readonly index: number;
	/** When anybody last gave it back. Undefined: never used. */
	readonly lastReleased: number | undefined;
	/** When the asking user last gave it back. Undefined: not among the recent records. */
	readonly lastUsedByRequester: number | undefined;
};

/** Puts free GPUs in the order in which they are handed out, best first. Pure, and total: equal input, equal order. */
export type Strategy = (candidates: readonly Candidate[]) => readonly Candidate[];
