/** Notifies an account on its terminals that accept messages, and by a command or webhook. Every attempt has a time limit. Never fails. */
import {Buffer} from 'node:buffer';
import {spawn} from 'node:child_process';
import {closeSync, constants, fstatSync, openSync, writeSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {isatty} from 'node:tty';
import {messageOf} from '../../errors.js';
import type {runTool} from '../tool/spawn.js';
import type {Users} from './users.js';

const patienceMs = 5000;

type Message = {
	readonly account: string;
	readonly text: string;
	/** The same message as one line of JSON, for programs. Texts from other users are escaped. */
	readonly json: string;
};

export type NotifyOptions = {
	readonly usesTerminals: boolean;
	/** A program and its arguments, run without a shell. */
	readonly command: readonly string[] | undefined;
	readonly webhook: string | undefined;
	readonly run: typeof runTool;
	readonly users: Users;
	readonly devices?: string;
};

/** Returns the terminal lines on which an account is logged in, such as `pts/3`. */
export function linesOf(account: string, who: string): readonly string[] {
	return who
		.split('\n')
		.map((line) => line.split(/\s+/v))
		.filter(([user, line]) => user === account && /^(?:pts\/\d+|tty\w+)$/v.test(line ?? ''))
		.map(([, line]) => line!);
}

/** Whether this process itself uses the terminal, where a message would spoil the monitor or a job's output. */
const isOurs = (device: number): boolean =>
	[0, 1, 2].some((descriptor) => isatty(descriptor) && fstatSync(descriptor).rdev === device);

/** Writes to a terminal, if it belongs to the account and accepts messages. Drops the message if the terminal cannot take it at once. */
async function writeTo(file: string, {account, text}: Message, users: Users): Promise<void> {
	// eslint-disable-next-line no-bitwise
	const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
	let terminal: number;
	try {
		terminal = openSync(file, flags);
	} catch {
		// The terminal is gone, or rejects messages.
		return;
	}

	try {
		const status = fstatSync(terminal);
		// `mesg y` accepts messages by setting the group's write permission.
		// eslint-disable-next-line no-bitwise
		const isOpen = status.isCharacterDevice() && (status.mode & constants.S_IWGRP) !== 0;
		if (isOpen && !isOurs(status.rdev) && (await users.nameOf(status.uid)) === account) {
			writeSync(terminal, `\r\n${text}\r\n`);
		}
	} catch {
		// The terminal is full, or was closed meanwhile.
	} finally {
		closeSync(terminal);
	}
}

async function writeTerminals(message: Message, {run, users, devices = '/dev'}: NotifyOptions): Promise<void> {
	const {stdout} = await run('who', [], {timeoutMs: 2000, maxBytes: 1_000_000});
	await Promise.all(
		linesOf(message.account, stdout).map(async (line) => writeTo(path.join(devices, line), message, users)),
	);
}

/** Ends a command and its children. */
function endGroup(pid: number): void {
	try {
		process.kill(-pid, 'SIGKILL');
	} catch {
		// The command has ended, or changed its group.
	}
}

/** Runs the configured command with the message as its input. Returns an error message, or undefined on success. */
async function runCommand(
	[command, ...args]: readonly string[],
	{account, text, json}: Message,
	signal: AbortSignal,
): Promise<string | undefined> {
	signal.throwIfAborted();
	// Spawning throws for texts that are too long or contain NUL, and for paths through a file.
	const child = spawn(command!, args, {
		stdio: ['pipe', 'ignore', 'ignore'],
		detached: true,
		// The environment may contain a password, so the command gets only these variables.
		env: {
			PATH: process.env['PATH'],
			HOME: process.env['HOME'],
			LANG: process.env['LANG'],
			CANHAZGPU_NOTICE_ACCOUNT: account,
			CANHAZGPU_NOTICE_TEXT: text,
		},
	});
	const {promise, resolve} = Promise.withResolvers<string | undefined>();
	const stop = (): void => {
		if (child.pid !== undefined) {
			endGroup(child.pid);
		}
	};

	signal.addEventListener('abort', stop);
	child.once('error', (error) => {
		resolve(error.message);
	});
	child.once('exit', (code, killedBy) => {
		resolve(code === 0 ? undefined : `it ended with ${killedBy ?? code}`);
	});
	// The command may ignore its input.
	child.stdin.on('error', () => undefined);
	child.stdin.end(`${json}\n`);
	try {
		return await promise;
	} finally {
		signal.removeEventListener('abort', stop);
		// A child that the command left behind may hold the pipe open without reading it.
		child.stdin.destroy();
	}
}

/** Moves the name and password of the address to a header. fetch rejects an address with a password, and prints it in its error message. */
function addressOf(webhook: string): {readonly url: string; readonly headers: Readonly<Record<string, string>>} {
	const url = new URL(webhook);
	const {username, password} = url;
	url.username = '';
	url.password = '';
	const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
	return {
		url: url.href,
		headers: pair === ':' ? {} : {authorization: `Basic ${Buffer.from(pair).toString('base64')}`},
	};
}

async function callWebhook(webhook: string, {json}: Message, signal: AbortSignal): Promise<string | undefined> {
	const {url, headers} = addressOf(webhook);
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers: {'content-type': 'application/json', ...headers},
			body: json,
			redirect: 'error',
			signal,
		});
		await response.body?.cancel();
		return response.ok ? undefined : `it answered ${response.status}`;
	} catch (error) {
		// The cause has the details. The message is only "fetch failed".
		throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
	}
}

/** Returns the error message of a notification that failed, or an empty list on success. */
async function problemOf(name: string, work: Promise<string | undefined> | undefined): Promise<readonly string[]> {
	try {
		const problem = await work;
		return problem === undefined ? [] : [`${name}: ${problem}`];
	} catch (error) {
		return [`${name}: ${messageOf(error)}`];
	}
}

/** Returns a function that notifies an account within seconds, or until `signal` is aborted. It never rejects, and resolves with error messages. */
export const createNotifier =
	(options: NotifyOptions): ((message: Message, signal?: AbortSignal) => Promise<readonly string[]>) =>
	async (message, signal) => {
		const {command, webhook, usesTerminals} = options;
		const patience = AbortSignal.timeout(patienceMs);
		const ended = signal === undefined ? patience : AbortSignal.any([patience, signal]);
		const [, ...problems] = await Promise.all([
			usesTerminals ? writeTerminals(message, options) : undefined,
			problemOf('notify.command', command && runCommand(command, message, ended)),
			problemOf('notify.webhook', webhook === undefined ? undefined : callWebhook(webhook, message, ended)),
		]);
		return problems.flat();
	};
