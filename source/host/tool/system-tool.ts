/**
Tools of the system that tell which account is which. Which program answers to their names is for root to say, and not for the PATH of the user who
runs us: a `getent` of one's own could call its owner anybody.
*/
import {existsSync} from 'node:fs';
import path from 'node:path';
import {runTool} from './spawn.js';

/** Only root puts programs here. The last is where NixOS has them. */
const directories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** The full path of a tool. Where no such tool is installed it names a file that is not there. */
export const systemTool = (name: string): string =>
	directories.map((directory) => path.join(directory, name)).find((file) => existsSync(file)) ??
	path.join(directories[0]!, name);

/** All of the environment that such a tool gets. */
export const systemEnvironment: Readonly<Record<string, string>> = {PATH: directories.join(':'), LC_ALL: 'C'};

/** Runs a tool of the system, by its bare name, as {@link runTool} runs a program. */
export const runSystemTool: typeof runTool = async (name, args, options) =>
	runTool(systemTool(name), args, {...options, environment: systemEnvironment});

/**
Words before a command by which it ends with us, even by SIGKILL: nothing else would end it. None where util-linux has no such program.
*/
export function endsWithUs(): readonly string[] {
	const tool = systemTool('setpriv');
	return existsSync(tool) ? [tool, '--pdeathsig', 'TERM'] : [];
}
