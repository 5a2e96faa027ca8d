/** Small files in which a user's own visits leave something for the next one. They are only a help: nothing here ever fails. */
import {mkdirSync, renameSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {findHome} from '../config/home.js';
import type {Host} from '../core/model/ports.js';
import {findUnsafeLocation, isOurs, readSafely} from '../security/safe-file.js';

/** Returns the directory of this user's files, which all machines share. Undefined where the account has no home directory. */
export function stateDirectory(): string | undefined {
	const given = process.env['XDG_STATE_HOME'];
	if (given !== undefined && path.isAbsolute(given)) {
		return path.join(given, 'canhazgpu');
	}

	const home = findHome();
	return home === undefined ? undefined : path.join(home, '.local', 'state', 'canhazgpu');
}

/** Returns the directory of this user's files for one machine: a home directory may be on many. Undefined as {@link stateDirectory}. */
export function machineStateDirectory({machineId}: Pick<Host, 'machineId'>): string | undefined {
	const directory = stateDirectory();
	return directory === undefined ? undefined : path.join(directory, machineId);
}

/** Undefined where there is none, where it is another account's, and where it is longer than that. */
export function readUserFile(file: string, longestBytes: number): string | undefined {
	const read = readSafely(file, {
		longestBytes,
		followsLinks: true,
		judge: (status) => (isOurs(status) ? undefined : 'it is of another account'),
	});
	return read.kind === 'read' ? read.text : undefined;
}

/** Replaces it as a whole, in a directory that only this user may enter. */
export function writeUserFile(file: string, text: string): void {
	const directory = path.dirname(file);
	const temporary = `${file}.${crypto.randomUUID()}`;
	try {
		// The home that root kept belongs to an account that may have put links there, and could not enter what root makes there.
		if (findUnsafeLocation(directory, {trustsOwner: false}) !== undefined) {
			return;
		}

		mkdirSync(directory, {recursive: true, mode: 0o700});
		if (!isOurs(statSync(directory))) {
			return;
		}

		writeFileSync(temporary, text, {mode: 0o600, flag: 'wx'});
		renameSync(temporary, file);
	} catch {
		// A home that cannot be written is no reason to fail.
	}
}

const mostLines = 500;
/** Whatever is longer was not written by us. */
const mostCharacters = 200_000;
const longestBytes = 5 * mostCharacters;

export type LineHistory = {
	readonly load: () => readonly string[];
	readonly add: (line: string) => void;
};

/**
The lines that were typed into the monitor's command line, for this user, newest last.

@param file - Undefined where nothing can be kept.
*/
export function createLineHistory(file: string | undefined): LineHistory {
	if (file === undefined) {
		return {load: () => [], add: () => undefined};
	}

	const load = (): readonly string[] => {
		const lines = readUserFile(file, longestBytes)?.slice(-mostCharacters).split('\n') ?? [];
		return lines.filter((line) => line !== '').slice(-mostLines);
	};

	return {
		load,
		add(line) {
			// Read again: other monitors of this user write it, too.
			const lines = [...load().filter((other) => other !== line), line].slice(-mostLines);
			writeUserFile(file, `${lines.join('\n')}\n`);
		},
	};
}
