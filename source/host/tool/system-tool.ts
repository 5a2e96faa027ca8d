/** Runs system tools that identify accounts. Only directories of root are searched, because a `getent` in the user's PATH could lie. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {runTool} from './spawn.js';

/** The directories to search. Only root can put programs there. The last directory is for NixOS. */
const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** Returns the full path of a tool. For a tool that is not installed, this is a path without a file. */
export const systemTool = (name: string): string =>
	directories.map((directory) => path.join(directory, name)).find((file) => existsSync(file)) ??
	path.join(directories[0]!, name);

export const systemEnvironment: Readonly<Record<string, string>> = {PATH: directories.join(':'), LC_ALL: 'C'};

export const runSystemTool: typeof runTool = async (name, args, options) =>
	runTool(systemTool(name), args, {...options, environment: systemEnvironment});

/** Returns words that make a command end with this process, even after SIGKILL. Empty if setpriv(1) is not installed. */
export function endsWithUs(): readonly string[] {
	const tool = systemTool('setpriv');
	return existsSync(tool) ? [tool, '--pdeathsig', 'TERM'] : [];
}
