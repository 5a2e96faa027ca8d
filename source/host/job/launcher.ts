/**
Starts a program in ways that Node knows nothing of: with bytes that are no UTF-8, with signals that are ignored, with another limit of
open files. sh does it and becomes env, which becomes the program: the pid stays the same. No byte of the words is ever code.
*/
import {existsSync} from 'node:fs';
import {isBytes, type Environment} from '../inherited/exact-text.js';

export type Manner = {
	/** The numbers of the signals that it ignores. */
	readonly ignored: readonly number[];
	/** The soft limit of open files, where it differs from ours. */
	readonly openFiles: string | undefined;
};

const shell = '/bin/sh';
/** Unlike a shell, env(1) passes on entries whose names a shell could not have, such as those of functions of bash. */
const envTool = '/usr/bin/env';

/** Decodes the script, which Node could not pass in its own bytes. The last command is for an sh that could not even do that. */
const decode = 's=$(printf %b "$@") && eval "$s"; exit 126';

/** The longest piece, in characters: Linux takes no word of a command line that is longer than 128 KiB. */
const pieceLength = 20_000;

/** Text for `printf %b`. */
const escaped = (text: string): string =>
	text
		.replaceAll('\\', String.raw`\0134`)
		.replaceAll(/[\u{DC80}-\u{DCFF}]/gv, (byte) => String.raw`\0` + (byte.codePointAt(0)! - 0xdc_00).toString(8));

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the shell commands that prepare the process before it becomes the job. */
const preparationOf = ({ignored, openFiles}: Manner): string =>
	(openFiles === undefined ? '' : `ulimit -S -n ${openFiles}; `) +
	(ignored.length === 0 ? '' : `trap '' ${ignored.join(' ')}; `);

/** The program and its environment, as words. */
const wordsForEnv = (words: readonly string[], environment: Environment): readonly string[] => [
	envTool,
	'-i',
	// Neither env nor a shell can make an entry without a name.
	...Object.entries(environment).flatMap(([name, value]) =>
		value === undefined || name === '' ? [] : [`${name}=${value}`],
	),
	// To env, a word with this sign is an entry of the environment.
	...(words[0]?.includes('=') === true ? ['nice', '-n', '0'] : []),
	...words,
];

/** Whether Node alone would start it otherwise. */
export const needsLauncher = (
	words: readonly string[],
	environment: Environment,
	{ignored, openFiles}: Manner,
): boolean =>
	ignored.length > 0 ||
	openFiles !== undefined ||
	words.some((word) => isBytes(word)) ||
	Object.entries(environment).some(([name, value]) => isBytes(name) || isBytes(value ?? ''));

/** The script, its name, and its words. Where Node can pass them all, the script need not be decoded, for which sh starts another process. */
function scriptWithWords(preparation: string, words: readonly string[]): readonly string[] {
	if (words.every((word) => !isBytes(word))) {
		return [`${preparation}exec "$@"`, shell, ...words];
	}

	const script = `${preparation}exec ${words.map((word) => quoted(word)).join(' ')}`;
	const pieces = escaped(script).match(new RegExp(String.raw`(?:\\0\d{3}|[^\\]){1,${pieceLength}}`, 'gv')) ?? [];
	return [decode, shell, ...pieces];
}

/** Returns the launcher, to be started with an empty environment. Undefined if the machine lacks the tools for it. */
export const launcherOf = (
	words: readonly string[],
	environment: Environment,
	manner: Manner,
): readonly [string, ...string[]] | undefined =>
	existsSync(shell) && existsSync(envTool)
		? [shell, '-c', ...scriptWithWords(preparationOf(manner), wordsForEnv(words, environment))]
		: undefined;
