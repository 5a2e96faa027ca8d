/** How busy a GPU was. */

/** Shares of what there is, from 0 to 1. Unknown is undefined. */
export type Load = {readonly utilization?: number; readonly memory?: number};

/** A line of the load history: the means over one minute since the epoch. */
export type MinuteLoads = {
	readonly minute: number;
	/** How many scans were added up. */
	readonly scans: number;
	/** A cell for each GPU, see load-minutes.ts. */
	readonly cells: string;
};
