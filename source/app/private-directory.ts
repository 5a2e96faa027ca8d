import {chmodSync, lstatSync, mkdirSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {Host} from '../core/model/ports.js';
import {CanhazgpuError} from '../errors.js';
import {effectiveUid, findUnsafeLocation} from '../security/safe-file.js';
import {machineStateDirectory} from './user-file.js';

/** Returns XDG_RUNTIME_DIR. Ignores it if it belongs to another account, as it can after `sudo -E` or `su`. */
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

export function openPrivateDirectory(host: Pick<Host, 'machineId'>): string {
	const directory = runtimeDirectory() ?? machineStateDirectory(host);
	if (directory === undefined) {
		throw new CanhazgpuError('failed', 'This account has no home directory for its private files', {
			hint: 'Set HOME or XDG_RUNTIME_DIR to a directory of your own.',
		});
	}

	const hint = 'Set XDG_RUNTIME_DIR to a directory of your own.';
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

		// A directory that already exists may be open to other accounts.
		chmodSync(directory, 0o700);
		return directory;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			throw error;
		}

		const {code = 'unknown error'} = error as NodeJS.ErrnoException;
		throw new CanhazgpuError('failed', `Cannot create ${directory} (${code})`, {hint, cause: error});
	}
}
