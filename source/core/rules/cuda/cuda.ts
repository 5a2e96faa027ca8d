import {CanhazgpuError} from '../../../errors.js';
import type {CudaInstallation, CudaSearch} from '../../model/cuda.js';

export const cudaVersionPattern = /^\d{1,4}(?:\.\d{1,4}){0,2}$/v;

const partsOf = (version: string): readonly number[] => version.split('.').map(Number);

/** Returns whether a version starts with the wanted parts. Version `12.4` matches `12` and `12.4`, but not `1`. */
function isMeant(version: string, wanted: string): boolean {
	const parts = partsOf(version);
	return partsOf(wanted).every((part, index) => parts[index] === part);
}

const compareVersions = (one: string, other: string): number => {
	const [a, b] = [partsOf(one), partsOf(other)];
	const position = Array.from({length: Math.max(a.length, b.length)}, (_, index) => index).find(
		(index) => (a[index] ?? 0) !== (b[index] ?? 0),
	);
	return position === undefined ? 0 : (a[position] ?? 0) - (b[position] ?? 0);
};

export const chooseCuda = (
	installations: readonly CudaInstallation[],
	wanted: string,
): CudaInstallation | undefined => {
	const meant = installations.filter(({version}) => isMeant(version, wanted));
	return meant.toSorted((a, b) => compareVersions(b.version, a.version))[0];
};

/**
Returns the newest installation of the wanted version, a text that matches {@link cudaVersionPattern}. Throws `impossible` if there is none.
`supported` is the newest version that the driver supports, if known.
*/
export function requireCuda(search: CudaSearch, wanted: string, supported: string | undefined): CudaInstallation {
	const chosen = chooseCuda(search.installations, wanted);
	if (chosen !== undefined) {
		return chosen;
	}

	const found = search.installations
		.toSorted((a, b) => compareVersions(a.version, b.version))
		.map(({version, root}) => `${version} in ${root}`);
	const sentences = [
		found.length === 0
			? 'No installation was found in /usr/local, /opt, CUDA_HOME, CUDA_PATH and MODULEPATH.'
			: `Found: ${found.join(', ')}.`,
		...search.refused.map(({root, problem}) => `Not used: ${root}, which ${problem}.`),
		...(supported === undefined ? [] : [`The driver supports CUDA up to ${supported}.`]),
	];
	throw new CanhazgpuError('impossible', `CUDA ${wanted} is not installed here`, {hint: sentences.join(' ')});
}

export function cudaWarning({version, root}: CudaInstallation, supported: string | undefined): string | undefined {
	// A program that was built for a newer CUDA than the driver's also runs, if the major version is the same.
	return supported !== undefined && partsOf(version)[0]! > partsOf(supported)[0]!
		? `Warning: the driver supports CUDA up to ${supported}, so programs built for CUDA ${version} (${root}) may not start.`
		: undefined;
}

/** Prepends an entry to a list of paths. An empty list is dropped, because an empty entry would mean the current directory. */
const withFirst = (entry: string, list: string | undefined): string =>
	list === undefined || list === '' ? entry : [entry, ...list.split(':').filter((other) => other !== entry)].join(':');

export const cudaEnvironment = (
	{root, libraries}: CudaInstallation,
	environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> => ({
	CUDA_HOME: root,
	CUDA_PATH: root,
	PATH: withFirst(`${root}/bin`, environment['PATH']),
	...(libraries !== undefined && {LD_LIBRARY_PATH: withFirst(libraries, environment['LD_LIBRARY_PATH'])}),
});
