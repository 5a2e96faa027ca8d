/** Hands the terminal over to the shell from Ctrl-Z until `fg`, or to another program until it ends. */
import process from 'node:process';
import {useCallback, useEffect, useMemo, useRef} from 'react';
import {useApp} from 'ink';
import type {EffectContext} from '../commands/command.js';
import type {TerminalModes} from '../terminal.js';

const sleep = async (milliseconds: number): Promise<void> =>
	new Promise((resolve) => {
		setTimeout(resolve, milliseconds);
	});

/** Reports the terminal's size to Ink: a stopped process misses a resize. */
async function catchUpWithSize(): Promise<void> {
	process.kill(process.pid, 'SIGWINCH');
	await sleep(5);
}

const ignore = (): undefined => undefined;

/** Ignores SIGINT while another program has the terminal, so that Ctrl-C reaches only that program. */
async function withoutInterrupts(work: () => Promise<void>): Promise<void> {
	const others = process.listeners('SIGINT');
	process.removeAllListeners('SIGINT');
	process.on('SIGINT', ignore);
	try {
		await work();
	} finally {
		process.off('SIGINT', ignore);
		for (const listener of others) {
			process.on('SIGINT', listener);
		}
	}
}

/** Stops reading the terminal. Ink has stopped listening, but Node would still read ahead and steal keys from the other program. */
async function stopReading(): Promise<void> {
	// Node processes the removed listener in the next tick, and pauses only flowing streams.
	await sleep(0);
	process.stdin.resume();
	process.stdin.pause();
	await sleep(0);
}

type Suspension = {
	readonly suspend: () => void;
	readonly lendTerminal: EffectContext['lendTerminal'];
};

export function useSuspend(modes: TerminalModes): Suspension {
	const {suspendTerminal} = useApp();
	const isSuspended = useRef(false);
	// Suspensions run one at a time.
	const whileSuspended = useCallback(
		async (work: () => Promise<void>): Promise<void> => {
			if (isSuspended.current) {
				return;
			}

			isSuspended.current = true;
			try {
				await suspendTerminal(work);
			} finally {
				isSuspended.current = false;
			}
		},
		[suspendTerminal],
	);
	const suspend = useCallback(
		async () =>
			whileSuspended(async () => {
				modes.leave();
				// Stop the whole process group, as the terminal would: npm and a wrapping shell script must stop too.
				process.kill(0, 'SIGTSTP');
				// Continues after `fg`, or at once if no shell can resume the process.
				await sleep(50);
				await catchUpWithSize();
				modes.take();
			}),
		[whileSuspended, modes],
	);
	useEffect(() => {
		// A process stopped from outside may come back to a changed terminal: take it again and redraw everything.
		const takeBack = async (): Promise<void> => {
			await whileSuspended(catchUpWithSize);
			modes.take();
		};

		const onContinue = (): void => {
			if (!isSuspended.current) {
				void takeBack();
			}
		};

		process.on('SIGCONT', onContinue);
		return () => {
			process.off('SIGCONT', onContinue);
		};
	}, [whileSuspended, modes]);
	const lendTerminal = useCallback(
		async (work: () => Promise<void>) =>
			whileSuspended(async () => {
				modes.leave();
				await stopReading();
				await withoutInterrupts(work);
				await catchUpWithSize();
				modes.take();
			}),
		[whileSuspended, modes],
	);
	return useMemo(
		() => ({
			suspend() {
				void suspend();
			},
			lendTerminal,
		}),
		[suspend, lendTerminal],
	);
}
