/** Tells whether the host of an ssh answers: says on stderr which host it is waiting for, and gives up where that was asked. */
import {readlinkSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Job} from '../job/job.js';
import {answerMarker} from './remote-command.js';
import {runTool} from './spawn.js';

/** Before it is said which host is waited for. */
const patienceMs = 3000;
/** Between two looks at a terminal on which ssh still asks its user. */
const askingMs = 1000;
/** Between SIGTERM and SIGKILL. */
const graceMs = 1000;

export type Patience = {
	/** Until ssh is ended, where the host does not answer. Undefined: it may take any time. */
	readonly connectMs: number | undefined;
	/** Until ssh is ended, where the host answers and the command there does not end. */
	readonly commandMs: number | undefined;
};

/**
Passes on what ssh writes to stderr, but for the line by which the script there tells that it runs.

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
Reads from the state of our terminal how far ssh is: it asks for a password without echo, and passes on each key once it is connected.
`connected`, too, where the terminal does not tell.
*/
async function readTerminal(): Promise<Connection> {
	try {
		const {stdout} = await runTool('stty', ['-F', readlinkSync('/proc/self/fd/0'), '-a'], {timeoutMs: 1000});
		return !/\sicanon\b/v.test(stdout) ? 'connected' : /\secho\b/v.test(stdout) ? 'connecting' : 'asking';
	} catch {
		return 'connected';
	}
}

type Watched = {
	readonly host: string;
	readonly job: Pick<Job, 'process' | 'ended'>;
	readonly hasTerminal: boolean;
	/** Whether the script there has told that it runs. Where there is a terminal, that is asked instead. */
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
