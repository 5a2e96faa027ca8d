/** A directory for what only this account may reach while the machine runs, such as a socket. */
import {chmodSync, lstatSync, mkdirSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {Host} from '../core/model/ports.js';
import {CanhazgpuError} from '../errors.js';
import {effectiveUid, findUnsafeLocation} from '../security/safe-file.js';
import {machineStateDirectory} from './user-file.js';

/** With `sudo -E` or `su` it is another account's: then it is as good as not given. */
function runtimeDirectory(): string | undefined {
	const given = process.env['XDG_RUNTIME_DIR'];
	if (given === undefined || !path.isAbsolute(given)) {
		return undefined;
	}

	try {
		return statSync(given).uid === effectiveUid() ? path.join(given, 'canhazgpu') : undefined;
	} catch {
		return undefined;
	}
}

const refused = (directory: string, problem: string, hint: string): CanhazgpuError =>
	new CanhazgpuError('failed', `${directory} ${problem}`, {hint});

/**
Makes it, or finds it, with mode 0700: below XDG_RUNTIME_DIR, or where this account keeps its state.

@throws CanhazgpuError `failed` where another account could reach or replace it.
*/
export function openPrivateDirectory(host: Pick<Host, 'machineId'>): string {
	const directory = runtimeDirectory() ?? machineStateDirectory(host);
	if (directory === undefined) {
		throw new CanhazgpuError('failed', 'This account has no home directory for its private files', {
			hint: 'Set HOME or XDG_RUNTIME_DIR to a directory of your own.',
		});
	}

	const hint = 'Name a directory of your own by XDG_RUNTIME_DIR.';
	try {
		const unsafe = findUnsafeLocation(directory, {trustsOwner: false});
		if (unsafe !== undefined) {
			throw refused(directory, unsafe.problem, unsafe.remedy);
		}

		mkdirSync(directory, {recursive: true, mode: 0o700});
		const status = lstatSync(directory);
		if (!status.isDirectory()) {
			throw refused(directory, 'is not a directory', hint);
		}

		if (status.uid !== effectiveUid()) {
			throw refused(directory, 'belongs to another account', hint);
		}

		// What was made before may be open to others.
		chmodSync(directory, 0o700);
		return directory;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			throw error;
		}

		const {code = 'unknown error'} = error as NodeJS.ErrnoException;
		throw new CanhazgpuError('failed', `${directory} cannot be made (${code})`, {hint, cause: error});
	}
}
