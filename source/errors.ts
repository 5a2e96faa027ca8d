/** Kinds of failures, as words that scripts can test. Each has an exit code in {@link exitCodes}. */
export type ErrorCode =
	| 'usage'
	| 'config'
	| 'unavailable'
	| 'impossible'
	| 'not-found'
	| 'not-owner'
	| 'no-pool'
	| 'pool-exists'
	| 'pool-garbage'
	| 'wrong-machine'
	| 'store-unreachable'
	| 'store-refused'
	| 'busy'
	| 'provider'
	| 'command-not-executable'
	| 'command-not-found'
	| 'failed';

/** Exit codes of every command. `run` also has 126 and 127, as in shells, for a command that cannot be started or does not exist. */
export const exitCodes: Readonly<Record<ErrorCode, number>> = {
	usage: 2,
	config: 2,
	impossible: 2,
	unavailable: 3,
	'no-pool': 4,
	'pool-garbage': 4,
	'wrong-machine': 4,
	'store-unreachable': 4,
	'store-refused': 4,
	'not-found': 1,
	'not-owner': 1,
	'pool-exists': 1,
	busy: 1,
	provider: 1,
	failed: 1,
	'command-not-executable': 126,
	'command-not-found': 127,
};

type Options = {
	readonly hint?: string;
	/** The hint for agents, which have the tools of `canhazgpu mcp` instead of commands and flags. The default is `hint`. */
	readonly agentHint?: string;
	readonly cause?: unknown;
	/** Data for callers that show their own message instead. */
	readonly details?: unknown;
	/** Whether the same operation keeps failing until somebody corrects a setting or a permission. */
	readonly needsCorrection?: boolean;
};

/** An error that the user can cause or fix, printed with its hint. All other errors are bugs, and are printed with a stack trace. */
export class CanhazgpuError extends Error {
	override readonly name = 'CanhazgpuError';
	readonly code: ErrorCode;
	readonly exitCode: number;
	readonly hint: string | undefined;
	readonly agentHint: string | undefined;
	readonly details: unknown;
	readonly needsCorrection: boolean;

	constructor(
		code: ErrorCode,
		message: string,
		{hint, agentHint = hint, cause, details, needsCorrection = false}: Options = {},
	) {
		super(message, cause === undefined ? undefined : {cause});
		this.code = code;
		this.exitCode = exitCodes[code];
		this.hint = hint;
		this.agentHint = agentHint;
		this.details = details;
		this.needsCorrection = needsCorrection;
	}
}

export const hasCode = (error: unknown, code: ErrorCode): error is CanhazgpuError =>
	error instanceof CanhazgpuError && error.code === code;

/** Whether the pool cannot be reached now, and may be reachable later without a correction of the settings or permissions. */
export const isOutage = ({code, needsCorrection}: CanhazgpuError): boolean =>
	code === 'store-unreachable' && !needsCorrection;

const transientCodes: ReadonlySet<ErrorCode> = new Set([
	'store-unreachable',
	'store-refused',
	'no-pool',
	'pool-garbage',
	'busy',
]);

/** Whether the pool could not be read or changed, and the same operation may succeed later without a correction by the user. */
export const isTransient = (error: unknown): error is CanhazgpuError =>
	error instanceof CanhazgpuError && transientCodes.has(error.code);

/**
Returns the result of `work`. If `work` throws a CanhazgpuError, returns the result of `fallback`. Other errors are bugs and are thrown.

@param codes - The error codes for which `fallback` is called. Defaults to all codes.
*/
export async function withFallback<Answer, Fallback>(
	work: () => Promise<Answer>,
	fallback: () => Fallback | Promise<Fallback>,
	...codes: readonly ErrorCode[]
): Promise<Answer | Fallback> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof CanhazgpuError && (codes.length === 0 || codes.includes(error.code))) {
			return fallback();
		}

		throw error;
	}
}

/** Maximum length of user input that is quoted in a message. */
const mostRepeated = 100;

export function cutShort(text: string): string {
	// Splitting into characters is slow, so short texts are not split.
	const characters = text.length <= mostRepeated ? [] : [...text];
	return characters.length <= mostRepeated ? text : `${characters.slice(0, mostRepeated - 1).join('')}…`;
}

export const quoted = (text: string): string => JSON.stringify(cutShort(text));

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Whether an error of stdout means that its reader has gone: a pipe without a reader (EPIPE) or a closed terminal (EIO). */
export const isReaderGone = (error: unknown): boolean => ['EPIPE', 'EIO'].includes(codeOf(error) ?? '');

const fileProblems: ReadonlyMap<string | undefined, string> = new Map([
	['EACCES', 'permission denied'],
	['EPERM', 'permission denied'],
	['ENOSPC', 'the disk is full'],
	['EDQUOT', 'the disk quota is exhausted'],
	['EROFS', 'the file system is read-only'],
	['ENOTDIR', 'a part of the path is not a directory'],
	['ENOENT', 'it cannot be created there'],
	['EEXIST', 'a part of the path is not a directory'],
	['ELOOP', 'it is a link'],
	['EPIPE', 'the reading program has gone'],
]);

/** Returns why a file could not be opened or written, as words for the user. */
export const fileProblemOf = (error: unknown): string => fileProblems.get(codeOf(error)) ?? messageOf(error);

export const lostOutput = (error: unknown): CanhazgpuError =>
	new CanhazgpuError('failed', `The output could not be written: ${fileProblemOf(error)}`);

/** Whether a file of the program is missing: an update can delete files before they are loaded. Node reports ENOENT if the file disappears during loading. */
export const isMissingPart = (error: unknown): boolean =>
	error instanceof Error &&
	(codeOf(error) === 'ERR_MODULE_NOT_FOUND' ||
		(codeOf(error) === 'ENOENT' && /\/chunks\/[^\/]+\.js$/v.test((error as NodeJS.ErrnoException).path ?? '')));
