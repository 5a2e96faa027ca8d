/** Leaves the terminal to the shell after Ctrl-Z until `fg`, or to another program until that program ends. */
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {useCallback, useEffect, useMemo, useRef} from 'react';
import {useApp} from 'ink';
import type {TerminalModes} from '../terminal.js';

/** Makes Ink read the size of the terminal, because a stopped process is not notified of a new size. */
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

/** Stops reading from the terminal. Ink no longer listens, but Node would still read keys that are meant for the other program. */
async function stopReading(): Promise<void> {
	// Waits until Node has noticed that Ink no longer listens. Resumes the stream first, because Node can pause only a flowing stream.
	await sleep(0);
	process.stdin.resume();
	process.stdin.pause();
	await sleep(0);
}

export function useSuspend(modes: TerminalModes) {
	const {suspendTerminal} = useApp();
	const isSuspended = useRef(false);
	// Does nothing if the terminal is already left to the shell or to another program.
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
	const lend = useCallback(
		async (work: () => Promise<void>): Promise<void> =>
			whileSuspended(async () => {
				modes.leave();
				await work();
				await catchUpWithSize();
				modes.take();
			}),
		[whileSuspended, modes],
	);
	useEffect(() => {
		// If another process stopped this one, the terminal may have changed in the meantime. Sets the modes of the terminal again and redraws everything.
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
	return useMemo(
		() => ({
			suspend() {
				void lend(async () => {
					// Stops the whole process group, as the terminal would do, because npm or a shell script around this process must stop, too.
					process.kill(0, 'SIGTSTP');
					// Continues after `fg`, or at once if there is no shell that could resume the process.
					await sleep(50);
				});
			},
			/** Draws the whole screen again, because another program may have written to the terminal. */
			repaint() {
				void whileSuspended(async () => undefined);
			},
			lendTerminal: async (work: () => Promise<void>): Promise<void> =>
				lend(async () => {
					await stopReading();
					await withoutInterrupts(work);
				}),
		}),
		[lend, whileSuspended],
	);
}
