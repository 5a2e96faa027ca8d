/**
An interactive shell on a terminal, in a box, in which `canhazgpu` can be typed.
*/
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {starter, starterText, type Box} from '../program/cli.js';
import {openTerminal, type Terminal} from './terminal.js';

export type Shell = {
	readonly command: string;
	/** Such that it reads nobody's settings. */
	readonly parameters: readonly string[];
};

const bash: Shell = {command: 'bash', parameters: ['--norc', '--noprofile', '-i']};

export async function openShell(box: Box, {command: program, parameters} = bash): Promise<Terminal> {
	const directory = path.join(box.home, 'bin');
	const command = path.join(directory, 'canhazgpu');
	// The shell before may be starting it just now: nothing can be written to it then.
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
			// Fish would share one in /tmp with other accounts.
			XDG_RUNTIME_DIR: box.home,
			LC_ALL: 'C.UTF-8',
		},
	});
	onTestFinished(async () => shell.close());
	await shell.waitFor('shell>');
	return shell;
}
