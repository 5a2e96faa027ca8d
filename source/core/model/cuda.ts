/** Installations of CUDA on this machine: what `run --cuda` chooses from. */

export type CudaInstallation = {
	/** Its directory, without links on the way. */
	readonly root: string;
	/** As its version file says, such as `12.4.1`. */
	readonly version: string;
	/** Its directory of libraries. Absent: it has none. */
	readonly libraries?: string;
};

/** A directory that looks like an installation, and why it does not count. */
export type RefusedCuda = {readonly root: string; readonly problem: string};

export type CudaSearch = {
	/** In the order of the search. */
	readonly installations: readonly CudaInstallation[];
	readonly refused: readonly RefusedCuda[];
};
