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

/**
Exit codes of every command: 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool; of `run` also 126 and 127,
which shells use for a command that cannot be started and for one that is not there.
*/
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
	/** A line that tells the user what to do. */
	readonly hint?: string;
	readonly cause?: unknown;
	/** Facts for a face that words the refusal itself. */
	readonly details?: unknown;
};

/**
Every failure a user can meet. It is printed once, at the top, as `Error: message` and its hint, without a stack; any other
error that reaches the top is a bug and keeps its stack.
*/
export class CanhazgpuError extends Error {
	override readonly name = 'CanhazgpuError';
	readonly code: ErrorCode;
	readonly exitCode: number;
	readonly hint: string | undefined;
	readonly details: unknown;

	constructor(code: ErrorCode, message: string, {hint, cause, details}: Options = {}) {
		super(message, cause === undefined ? undefined : {cause});
		this.code = code;
		this.exitCode = exitCodes[code];
		this.hint = hint;
		this.details = details;
	}
}

/** Whether this is the failure that the code names. */
export const hasCode = (error: unknown, code: ErrorCode): error is CanhazgpuError =>
	error instanceof CanhazgpuError && error.code === code;

/**
The answer; after a failure that a user can meet, what stands for it. Any other error is a bug, and is thrown.

@param codes - The failures that are meant; all of them, if not given.
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

/** Maximum length of repeated input in a message. */
const mostRepeated = 100;

/** Shortens user input for a message. */
export function cutShort(text: string): string {
	// Characters are counted only where there can be too many.
	const characters = text.length <= mostRepeated ? [] : [...text];
	return characters.length <= mostRepeated ? text : `${characters.slice(0, mostRepeated - 1).join('')}…`;
}

/** Quotes user input for a message. */
export const quoted = (text: string): string => JSON.stringify(cutShort(text));

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's code of an error, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
Whether a file of the program is missing that is loaded only when it is needed. An update or a removal takes the files away under a running
program. Node reports ENOENT when the file disappears between its search and its reading.
*/
export const isMissingPart = (error: unknown): boolean =>
	error instanceof Error &&
	(codeOf(error) === 'ERR_MODULE_NOT_FOUND' ||
		(codeOf(error) === 'ENOENT' && /\/chunks\/[^\/]+\.js$/v.test((error as NodeJS.ErrnoException).path ?? '')));
