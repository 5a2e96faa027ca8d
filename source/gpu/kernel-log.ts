import {isComplete, type RunTool} from './tool.js';

type Options = {readonly run: RunTool; readonly signal: AbortSignal};

/**
A line of some hundred bytes for each event, and the ring of the kernel is rarely larger.
*/
const maxBytes = 8 * 1024 * 1024;
const timeoutMs = 3000;

/**
Either may be closed to this account. The second tells only what the driver wrote.
*/
const commands = [
	['dmesg', []],
	[
		'journalctl',
		['-k', '-b', '-q', '--no-pager', '-o', 'short-monotonic', '-n', '2000', '--grep', 'NVRM: (Xid|GPU at)'],
	],
] as const;

/**
The kernel's log since the start of the machine. Undefined where this account may not read it.
*/
export const readKernelLog = async ({run, signal}: Options): Promise<string | undefined> => {
	for (const [command, args] of commands) {
		const outcome = await run(command, args, {timeoutMs, maxBytes, signal});
		if (isComplete(outcome) && outcome.exitCode === 0) {
			return outcome.stdout;
		}
	}

	return undefined;
};
