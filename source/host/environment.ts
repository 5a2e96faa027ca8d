import {accessSync, constants, existsSync, readFileSync, statfsSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {isatty} from 'node:tty';
import type {EnvironmentFacts} from '../core/model/environment.js';
import {codeOf} from '../errors.js';
import {readLogoutSurvival} from './job/logout.js';
import {hasMachineId} from './machine.js';

function isAccessible(file: string, mode: number): boolean {
	try {
		accessSync(file, mode);
		return true;
	} catch {
		return false;
	}
}

const {R_OK: readable, W_OK: writable, X_OK: searchable} = constants;

function readDirectory(): EnvironmentFacts['directory'] {
	try {
		process.cwd();
	} catch {
		return 'deleted';
	}

	// eslint-disable-next-line no-bitwise
	return isAccessible('.', readable | searchable) ? 'usable' : 'unreadable';
}

/** Whether /proc shows processes of other accounts. Tests process 1, which belongs to root, except in some containers. */
function showsOthers(): boolean {
	try {
		readFileSync('/proc/1/stat');
		return true;
	} catch {
		return false;
	}
}

function readProc(): EnvironmentFacts['proc'] {
	if (process.platform !== 'linux') {
		return 'usable';
	}

	if (!existsSync('/proc/self/stat')) {
		return 'absent';
	}

	return existsSync('/proc/sys/kernel') ? (showsOthers() ? 'usable' : 'own-only') : 'processes-only';
}

function readTemporaryDirectory(): EnvironmentFacts['temporaryDirectory'] {
	const directory = os.tmpdir();
	try {
		// eslint-disable-next-line no-bitwise
		accessSync(directory, writable | searchable);
	} catch (error) {
		return {path: directory, state: codeOf(error) === 'ENOENT' ? 'absent' : 'unwritable'};
	}

	return {path: directory, state: statfsSync(directory).bavail === 0 ? 'full' : 'usable'};
}

/** Returns the value of TZ if Node does not know that time zone. Node then shows times in UTC. */
function findUnknownTimeZone(): string | undefined {
	const name = (process.env['TZ'] ?? '').replace(/^:/v, '');
	if (name === '' || /^(?:UTC|GMT)0?$/v.test(name)) {
		return undefined;
	}

	try {
		new Intl.DateTimeFormat('en', {timeZone: name}).format();
		return undefined;
	} catch {
		return name;
	}
}

function canWrite(directory: string): boolean {
	const parent = path.dirname(directory);
	return existsSync(directory) || parent === directory ? isAccessible(directory, writable) : canWrite(parent);
}

export async function readEnvironment(
	stateDirectory: string | undefined,
	accountName: string,
): Promise<EnvironmentFacts> {
	const uid = process.getuid?.();
	const {hasLinger, killsProcesses} = await readLogoutSurvival();
	return {
		uid,
		hasAccount: uid === undefined || accountName !== String(uid),
		stateDirectory,
		canWriteState: stateDirectory !== undefined && canWrite(stateDirectory),
		hostname: os.hostname(),
		hasMachineId: process.platform !== 'linux' || hasMachineId(),
		directory: readDirectory(),
		proc: readProc(),
		temporaryDirectory: readTemporaryDirectory(),
		unknownTimeZone: findUnknownTimeZone(),
		logoutEndsJobs: !hasLinger && killsProcesses === true,
		lacksTerminalType: isatty(1) && (process.env['TERM'] ?? '') === '',
	};
}
