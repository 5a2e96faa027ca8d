import {accessSync, constants, statSync} from 'node:fs';
import path from 'node:path';
import {CanhazgpuError, codeOf} from '../../errors.js';
import {pathOf, type Environment} from '../inherited/exact-text.js';

type CommandLookup =
	| {
			readonly kind: 'found';
			/** Contains a slash. Relative if the command or the entry of PATH was relative. */
			readonly file: string;
	  }
	| {readonly kind: 'not-found'}
	| {readonly kind: 'not-executable'; readonly file: string};

/** The search path of execvp(3) if PATH is not set. */
const defaultPath = '/bin:/usr/bin';

/**
Finds the program of a command like execvp(3). A command with a slash is a file. Any other command is searched for in the PATH of
`environment`, where an empty entry means the current directory. A file that is not executable does not end the search,
but is reported if nothing else is found. Unlike in execvp(3), and as in shells, directories are skipped.
*/
export const lookUpCommand = (command: string, environment: Environment): CommandLookup => {
	if (command === '') {
		return {kind: 'not-found'};
	}

	if (command.includes('/')) {
		return judge(command);
	}

	let refused: CommandLookup = {kind: 'not-found'};
	for (const entry of (environment['PATH'] ?? defaultPath).split(':')) {
		const file = entry === '' ? `./${command}` : `${entry}/${command}`;
		const judged = judge(file);
		if (judged.kind === 'found') {
			return judged;
		}

		// Only an existing file counts. In an inaccessible directory, it is unknown whether the file exists.
		if (judged.kind === 'not-executable' && refused.kind === 'not-found' && kindOf(file) === 'file') {
			refused = judged;
		}
	}

	return refused;
};

/** Returns the file of a command, as {@link lookUpCommand} finds it. Throws `command-not-found` (exit code 127) or `command-not-executable` (126). */
export const checkCommand = (command: string, environment: Environment): string => {
	const found = lookUpCommand(command, environment);
	switch (found.kind) {
		case 'found': {
			return found.file;
		}

		case 'not-found': {
			throw new CanhazgpuError('command-not-found', `Command not found: ${JSON.stringify(command)}`, {
				hint: hintFor(command, environment),
			});
		}

		case 'not-executable': {
			const isFolder = isDirectory(found.file);
			throw new CanhazgpuError(
				'command-not-executable',
				`${JSON.stringify(found.file)} ${isFolder ? 'is a directory, not a command' : 'is not executable'}`,
				{hint: isFolder ? undefined : 'To make it executable: chmod +x FILE'},
			);
		}
	}
};

const hintFor = (command: string, environment: Environment): string | undefined => {
	if (/\s/v.test(command) && lookUpCommand(command.trim().split(/\s/v, 1)[0] ?? '', environment).kind === 'found') {
		return 'The command and its arguments are separate words: leave out the quotes around them all';
	}

	return !command.includes('/') && judge(`./${command}`).kind === 'found'
		? 'It is in this directory, which is not in PATH: write ./ before its name'
		: undefined;
};

/** Returns whether a file can be executed. `access` uses the real uid and considers noexec mounts, but also accepts directories. */
const judge = (file: string): CommandLookup => {
	try {
		accessSync(pathOf(file), constants.X_OK);
		return isDirectory(file) ? {kind: 'not-executable', file} : {kind: 'found', file};
	} catch (error) {
		return codeOf(error) === 'EACCES' ? {kind: 'not-executable', file} : {kind: 'not-found'};
	}
};

const kindOf = (file: string): 'directory' | 'file' | 'unknown' => {
	try {
		return statSync(pathOf(path.resolve(file))).isDirectory() ? 'directory' : 'file';
	} catch {
		return 'unknown';
	}
};

const isDirectory = (file: string): boolean => kindOf(file) === 'directory';
