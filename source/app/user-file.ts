/** Small files that keep state of a user between commands. Failures to read or write them are silent. */
import {mkdirSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {findHome} from '../config/home.js';
import type {Host} from '../core/model/ports.js';
import {findUnsafeLocation, isOurs, readSafely} from '../security/safe-file.js';

/** Returns the directory of this user's files, shared by all machines. Undefined without a home directory. */
export function stateDirectory(): string | undefined {
	const given = process.env['XDG_STATE_HOME'];
	if (given !== undefined && path.isAbsolute(given)) {
		return path.join(given, 'canhazgpu');
	}

	const home = findHome();
	return home === undefined ? undefined : path.join(home, '.local', 'state', 'canhazgpu');
}

/** Returns the directory of this user's files for this machine, because several machines can share a home directory. */
export function machineStateDirectory({machineId}: Pick<Host, 'machineId'>): string | undefined {
	const directory = stateDirectory();
	return directory === undefined ? undefined : path.join(directory, machineId);
}

/** Reads a file. Undefined if it is missing, belongs to another account or is longer than `longestBytes`. */
export function readUserFile(file: string, longestBytes: number): string | undefined {
	const read = readSafely(file, {
		longestBytes,
		followsLinks: true,
		judge: (status) => (isOurs(status) ? undefined : 'it belongs to another account'),
	});
	return read.kind === 'read' ? read.text : undefined;
}

/** Replaces the file atomically. Creates its directory so that only this user can enter it. */
export function writeUserFile(file: string, text: string): void {
	const directory = path.dirname(file);
	const temporary = `${file}.${crypto.randomUUID()}`;
	try {
		// After `sudo -E`, root must not follow links of another account, or create directories that this account cannot enter.
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
		// Ignored, because it is no error if the home directory is not writable or full.
		removeQuietly(temporary);
	}
}

/** Removes a file that may not exist, as after a failed write on a full disk. */
function removeQuietly(file: string): void {
	try {
		rmSync(file, {force: true});
	} catch {
		// The directory is not writable either.
	}
}

const mostLines = 500;
const mostCharacters = 200_000;
const longestBytes = 5 * mostCharacters;

export type LineHistory = {
	readonly load: () => readonly string[];
	readonly add: (line: string) => void;
};

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
			// Reads the file again, because other monitors of this user append to it.
			const lines = [...load().filter((other) => other !== line), line].slice(-mostLines);
			writeUserFile(file, `${lines.join('\n')}\n`);
		},
	};
}
