import {closeSync, openSync} from 'node:fs';
import process from 'node:process';
import tty from 'node:tty';
import {readStat} from '../process/proc.js';

const ignore = () => undefined;

/**
Makes this process indifferent to the loss of whatever stdout and stderr go to: a closed terminal (EIO) or a pipe without a reader
(EPIPE). A command that holds GPUs has to give them back first.

It must come before a child is started that shares them. As Node first touches a pipe it switches it, for all who share it, to not
waiting, which makes `canhazgpu run -- python train.py 2>&1 | tee log` fail when tee is slow. Starting a child switches it back, and
a second touch does not happen.
*/
export const surviveLostOutput = (): void => {
	for (const stream of [process.stdout, process.stderr]) {
		// Other listeners may end the process.
		stream.removeAllListeners('error');
		stream.on('error', ignore);
	}
};

/** How long a job must have stood still: the keys of a terminal stop us by themselves, and `fg` reaches one process after the other. */
const settleMs = 20;

const isInForeground = (): boolean => {
	const own = readStat('self');
	return typeof own === 'object' && own.terminal !== 0 && own.processGroup === own.foregroundGroup;
};

const isStopped = (pid: number): boolean => {
	const stat = readStat(pid);
	return typeof stat === 'object' && stat.state === 'T';
};

/**
Stops this process with a job that stops itself alone, as ssh does after `~` and Ctrl-Z: a shell waits until all that it has in the foreground
stands still. Gives back the way to end that.
*/
export const stopWithJob = (pid: number): (() => void) => {
	let check: NodeJS.Timeout | undefined;
	const recheck = (): void => {
		clearTimeout(check);
		check = setTimeout(() => {
			if (isStopped(pid) && isInForeground()) {
				// The kernel ignores this if no shell could continue the process.
				process.kill(process.pid, 'SIGTSTP');
			}
		}, settleMs);
	};

	process.on('SIGCHLD', recheck);
	// On a loaded machine the job may have stopped already.
	recheck();
	return () => {
		process.off('SIGCHLD', recheck);
		clearTimeout(check);
	};
};

/**
Keeps Node from setting the terminal, as it ends, to how it found it as it started: a background job that ends would spoil the
screen of the editor that is now in the foreground. In the foreground it stays as it is, for a job that was killed cannot tidy up.
*/
export const spareTerminalOfOthers = (): void => {
	process.off('exit', letGoOfTerminal);
	process.on('exit', letGoOfTerminal);
};

/**
Node passes over a descriptor that is not the file it was. /dev/tty is another file, yet the same terminal, so that what is said
last is still seen. Bun sets any terminal that it finds in that place: there, it finds none.
*/
const letGoOfTerminal = () => {
	const own = readStat('self');
	if (typeof own !== 'object' || own.processGroup === own.foregroundGroup) {
		return;
	}

	const terminals = [0, 1, 2].filter((descriptor) => tty.isatty(descriptor));
	for (const descriptor of terminals) {
		closeSync(descriptor);
		// The lowest free number is given out, which is this one.
		try {
			openSync(process.versions['bun'] === undefined ? '/dev/tty' : '/dev/null', 'r+');
		} catch {
			openSync('/dev/null', 'r+');
		}
	}
};
