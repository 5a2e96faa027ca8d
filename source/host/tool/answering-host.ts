/** Watches whether a host answers: names it on stderr after a few seconds, and ends the ssh after its limit. */
import {readlinkSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {answerMarker} from './remote-command.js';
import {runTool} from './spawn.js';

/** Time before the host is named, in ms. */
const patienceMs = 3000;
/** Time between two looks at a terminal on which ssh asks for a password, in ms. */
const askingMs = 1000;
/** Time between SIGTERM and SIGKILL, in ms. */
const graceMs = 1000;

export type Patience = {
	/** Time after which ssh is ended when the host has not answered, in ms. Undefined: no limit. */
	readonly connectMs: number | undefined;
	/** Time after which ssh is ended when the host has answered and its command has not ended, in ms. Undefined: no limit. */
	readonly commandMs: number | undefined;
};

/**
Passes on the stderr of ssh without {@link answerMarker}, the line by which the script on the host tells that it runs.

@param write - Gets text in latin1, which stands for any bytes.
*/
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

		// The end may be the beginning of the marker.
		let kept = Math.min(held.length, answerMarker.length - 1);
		while (!answerMarker.startsWith(held.slice(held.length - kept))) {
			kept--;
		}

		write(held.slice(0, held.length - kept));
		held = held.slice(held.length - kept);
	};
}

type Connection = 'connecting' | 'asking' | 'connected';

/**
Reads from the modes of our terminal how far ssh has come: it turns echo off for a password, and line editing once it is connected. A terminal that
cannot be read counts as connected.
*/
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
	/** The ssh. `ended` never rejects. */
	readonly job: {readonly process: {readonly pid: number}; readonly ended: Promise<unknown>};
	readonly hasTerminal: boolean;
	/** Whether the script on the host runs. With a terminal, the state of the terminal is read instead. */
	readonly hasAnswered: () => boolean;
	/** Prints a line on stderr. */
	readonly remark: (text: string) => void;
};

/** Waits for the time from now on. Rejects when `signal` is aborted. */
const pause = async (ms: number, signal: AbortSignal): Promise<void> => sleep(Math.max(0, ms), undefined, {signal});

async function watch(
	{host, job, hasTerminal, hasAnswered, remark}: Watched,
	{connectMs, commandMs}: Patience,
	signal: AbortSignal,
): Promise<string | undefined> {
	const beganMs = performance.now();
	const passedMs = (): number => performance.now() - beganMs;
	const read = async (): Promise<Connection> =>
		hasTerminal ? readTerminal() : hasAnswered() ? 'connected' : 'connecting';
	const stop = (): void => {
		process.kill(job.process.pid, 'SIGTERM');
		setTimeout(() => {
			if (!signal.aborted) {
				process.kill(job.process.pid, 'SIGKILL');
			}
		}, graceMs).unref();
	};

	await pause(patienceMs, signal);
	let connection = await read();
	if (connection === 'connecting' && !signal.aborted) {
		remark(`canhazgpu: waiting for ${host} to answer`);
	}

	if (connectMs !== undefined) {
		await pause(connectMs - passedMs(), signal);
		for (connection = await read(); connection === 'asking'; connection = await read()) {
			await pause(askingMs, signal);
		}

		if (connection === 'connecting' && !signal.aborted) {
			stop();
			return `${host}: no answer within ${connectMs / 1000} s`;
		}
	}

	if (commandMs !== undefined) {
		await pause(commandMs - passedMs(), signal);
		stop();
		return `${host}: the command there did not end within ${commandMs / 1000} s, and may have been done`;
	}

	return undefined;
}

/**
Watches an ssh until it ends.

@returns Why ssh was ended, in words. Undefined where it ended by itself.
*/
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
