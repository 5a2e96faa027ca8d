/**
Other hosts as directories of this machine: a program `ssh` that runs the command as sshd would, by a shell of its own in the home and the
environment of that host. Whatever else ssh is told is ignored.
*/
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {shellCommand, shellQuote} from '../../../source/format/text/shell.js';
import {type Box, starter, starterText} from '../program/cli.js';

/** @returns The PATH on which the program is found as `canhazgpu`, as on a host where it is installed. */
export function installProgram(directory: string, box: Box): string {
	mkdirSync(directory, {recursive: true});
	const file = path.join(directory, 'canhazgpu');
	writeFileSync(file, `#!/bin/sh\nexec ${shellCommand([starter, ...starterText])} "$@"\n`);
	chmodSync(file, 0o755);
	return `${directory}:${box.environment['PATH']!}`;
}

/** What a login on this host sets, as words for env. */
export function loginEnvironment(box: Box): readonly string[] {
	const searchPath = installProgram(path.join(box.home, 'installed'), box);
	return Object.entries({...box.environment, PATH: searchPath}).map(([name, value]) => `${name}=${value}`);
}

/**
Makes the stub.

@param directory - Of the stub, which becomes the first of the PATH.
@param hosts - By name. A name that is not among them does not answer.
@param shell - Of every user there.
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
