/**
Other hosts, simulated by directories of this machine. The stub `ssh` runs the command through a shell in the home and environment of the host,
and ignores its other arguments.
*/
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {shellCommand, shellQuote} from '../../../source/format/text/shell.js';
import {type Box, starter, starterText} from '../program/cli.js';

/** Installs the program as `canhazgpu`. Returns a PATH that finds it. */
export function installProgram(directory: string, box: Box): string {
	mkdirSync(directory, {recursive: true});
	const file = path.join(directory, 'canhazgpu');
	writeFileSync(file, `#!/bin/sh\nexec ${shellCommand([starter, ...starterText])} "$@"\n`);
	chmodSync(file, 0o755);
	return `${directory}:${box.environment['PATH']!}`;
}

/** Returns the login environment of this host, as arguments of env. */
export function loginEnvironment(box: Box): readonly string[] {
	const searchPath = installProgram(path.join(box.home, 'installed'), box);
	return Object.entries({...box.environment, PATH: searchPath}).map(([name, value]) => `${name}=${value}`);
}

/**
Creates the stub.

@param directory - The directory of the stub. It becomes the first entry of PATH.
@param hosts - The hosts by name. Other names do not answer.
@param shell - The login shell on these hosts.
*/
export function makeStubSsh(directory: string, hosts: Readonly<Record<string, Box>>, shell = '/bin/sh'): void {
	mkdirSync(directory, {recursive: true});
	const cases = Object.entries(hosts).map(
		([name, box]) =>
			`${name}) cd ${shellQuote(box.home)} || exit 255; env -i ${shellCommand(loginEnvironment(box))} ${shell} -c "$*"; exit $?;;`,
	);
	const file = path.join(directory, 'ssh');
	writeFileSync(
		file,
		[
			'#!/bin/sh',
			'while [ "$1" != -- ]; do shift; done',
			'host=$2; shift 2',
			'case $host in',
			...cases,
			'*) echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255;;',
			'esac',
			'',
		].join('\n'),
	);
	chmodSync(file, 0o755);
}
