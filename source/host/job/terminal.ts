import {closeSync, openSync} from 'node:fs';
import process from 'node:process';
import tty from 'node:tty';
import {readStat} from '../process/proc.js';

const ignore = () => undefined;

/**
Ignores errors of stdout and stderr: a closed terminal (EIO) or a pipe without a reader (EPIPE). A command that holds GPUs must release them before
it ends. Call this before starting a child that shares stdout and stderr. When Node first opens stdout or stderr, it makes a pipe non-blocking for
every process that shares the pipe, and `canhazgpu run -- python train.py 2>&1 | tee log` would fail if tee is slow. Starting a child makes the pipe
blocking again.
*/
export const surviveLostOutput = (): void => {
	for (const stream of [process.stdout, process.stderr]) {
		// Removes other listeners, which may end the process.
		stream.removeAllListeners('error');
		stream.on('error', ignore);
	}
};

/** How long a job must be stopped before this process stops, too, because after Ctrl-Z or `fg`, only one of the two is stopped for a moment. */
const settleMs = 20;

const isInForeground = (): boolean => {
	const own = readStat('self');
	return typeof own === 'object' && own.terminal !== 0 && own.processGroup === own.foregroundGroup;
};

const isStopped = (pid: number): boolean => {
	const stat = readStat(pid);
	return typeof stat === 'object' && stat.state === 'T';
};

/** Stops this process when its job stops itself, as ssh does after `~` and Ctrl-Z: a shell waits until all foreground processes have stopped. */
export const stopWithJob = (pid: number): (() => void) => {
	let check: NodeJS.Timeout | undefined;
	const recheck = (): void => {
		clearTimeout(check);
		check = setTimeout(() => {
			if (isStopped(pid) && isInForeground()) {
				// The kernel ignores this signal if no shell could continue the process.
				process.kill(process.pid, 'SIGTSTP');
			}
		}, settleMs);
	};

	process.on('SIGCHLD', recheck);
	// On a loaded machine the job may have stopped before the listener was added.
	recheck();
	return () => {
		process.off('SIGCHLD', recheck);
		clearTimeout(check);
	};
};

/** The exit code of a command that ended because of Ctrl-C. */
const interruptedExitCode = 130;

/**
Makes this process die of SIGINT when it exits with 130. After Ctrl-C, a shell ends its loop or script only if its command died of SIGINT. A session
leader exits as usual: it has no shell, and ssh would report a lost connection.
*/
export const dieOfInterrupt = (): void => {
	process.once('exit', (code) => {
		const own = readStat('self');
		const isLeader = typeof own === 'object' && own.session === process.pid;
		if (code === interruptedExitCode && !isLeader && isInForeground()) {
			process.kill(process.pid, 'SIGINT');
		}
	});
};

/**
Prevents Node from resetting the terminal's settings when this process exits in the background, because that would disturb the program in the
foreground, such as an editor. In the foreground, Node resets the settings, because a killed job cannot.
*/
export const spareTerminalOfOthers = (): void => {
	process.off('exit', letGoOfTerminal);
	process.on('exit', letGoOfTerminal);
};

/**
Replaces the descriptors of the terminal with /dev/tty, a different file for the same terminal: Node does not reset a changed descriptor, and the
last output is still visible. Bun resets any terminal on these descriptors, so in Bun they become /dev/null.
*/
const letGoOfTerminal = () => {
	const own = readStat('self');
	if (typeof own !== 'object' || own.processGroup === own.foregroundGroup) {
		return;
	}

	const terminals = [0, 1, 2].filter((descriptor) => tty.isatty(descriptor));
	for (const descriptor of terminals) {
		closeSync(descriptor);
		// The kernel assigns the lowest free number, which is this one.
		try {
			openSync(process.versions['bun'] === undefined ? '/dev/tty' : '/dev/null', 'r+');
		} catch {
			openSync('/dev/null', 'r+');
		}
	}
};
