/** A CUDA installation on this machine, which `run --cuda` can choose. */

export type CudaInstallation = {
	/** Directory, with links resolved. */
	readonly root: string;
	readonly version: string;
	readonly libraries?: string;
};

export type RefusedCuda = {readonly root: string; readonly problem: string};

export type CudaSearch = {
	readonly installations: readonly CudaInstallation[];
	readonly refused: readonly RefusedCuda[];
};
