/** An interactive shell on a terminal, in which tests type `canhazgpu` commands. */
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {starter, starterText, type Box} from '../program/cli.js';
import {openTerminal, type Terminal} from './terminal.js';

export type Shell = {
	readonly command: string;
	/** Arguments that keep the shell from reading the user's settings. */
	readonly parameters: readonly string[];
};

const bash: Shell = {command: 'bash', parameters: ['--norc', '--noprofile', '-i']};

export async function openShell(box: Box, {command: program, parameters} = bash): Promise<Terminal> {
	const directory = path.join(box.home, 'bin');
	const command = path.join(directory, 'canhazgpu');
	// The previous shell may be just starting this file, and a running file cannot be written.
	if (!existsSync(command)) {
		mkdirSync(directory, {recursive: true});
		const words = [starter, ...starterText].map((word) => `'${word}'`).join(' ');
		writeFileSync(command, `#!/bin/sh\nexec ${words} "$@"\n`, {mode: 0o755});
	}

	const shell = openTerminal(program, parameters, {
		cwd: box.home,
		columns: 160,
		environment: {
			...box.environment,
			PATH: `${directory}${path.delimiter}${box.environment['PATH'] ?? ''}`,
			PS1: 'shell> ',
			HISTFILE: '',
			// By default, fish uses a directory in /tmp that other accounts share.
			XDG_RUNTIME_DIR: box.home,
			LC_ALL: 'C.UTF-8',
		},
	});
	onTestFinished(async () => shell.close());
	await shell.waitFor('shell>');
	return shell;
}
