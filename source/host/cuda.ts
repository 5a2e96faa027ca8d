/** Finds CUDA installations by their version files. Ignores directories that other accounts can change, because jobs run programs from them. */
import {readdirSync, realpathSync, statSync, type Stats} from 'node:fs';
import path from 'node:path';
import type {CudaInstallation, CudaSearch, RefusedCuda} from '../core/model/cuda.js';
import {codeOf} from '../errors.js';
import {findUnsafeLocation, isOurs, isWritableByOthers, ownerText, readSafely} from '../security/safe-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

type CudaLocations = {
	/** Directories that contain installations named `cuda` or `cuda-VERSION`. */
	readonly parents: readonly string[];
	/** `CUDA_HOME` and `CUDA_PATH` name an installation. `MODULEPATH` lists directories of modulefiles, which name installations. */
	readonly environment: Environment;
};

/** Directories where NVIDIA's packages and installers put CUDA. */
export const usualParents: readonly string[] = ['/usr/local', '/opt', '/opt/nvidia'];

/** The files that can contain the version of an installation. Both are short. */
const versionFiles = ['version.json', 'version.txt'];
const longestVersionFileBytes = 64 * 1024;

/** Maximum number of directories to read. A parent can be a file system with thousands of entries. */
const mostRoots = 200;

const namesIn = (directory: string): readonly string[] => {
	try {
		return readdirSync(directory).toSorted();
	} catch {
		return [];
	}
};

function rootsIn(parent: string): readonly string[] {
	return namesIn(parent)
		.filter((name) => /^cuda(?:-[\w.]+)?$/iv.test(name))
		.map((name) => path.join(parent, name));
}

const moduleNames = ['cuda', 'CUDA', 'cudatoolkit', 'cuda-toolkit'];
const longestModuleBytes = 64 * 1024;
const mostModules = 50;

/** Matches `set root /opt/x` and `local root = "/opt/x"`. */
const assignment =
	/^\s*(?:set\s+(?<tcl>\w+)\s+"?(?<tclValue>[^\s"]+)"?|local\s+(?<lua>\w+)\s*=\s*["'](?<luaValue>[^"']*)["'])\s*(?:;\s*)?$/v;

/** Returns every path in a modulefile, and the parent of each path, because a modulefile may name only `/opt/x/bin` for the installation `/opt/x`. */
export function pathsInModule(text: string): readonly string[] {
	const values = new Map<string, string>();
	const expand = (value: string): string =>
		value.replaceAll(/\$\{?(?<name>\w+)\}?/gv, (whole, name: string) => values.get(name) ?? whole);
	const paths: string[] = [];
	for (const line of text.split('\n')) {
		const {tcl, tclValue = '', lua, luaValue = ''} = assignment.exec(line)?.groups ?? {};
		const name = tcl ?? lua;
		if (name !== undefined) {
			values.set(name, expand(tclValue + luaValue));
		}

		paths.push(...(expand(line).match(/\/[\w+\-.\/]+/gv) ?? []));
	}

	const resolved = paths.map((found) => path.resolve(found));
	return [...new Set(resolved.flatMap((found) => [found, path.dirname(found)]))].filter((found) => found !== '/');
}

function modulesIn(directory: string): readonly string[] {
	try {
		return readdirSync(directory)
			.filter((name) => !name.startsWith('.'))
			.map((name) => path.join(directory, name));
	} catch {
		return [];
	}
}

/** Returns the paths in CUDA's modulefiles (Tcl or Lmod), without executing the files. A path is an installation if it has a version file. */
const rootsInModules = (modulePath: string): readonly string[] =>
	modulePath
		.split(':')
		.filter((directory) => path.isAbsolute(directory))
		.flatMap((directory) => moduleNames.flatMap((name) => modulesIn(path.join(directory, name))))
		.slice(0, mostModules)
		.flatMap((file) => {
			const read = readSafely(file, {longestBytes: longestModuleBytes, followsLinks: true});
			return read.kind === 'read' ? pathsInModule(read.text) : [];
		});

/** Returns directories that may be installations, in order of preference: of two installations with the same version, the first is used. */
function candidateRoots({parents, environment}: CudaLocations): readonly string[] {
	const named = ['CUDA_HOME', 'CUDA_PATH'].map((name) => environment[name]).filter((root) => root !== undefined);
	const all = [
		...named,
		...parents.flatMap((parent) => rootsIn(parent)),
		...rootsInModules(environment['MODULEPATH'] ?? ''),
	];
	const resolved = all.filter((root) => path.isAbsolute(root)).slice(0, mostRoots);
	return [...new Set(resolved.flatMap((root) => realPath(root) ?? []))];
}

function realPath(file: string): string | undefined {
	try {
		return realpathSync(file);
	} catch {
		return undefined;
	}
}

/** Returns a text that says how another account can change the file. Undefined if only root and this account can. */
const strangerProblem = (status: Stats, writableText: string): string | undefined =>
	isOurs(status) ? (isWritableByOthers(status) ? writableText : undefined) : ownerText(status);

function problemOf(directory: string): string | undefined {
	try {
		const unsafe = findUnsafeLocation(directory, {trustsOwner: false});
		return unsafe?.problem ?? strangerProblem(statSync(directory), 'can be changed by other accounts');
	} catch (error) {
		return `cannot be read (${codeOf(error) ?? 'unknown error'})`;
	}
}

const isDirectory = (file: string): boolean => statSync(file, {throwIfNoEntry: false})?.isDirectory() === true;

function versionIn(name: string, text: string): string | undefined {
	if (name === 'version.txt') {
		return /^CUDA Version (?<version>\d+\.\d+(?:\.\d+)?)/v.exec(text)?.groups!['version'];
	}

	try {
		const {cuda} = JSON.parse(text) as {readonly cuda?: {readonly version?: unknown}};
		return /^\d+\.\d+(?:\.\d+)?/v.exec(String(cuda?.version))?.[0];
	} catch {
		return undefined;
	}
}

/** Returns the version, or why the version file is invalid. Undefined if there is no version file, so that the directory is no installation. */
function readVersion(root: string): {readonly version: string} | {readonly problem: string} | undefined {
	for (const name of versionFiles) {
		const read = readSafely(path.join(root, name), {
			longestBytes: longestVersionFileBytes,
			followsLinks: false,
			judge: (status) => strangerProblem(status, 'can be changed by other accounts'),
		});
		if (read.kind === 'absent') {
			continue;
		}

		const version = read.kind === 'read' ? versionIn(name, read.text) : undefined;
		return version === undefined
			? {
					problem: `has a ${name} that cannot be used: ${read.kind === 'refused' ? read.problem : 'it contains no version'}`,
				}
			: {version};
	}

	return undefined;
}

/** Subdirectories with libraries: `lib64` in NVIDIA's installations, `lib` in those of distributions. */
const libraryDirectories = ['lib64', 'lib'];

function judge(root: string): CudaInstallation | RefusedCuda | undefined {
	const read = readVersion(root);
	if (read === undefined) {
		return undefined;
	}

	const programs = path.join(root, 'bin');
	if (!isDirectory(programs)) {
		return {root, problem: 'has no bin directory'};
	}

	const libraries = libraryDirectories.map((name) => path.join(root, name)).find((name) => isDirectory(name));
	const used = [root, programs, ...(libraries === undefined ? [] : [libraries])];
	const problem = used
		.map((directory) => [directory, problemOf(directory)] as const)
		.find(([, found]) => found !== undefined);
	if (problem !== undefined) {
		const [directory, words] = problem;
		const name = path.relative(root, directory);
		return {root, problem: name === '' ? words! : `has an unsafe directory ${name}: it ${words}`};
	}

	return 'problem' in read ? {root, problem: read.problem} : {root, version: read.version, libraries};
}

/** Returns all installations on this machine. Never throws. */
export function findCuda(locations: CudaLocations): CudaSearch {
	const judged = candidateRoots(locations)
		.map((root) => judge(root))
		.filter((found) => found !== undefined);
	return {
		installations: judged.filter((found) => 'version' in found),
		refused: judged.filter((found) => 'problem' in found),
	};
}
