import {closeSync, constants, fstatSync, openSync, writeSync} from 'node:fs';
import path from 'node:path';
import {isatty} from 'node:tty';
import type {Delivery, TerminalRequest} from '../../core/model/notice-request.js';
import type {Users} from '../accounts/users.js';
import type {runTool} from '../tool/spawn.js';

export type TerminalOptions = {
	readonly users: Users;
	readonly run: typeof runTool;
	readonly devices?: string;
	/** Whether to write to the terminal of this process, too. A message there would spoil the monitor or a job's output. */
	readonly includesOwn?: boolean;
};

const isLine = (field: string): boolean => /^(?:pts\/\d+|tty\w+)$/v.test(field);

/**
Returns the terminals on which an account is logged in, such as `pts/3`, from the output of who(1). Where who reads the sessions of systemd, it prints
the name of the login service before the terminal: `ada sshd pts/3`.
*/
export function linesOf(account: string, who: string): readonly string[] {
	return who
		.split('\n')
		.map((line) => line.split(/\s+/v))
		.filter(([user]) => user === account)
		.flatMap((fields) => fields.slice(1, 3).find((field) => isLine(field)) ?? []);
}

const isOurs = (device: number): boolean =>
	[0, 1, 2].some((descriptor) => isatty(descriptor) && fstatSync(descriptor).rdev === device);

/** Writes a message, without waiting, to a terminal that belongs to the account and accepts messages. Returns whether it was written. */
async function writeTo(
	file: string,
	{account, text}: TerminalRequest,
	{users, includesOwn = false}: TerminalOptions,
): Promise<boolean> {
	// eslint-disable-next-line no-bitwise
	const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
	let terminal: number;
	try {
		terminal = openSync(file, flags);
	} catch {
		// The terminal is gone, or rejects messages.
		return false;
	}

	try {
		const status = fstatSync(terminal);
		// `mesg y` accepts messages by setting the group's write permission.
		// eslint-disable-next-line no-bitwise
		const isOpen = status.isCharacterDevice() && (status.mode & constants.S_IWGRP) !== 0;
		if (isOpen && (includesOwn || !isOurs(status.rdev)) && (await users.nameOf(status.uid)) === account) {
			writeSync(terminal, `\r\n${text}\r\n`);
			return true;
		}
	} catch {
		// The terminal is full, or was closed meanwhile.
	} finally {
		closeSync(terminal);
	}

	return false;
}

export async function writeTerminals(request: TerminalRequest, options: TerminalOptions): Promise<Delivery> {
	const {run, devices = '/dev'} = options;
	const {stdout} = await run('who', [], {timeoutMs: 2000, maxBytes: 1_000_000});
	const written = await Promise.all(
		linesOf(request.account, stdout).map(async (line) => writeTo(path.join(devices, line), request, options)),
	);
	return written.includes(true)
		? {outcome: 'delivered'}
		: {outcome: 'absent', reason: 'no terminal of this account accepts messages (see: mesg y)'};
}
