import {parseList} from '../list.js';
import {isComplete, type RunTool, type ToolOutcome} from '../../tool/tool.js';
import {opening} from './unreachable-gpus.js';

type Options = {
	readonly run: RunTool;
	readonly command: string;
	readonly monotonicMs: () => number;
	/** The deadline of the scan, on the monotonic clock. */
	readonly deadlineMs: number;
	readonly signal: AbortSignal;
};

/** Repeats a failed query for the GPUs that still work. Returns other outcomes unchanged. `isTable` tells whether an answer is usable. */
export type AskRemainingGpus = (
	outcome: ToolOutcome,
	args: readonly string[],
	isTable: (stdout: string) => boolean,
) => Promise<ToolOutcome>;

const maxBytes = 4 * 1024 * 1024;

/** Creates the function for one scan. If one GPU is unreachable, some versions of nvidia-smi fail, but can list the others and query them by UUID. */
export const createRemainingGpus = ({run, command, monotonicMs, deadlineMs, signal}: Options): AskRemainingGpus => {
	const ask = async (args: readonly string[]) =>
		run(command, args, {timeoutMs: Math.max(1, deadlineMs - monotonicMs()), maxBytes, signal});
	let listed: Promise<ToolOutcome> | undefined;

	return async (outcome, args, isTable) => {
		const said = `${outcome.stdout}\n${outcome.stderr}`;
		if (!isComplete(outcome) || isTable(outcome.stdout) || !said.toLowerCase().includes(opening)) {
			return outcome;
		}

		listed ??= ask(['-L']);
		const list = await listed;
		const uuids = isComplete(list) ? parseList(list.stdout).map(({uuid}) => uuid) : [];
		if (uuids.length === 0) {
			return outcome;
		}

		const answer = await ask([...args, '-i', uuids.join(',')]);
		// Keeps the message about the lost GPU in the answer.
		return isComplete(answer) && isTable(answer.stdout)
			? {...answer, stderr: `${said}\n${answer.stderr}`, exitCode: outcome.exitCode}
			: outcome;
	};
};
