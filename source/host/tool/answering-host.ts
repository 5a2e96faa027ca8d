import {readlinkSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {answerMarker} from './remote-command.js';
import {runTool} from './spawn.js';

/** Milliseconds without an answer after which a message names the host. */
const patienceMs = 3000;
/** Milliseconds between two checks whether the host has answered. */
const checkMs = 1000;
/** Milliseconds between SIGTERM and SIGKILL. */
const graceMs = 1000;

export type Patience = {
	/** Milliseconds after which ssh is ended if the host has not answered. Password prompts do not count. Undefined: no limit. */
	readonly connectMs: number | undefined;
	/** Milliseconds from the host's answer after which ssh is ended if the command still runs. Undefined: no limit. */
	readonly commandMs: number | undefined;
};

/** Forwards ssh's stderr, as latin1, without {@link answerMarker}, which the script on the host prints first. */
export function filterMarker(write: (text: string) => void, onAnswer: () => void): (text: string) => void {
	let held = '';
	let hasAnswered = false;
	return (text) => {
		if (hasAnswered) {
			write(text);
			return;
		}

		held += text;
		const at = held.indexOf(answerMarker);
		if (at !== -1) {
			hasAnswered = true;
			onAnswer();
			write(held.slice(0, at) + held.slice(at + answerMarker.length));
			return;
		}

		// Holds back the end of the text, if it may be the start of the marker.
		let kept = Math.min(held.length, answerMarker.length - 1);
		while (!answerMarker.startsWith(held.slice(held.length - kept))) {
			kept--;
		}

		write(held.slice(0, held.length - kept));
		held = held.slice(held.length - kept);
	};
}

type Connection = 'connecting' | 'asking' | 'connected';

/** Reads the state of ssh from the terminal's modes: ssh turns off echo while it asks for a password, and line editing when it is connected. */
async function readTerminal(): Promise<Connection> {
	try {
		const {stdout} = await runTool('stty', ['-F', readlinkSync('/proc/self/fd/0'), '-a'], {timeoutMs: 1000});
		return /\sicanon\b/v.test(stdout) ? (/\secho\b/v.test(stdout) ? 'connecting' : 'asking') : 'connected';
	} catch {
		return 'connected';
	}
}

type Watched = {
	readonly host: string;
	/** The ssh process. `ended` never rejects. */
	readonly job: {readonly process: {readonly pid: number}; readonly ended: Promise<unknown>};
	readonly hasTerminal: boolean;
	/** Whether the script on the host runs. Not used if there is a terminal, because the terminal's modes show it. */
	readonly hasAnswered: () => boolean;
	readonly remark: (text: string) => void;
};

const pause = async (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, {signal});

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch {
		// Ssh has ended, but its end is not reported yet.
	}
}

async function watch(
	{host, job, hasTerminal, hasAnswered, remark}: Watched,
	{connectMs, commandMs}: Patience,
	signal: AbortSignal,
): Promise<string | undefined> {
	const read = async (): Promise<Connection> =>
		hasTerminal ? readTerminal() : hasAnswered() ? 'connected' : 'connecting';
	const stop = (): void => {
		signalIfAlive(job.process.pid, 'SIGTERM');
		setTimeout(() => {
			if (!signal.aborted) {
				signalIfAlive(job.process.pid, 'SIGKILL');
			}
		}, graceMs).unref();
	};

	await pause(patienceMs, signal);
	let connection = await read();
	if (connection === 'connecting' && !signal.aborted) {
		remark(`canhazgpu: waiting for ${host} to answer`);
	}

	if (connectMs === undefined && commandMs === undefined) {
		return undefined;
	}

	for (let connectingMs = patienceMs; connection !== 'connected'; connection = await read()) {
		if (connection === 'connecting') {
			if (connectMs !== undefined && connectingMs >= connectMs && !signal.aborted) {
				stop();
				return `${host}: no answer within ${connectMs / 1000} s`;
			}

			connectingMs += checkMs;
		}

		await pause(checkMs, signal);
	}

	if (commandMs !== undefined) {
		await pause(commandMs, signal);
		stop();
		return `${host}: the command there did not end within ${commandMs / 1000} s, but may have taken effect`;
	}

	return undefined;
}

/** Watches an ssh process until it ends. If the host is slow to answer, prints a message. Ends ssh at its time limit, and then returns the reason. */
export async function watchAnswer(watched: Watched, patience: Patience): Promise<string | undefined> {
	const ending = new AbortController();
	const abortAtEnd = async (): Promise<void> => {
		await watched.job.ended;
		ending.abort();
	};

	void abortAtEnd();
	try {
		return await watch(watched, patience, ending.signal);
	} catch (error) {
		if (ending.signal.aborted) {
			return undefined;
		}

		throw error;
	}
}
