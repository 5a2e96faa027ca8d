/**
Telling an account something: on its terminals, where they let messages in, and by whatever the config names. Nothing here waits for long, and
nothing that goes wrong stops anybody.
*/
import {spawn} from 'node:child_process';
import {closeSync, constants, fstatSync, openSync, writeSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {isatty} from 'node:tty';
import type {runTool} from './spawn.js';
import type {Users} from './users.js';

const patienceMs = 5000;

export type Message = {
	readonly account: string;
	/** One harmless line. */
	readonly text: string;
	/** For programs. */
	readonly data: Readonly<Record<string, unknown>>;
};

export type NotifyOptions = {
	/** Whether to write to terminals at all. */
	readonly usesTerminals: boolean;
	/** A program and its arguments: never a shell. */
	readonly command: readonly string[] | undefined;
	readonly webhook: string | undefined;
	readonly run: typeof runTool;
	readonly users: Users;
	/** `/dev` unless a test says otherwise. */
	readonly devices?: string;
};

/** The lines that an account is logged in on, such as `pts/3`. */
export function linesOf(account: string, who: string): readonly string[] {
	return who
		.split('\n')
		.map((line) => line.split(/\s+/v))
		.filter(([user, line]) => user === account && /^(?:pts\/\d+|tty\w+)$/v.test(line ?? ''))
		.map(([, line]) => line!);
}

/** A monitor or a job of our own must not be written into. */
const isOurs = (device: number): boolean =>
	[0, 1, 2].some((descriptor) => isatty(descriptor) && fstatSync(descriptor).rdev === device);

/** Writes to a terminal, if it is this account's and lets messages in. One that does not take it at once does not get it. */
async function writeTo(file: string, {account, text}: Message, users: Users): Promise<void> {
	// eslint-disable-next-line no-bitwise
	const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
	let terminal: number;
	try {
		terminal = openSync(file, flags);
	} catch {
		// Not ours to write to, or gone: that is how terminals are closed to messages.
		return;
	}

	try {
		const status = fstatSync(terminal);
		// What `mesg` sets: the group may write.
		// eslint-disable-next-line no-bitwise
		const isOpen = status.isCharacterDevice() && (status.mode & constants.S_IWGRP) !== 0;
		if (isOpen && !isOurs(status.rdev) && (await users.nameOf(status.uid)) === account) {
			writeSync(terminal, `\r\n${text}\r\n`);
		}
	} catch {
		// Full, or hung up meanwhile.
	} finally {
		closeSync(terminal);
	}
}

async function tellTerminals(message: Message, {run, users, devices = '/dev'}: NotifyOptions): Promise<void> {
	const {stdout} = await run('who', [], {timeoutMs: 2000, maxBytes: 1_000_000});
	await Promise.all(
		linesOf(message.account, stdout).map(async (line) => writeTo(path.join(devices, line), message, users)),
	);
}

/** @returns What went wrong. */
async function runCommand(
	[command, ...args]: readonly string[],
	{account, text, data}: Message,
): Promise<string | undefined> {
	const {promise, resolve} = Promise.withResolvers<string | undefined>();
	const child = spawn(command!, args, {
		stdio: ['pipe', 'ignore', 'ignore'],
		timeout: patienceMs,
		killSignal: 'SIGKILL',
		// Not the whole environment: there may be a password in it.
		env: {
			PATH: process.env['PATH'],
			HOME: process.env['HOME'],
			LANG: process.env['LANG'],
			CANHAZGPU_NOTICE_ACCOUNT: account,
			CANHAZGPU_NOTICE_TEXT: text,
		},
	});
	child.once('error', (error) => {
		resolve(error.message);
	});
	child.once('exit', (code, signal) => {
		resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`);
	});
	// A command need not read what it is told.
	child.stdin.on('error', () => undefined);
	child.stdin.end(`${JSON.stringify(data)}\n`);
	return promise;
}

async function callWebhook(url: string, {data}: Message): Promise<string | undefined> {
	try {
		const response = await fetch(url, {
			method: 'POST',
			headers: {'content-type': 'application/json'},
			body: JSON.stringify(data),
			redirect: 'error',
			signal: AbortSignal.timeout(patienceMs),
		});
		await response.body?.cancel();
		return response.ok ? undefined : `it answered ${response.status}`;
	} catch (error) {
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		return cause instanceof Error ? cause.message : String(cause);
	}
}

/** @returns Tells an account, within seconds; never rejects, and answers what went wrong, in words. */
export const createNotifier =
	(options: NotifyOptions): ((message: Message) => Promise<readonly string[]>) =>
	async (message) => {
		const {command, webhook, usesTerminals} = options;
		const [, commandProblem, webhookProblem] = await Promise.all([
			usesTerminals ? tellTerminals(message, options) : undefined,
			command === undefined ? undefined : runCommand(command, message),
			webhook === undefined ? undefined : callWebhook(webhook, message),
		]);
		return [
			...(commandProblem === undefined ? [] : [`notify.command: ${commandProblem}`]),
			...(webhookProblem === undefined ? [] : [`notify.webhook: ${webhookProblem}`]),
		];
	};
