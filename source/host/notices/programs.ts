/** Runs a program that delivers a notice. The program and its children are ended at the time limit. */
import {spawn} from 'node:child_process';
import {existsSync, statSync} from 'node:fs';
import process from 'node:process';
import type {Delivery, ProgramRequest} from '../../core/model/notice-request.js';
import {systemEnvironment, systemTool} from '../tool/system-tool.js';

/** Returns the path of an installed system tool. Mail servers install sendmail in /usr/lib, too. */
export const findSystemTool = (name: string): string | undefined =>
	[systemTool(name), `/usr/lib/${name}`].find((file) => existsSync(file));

export function findSessionBus(): string | undefined {
	const socket = `/run/user/${process.getuid?.()}/bus`;
	const status = statSync(socket, {throwIfNoEntry: false});
	return status?.isSocket() === true && status.uid === process.getuid?.() ? socket : undefined;
}

export type ProgramOptions = {
	readonly findTool?: (name: string) => string | undefined;
	readonly findBus?: () => string | undefined;
};

function endGroup(pid: number): void {
	try {
		process.kill(-pid, 'SIGKILL');
	} catch {
		// The command has ended, or its group has changed.
	}
}

type Command = {
	readonly argv: readonly string[];
	readonly stdin: string;
	readonly environment: NodeJS.ProcessEnv;
};

async function runCommand({argv, stdin, environment}: Command, signal: AbortSignal): Promise<Delivery> {
	signal.throwIfAborted();
	// Spawning throws for texts that are too long or contain NUL, and for paths through a file.
	const child = spawn(argv[0]!, argv.slice(1), {
		stdio: ['pipe', 'ignore', 'ignore'],
		detached: true,
		env: environment,
	});
	const {promise, resolve, reject} = Promise.withResolvers<Delivery>();
	const stop = (): void => {
		if (child.pid !== undefined) {
			endGroup(child.pid);
		}
	};

	signal.addEventListener('abort', stop);
	child.once('error', reject);
	child.once('exit', (code, killedBy) => {
		resolve(
			code === 0
				? {outcome: 'delivered'}
				: {
						outcome: 'failed',
						reason: signal.aborted
							? 'it did not end in time'
							: killedBy === null
								? `it ended with exit code ${code}`
								: `it was ended by ${killedBy}`,
					},
		);
	});
	// If the command does not read its input, writing fails, which is no problem.
	child.stdin.on('error', () => undefined);
	child.stdin.end(stdin);
	try {
		return await promise;
	} finally {
		signal.removeEventListener('abort', stop);
		// Closes the pipe, because a child that the command left behind may hold it open without reading it.
		child.stdin.destroy();
	}
}

export async function runProgram(
	{runs, ways, environment}: ProgramRequest,
	{findTool = findSystemTool, findBus = findSessionBus}: ProgramOptions,
	signal: AbortSignal,
): Promise<Delivery> {
	// The environment may contain a password, so a program gets only these variables.
	const {PATH, HOME, LANG} = process.env;
	if (runs === 'own') {
		return runCommand({...ways[0]!, environment: {PATH, HOME, LANG, ...environment}}, signal);
	}

	const bus = runs === 'desktop' ? findBus() : undefined;
	if (runs === 'desktop' && bus === undefined) {
		return {outcome: 'absent', reason: 'no desktop session of this account runs here'};
	}

	for (const {argv, stdin} of ways) {
		const program = findTool(argv[0]!);
		if (program !== undefined) {
			const session = bus === undefined ? {} : {DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`};
			const all = {...systemEnvironment, HOME, ...session, ...environment};
			return runCommand({argv: [program, ...argv.slice(1)], stdin, environment: all}, signal);
		}
	}

	return {outcome: 'failed', reason: `${ways.map(({argv}) => argv[0]!).join(' or ')} is not installed`};
}
