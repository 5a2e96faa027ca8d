/** The terminal is given away and taken again: to the shell by Ctrl-Z until `fg`, or to another program until that ends. */
import process from 'node:process';
import {useCallback, useEffect, useMemo, useRef} from 'react';
import {useApp} from 'ink';
import type {EffectContext} from '../verbs/verb.js';
import type {TerminalModes} from '../terminal.js';

const sleep = async (milliseconds: number): Promise<void> =>
	new Promise((resolve) => {
		setTimeout(resolve, milliseconds);
	});

/** Stopped processes miss a resize; Ink hears of it this way, and needs a moment to take it in. */
async function catchUpWithSize(): Promise<void> {
	process.kill(process.pid, 'SIGWINCH');
	await sleep(5);
}

const ignore = (): undefined => undefined;

/** While another program has the terminal, its Ctrl-C is for that program. */
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

/** Ink listens no more, and yet Node reads on ahead: of two readers of one terminal each would get some of the keys. */
async function stopReading(): Promise<void> {
	// Node takes note of the listener that was taken away with the next tick, and pauses nothing but a stream that flows.
	await sleep(0);
	process.stdin.resume();
	process.stdin.pause();
	await sleep(0);
}

type Suspension = {
	/** What Ctrl-Z does. */
	readonly suspend: () => void;
	readonly lendTerminal: EffectContext['lendTerminal'];
};

export function useSuspend(modes: TerminalModes): Suspension {
	const {suspendTerminal} = useApp();
	const isSuspended = useRef(false);
	// One at a time: who has the terminal gives it back before it goes to another.
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
				// To the whole group, as the terminal would: npm and the shell script around us stop too.
				process.kill(0, 'SIGTSTP');
				// Runs on only after `fg`, or at once where there is no shell to come back from.
				await sleep(50);
				await catchUpWithSize();
				modes.take();
			}),
		[whileSuspended, modes],
	);
	useEffect(() => {
		// Stopped from outside, the terminal may have been in other hands meanwhile: take it again and draw everything.
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
