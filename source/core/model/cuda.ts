/** Installations of CUDA on this machine: what `run --cuda` chooses from. */

export type CudaInstallation = {
	/** Directory, with links resolved. */
	readonly root: string;
	/** Version from the version file, such as `12.4.1`. */
	readonly version: string;
	/** Directory of libraries, if there is one. */
	readonly libraries?: string;
};

/** A directory that looks like an installation, and why it does not count. */
export type RefusedCuda = {readonly root: string; readonly problem: string};

export type CudaSearch = {
	/** In search order. */
	readonly installations: readonly CudaInstallation[];
	readonly refused: readonly RefusedCuda[];
};
