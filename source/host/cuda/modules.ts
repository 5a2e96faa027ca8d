/**
Directories that environment modules (Tcl) and Lmod (Lua) know. The modulefiles of CUDA are read for the paths in them and never run: which of
the paths is an installation, its own version file says.
*/
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {readSafely} from '../../security/safe-file.js';

/** Names under which sites keep the modules of CUDA. */
const moduleNames = ['cuda', 'CUDA', 'cudatoolkit', 'cuda-toolkit'];
const longestModuleBytes = 64 * 1024;
const mostModules = 50;

/** `set root /opt/x` and `local root = "/opt/x"`. */
const assignment =
	/^\s*(?:set\s+(?<tcl>\w+)\s+"?(?<tclValue>[^\s"]+)"?|local\s+(?<lua>\w+)\s*=\s*["'](?<luaValue>[^"']*)["'])\s*(?:;\s*)?$/v;

/** Every path in a modulefile, and what a path leads to without its last part: `/opt/x/bin` is in `/opt/x`. */
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

/** @param modulePath - As MODULEPATH has it. */
export const rootsInModules = (modulePath: string): readonly string[] =>
	modulePath
		.split(':')
		.filter((directory) => path.isAbsolute(directory))
		.flatMap((directory) => moduleNames.flatMap((name) => modulesIn(path.join(directory, name))))
		.slice(0, mostModules)
		.flatMap((file) => {
			const read = readSafely(file, {longestBytes: longestModuleBytes, followsLinks: true});
			return read.kind === 'read' ? pathsInModule(read.text) : [];
		});
