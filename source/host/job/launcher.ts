/**
Starts a program in ways that Node does not support: with bytes that are not UTF-8, with ignored signals, with another limit of open files. sh
executes env, and env executes the program, so the pid stays the same. The words are never interpreted as code.
*/
import {existsSync} from 'node:fs';
import {isBytes, type Environment} from '../inherited/exact-text.js';

export type Manner = {
	readonly ignored: readonly number[];
	/** The soft limit of open files, if different from ours. */
	readonly openFiles: string | undefined;
};

type Variable = readonly [name: string, value: string];

type Launcher = {
	readonly words: readonly [string, ...string[]];
	readonly environment: Environment;
};

const shell = '/bin/sh';
/** Unlike a shell, env(1) passes on entries with names that shell variables cannot have, such as functions of bash. */
const envTool = '/usr/bin/env';

/** Decodes and executes the script, whose exact bytes Node cannot pass. `exit 126` runs only if that fails. */
const decode = 'canhazgpu_script=$(printf %b "$@") && eval "$canhazgpu_script"; exit 126';

/** Variables that shells add to the environment of their commands. */
const addedByShells = ['PATH', 'PWD', 'OLDPWD', 'SHLVL', '_'];

/** Variables that dash, bash or BusyBox set, drop or obey, besides those that begin with BASH_. None of them holds a secret. */
const changedByShells: ReadonlySet<string> = new Set([
	...addedByShells,
	...'BASH BASHOPTS BASHPID COMP_WORDBREAKS DIRSTACK ENV EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS'.split(' '),
	...'HISTCMD IFS LINENO OPTARG OPTERR OPTIND POSIXLY_CORRECT PPID PS1 PS2 PS3 PS4 RANDOM SECONDS'.split(' '),
	...'SHELLOPTS SRANDOM UID canhazgpu_script'.split(' '),
	// The script is read in the C locale, and sh and env run without libraries that are meant for the command.
	...'LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LD_AUDIT LD_DEBUG LD_LIBRARY_PATH LD_PRELOAD'.split(' '),
]);

/** Whether every sh passes the variable on unchanged. */
const survivesShell = ([name, value]: Variable): boolean =>
	/^[A-Z_a-z]\w*$/v.test(name) && !name.startsWith('BASH_') && !changedByShells.has(name) && !isBytes(value);

/** The longest piece of the encoded script, in characters. Linux limits a word of a command line to 128 KiB. */
const pieceLength = 20_000;

/** Escapes text for `printf %b`. */
const escaped = (text: string): string =>
	text
		.replaceAll('\\', String.raw`\0134`)
		.replaceAll(/[\u{DC80}-\u{DCFF}]/gv, (byte) => String.raw`\0` + (byte.codePointAt(0)! - 0xdc_00).toString(8));

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

const preparationOf = ({ignored, openFiles}: Manner): string =>
	(openFiles === undefined ? '' : `ulimit -S -n ${openFiles}; `) +
	(ignored.length === 0 ? '' : `trap '' ${ignored.join(' ')}; `);

const wordsForEnv = (words: readonly string[], variables: readonly Variable[]): readonly string[] => [
	envTool,
	...addedByShells.flatMap((name) => ['-u', name]),
	...variables.map(([name, value]) => `${name}=${value}`),
	// Env would treat a command with `=` in its name as an entry of the environment, so nice(1) executes the command.
	...(words[0]?.includes('=') === true ? ['nice', '-n', '0'] : []),
	...words,
];

/** Whether the command needs the launcher, because Node alone would start it with other bytes, ignored signals or limits. */
export const needsLauncher = (
	words: readonly string[],
	environment: Environment,
	{ignored, openFiles}: Manner,
): boolean =>
	ignored.length > 0 ||
	openFiles !== undefined ||
	words.some((word) => isBytes(word)) ||
	Object.entries(environment).some(([name, value]) => isBytes(name) || isBytes(value ?? ''));

/** Returns sh's arguments: script, name and words. Encodes the script only if Node cannot pass all bytes, because decoding needs another process. */
function scriptWithWords(preparation: string, words: readonly string[]): readonly string[] {
	if (words.every((word) => !isBytes(word))) {
		return [`${preparation}exec "$@"`, shell, ...words];
	}

	const script = `${preparation}exec ${words.map((word) => quoted(word)).join(' ')}`;
	const pieces = escaped(script).match(new RegExp(String.raw`(?:\\0\d{3}|[^\\]){1,${pieceLength}}`, 'gv')) ?? [];
	return [decode, shell, ...pieces];
}

/**
Returns the launcher. Undefined if the machine lacks the tools for it. Every account can read the words of a process, and a variable can be a secret.
Therefore only variables that a shell would change are passed as words.
*/
export const launcherOf = (
	words: readonly string[],
	environment: Environment,
	manner: Manner,
): Launcher | undefined => {
	if (!existsSync(shell) || !existsSync(envTool)) {
		return undefined;
	}

	// Neither env nor a shell can create an entry without a name.
	const variables = Object.entries(environment).filter(
		(entry): entry is [string, string] => entry[0] !== '' && entry[1] !== undefined,
	);
	const inWords = wordsForEnv(
		words,
		variables.filter((variable) => !survivesShell(variable)),
	);
	return {
		words: [shell, '-c', ...scriptWithWords(preparationOf(manner), inWords)],
		environment: Object.fromEntries(variables.filter((variable) => survivesShell(variable))),
	};
};
