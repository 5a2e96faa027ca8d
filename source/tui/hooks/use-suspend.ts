/** Ctrl-Z and `fg`: the terminal is given back to the shell and taken again. */
import process from 'node:process';
import {useCallback, useEffect, useRef} from 'react';
import {useApp, useStdout} from 'ink';
import {stopWrapping, wrapAgain} from '../wrapping.js';

const sleep = async (milliseconds: number): Promise<void> =>
	new Promise((resolve) => {
		setTimeout(resolve, milliseconds);
	});

/** Stopped processes miss a resize; Ink hears of it this way, and needs a moment to take it in. */
async function catchUpWithSize(): Promise<void> {
	process.kill(process.pid, 'SIGWINCH');
	await sleep(5);
}

/** Returns what Ctrl-Z does. */
export function useSuspend(): () => void {
	const {suspendTerminal} = useApp();
	const {stdout} = useStdout();
	const isSuspended = useRef(false);
	const suspend = useCallback(async () => {
		if (isSuspended.current) {
			return;
		}

		isSuspended.current = true;
		try {
			await suspendTerminal(async () => {
				stdout.write(wrapAgain);
				// To the whole group, as the terminal would: npm and the shell script around us stop too.
				process.kill(0, 'SIGTSTP');
				// Runs on only after `fg`, or at once where there is no shell to come back from.
				await sleep(50);
				await catchUpWithSize();
				stdout.write(stopWrapping);
			});
		} finally {
			isSuspended.current = false;
		}
	}, [suspendTerminal, stdout]);
	useEffect(() => {
		// Stopped from outside, the terminal may have been in other hands meanwhile: take it again and draw everything.
		const takeBack = async (): Promise<void> => {
			isSuspended.current = true;
			await suspendTerminal(catchUpWithSize);
			stdout.write(stopWrapping);
			isSuspended.current = false;
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
	}, [suspendTerminal, stdout]);
	return useCallback(() => {
		void suspend();
	}, [suspend]);
}
