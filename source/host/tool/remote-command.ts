/** A command of this program on another box, typed there by ssh in the user's place. */
import {Buffer} from 'node:buffer';
import {CanhazgpuError} from '../../errors.js';
import {encodeBytes, exactWords} from '../inherited/exact-text.js';
import {runTool} from './spawn.js';
import {checkRemoteHost, connectSeconds, keepAlive, sshFailed, whereItMustBe} from './ssh.js';
import {endsWithUs} from './system-tool.js';

export type RemoteCommand = {
	readonly host: string;
	/** The words behind `canhazgpu`, up to `--`. */
	readonly words: readonly string[];
	/** The words after `--`, or undefined without `--`. */
	readonly rest: readonly string[] | undefined;
	/** Working directory, if the box has it. Defaults to the home directory. */
	readonly directory?: string;
	/** Variables of its environment there. The names are our own. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Whether a person sits before it: ssh then asks for what it needs, and the command there has a terminal, too. */
	readonly hasTerminal: boolean;
	/** Whether the script there says first that it runs, by {@link answerMarker} on stderr. */
	readonly announces?: boolean;
};

/** The line by which the script on the other host tells that it runs. */
export const answerMarker = 'canhazgpu: the host answers\n';

/** Linux takes 128 KiB as one word; the rest is room for what goes round it. */
const longestScript = 90_000;

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
Without a terminal nothing on the box learns that the connection is gone, and a waiter or a job would stay there for ever: a second process watches
whether sshd, the parent of the shell, is still there, and hangs up on the program when it is not. A connection that is shared (ControlMaster) stays
where a user of it ends: then sshd reads no longer what the program prints, and GNU tail, which looks after its output, ends by SIGPIPE.
*/
const hangUpWithConnection = `(
	output=/proc/$$/fd/1
	is_read() {
		[ -p $output ] || return 0
		timeout 0.1 tail -f /dev/null >$output
		[ $? -ne 141 ]
	}
	while [ -d "/proc/$PPID" ] && kill -0 $$ && is_read; do sleep 1; done
	kill -HUP $$
) </dev/null >/dev/null 2>&1 &`;

function scriptOf({
	host,
	words,
	rest,
	directory,
	environment = {},
	hasTerminal,
	announces = false,
}: RemoteCommand): string {
	const typed = [...words, ...(rest === undefined ? [] : ['--', ...exactWords(rest)])];
	return [
		...(announces ? [`echo ${quote(answerMarker.trimEnd())} >&2`] : []),
		String.raw`command -v canhazgpu >/dev/null || { printf '%s\n' ${quote(`Error: canhazgpu is not installed on ${host}`)} ${quote(whereItMustBe(host))} >&2; exit 127; }`,
		...(directory === undefined
			? []
			: [
					`cd ${quote(directory)} 2>/dev/null || echo ${quote(`canhazgpu: ${host} has no directory ${directory}: the command starts in the home directory`)} >&2`,
				]),
		...(hasTerminal ? [] : [hangUpWithConnection]),
		...Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}`),
		['exec canhazgpu', ...typed.map((word) => quote(word))].join(' '),
	].join('\n');
}

/**
The words that run it: `ssh` and its arguments. Which shell the user has on that box does not matter, for the script comes as letters and digits.

@throws CanhazgpuError `usage` for a name that is none, or more words than one command line holds.
*/
export function sshCommand(command: RemoteCommand): readonly [string, ...string[]] {
	const script = Buffer.from(encodeBytes(scriptOf(command))).toString('base64');
	if (script.length > longestScript) {
		throw new CanhazgpuError('usage', 'The command is too long to be run on another host', {
			hint: 'Put it into a script there.',
		});
	}

	const options = [
		`ConnectTimeout=${connectSeconds}`,
		'ClearAllForwardings=yes',
		'RemoteCommand=none',
		...(command.hasTerminal ? [] : ['BatchMode=yes']),
	];
	return [
		'ssh',
		command.hasTerminal ? '-axt' : '-axT',
		...options.flatMap((option) => ['-o', option]),
		...keepAlive,
		'--',
		checkRemoteHost(command.host),
		`exec sh -c 'eval "$(printf %s ${script} | base64 -d)"'`,
	];
}

/** Longer than it takes to log in, to scan the GPUs and to write; the way to know more is to ask again. */
const answerMs = 30_000;
/** More than any change of a reservation prints. */
const mostBytes = 1_000_000;
/** The exit code of ssh itself. A command may have it, too. */
export const connectionFailure = 255;

export type RemoteCall = {
	readonly host: string;
	/** The words behind `canhazgpu`. */
	readonly words: readonly string[];
	/** Whether it may take long. It then runs until `signal` is aborted. */
	readonly isUnbounded: boolean;
	readonly signal?: AbortSignal | undefined;
};

/**
Runs it there without a terminal, and collects what it prints. No password is asked for.

@throws CanhazgpuError `failed` where ssh fails or no answer comes in time: then it is not known whether it was done.
*/
export async function callOnHost({host, words, isUnbounded, signal}: RemoteCall) {
	const ssh = sshCommand({host, words, rest: undefined, hasTerminal: false});
	const [program, ...args] = [...endsWithUs(), ...ssh] as const;
	const {stdout, stderr, exitCode, failure, ...end} = await runTool(program!, args, {
		timeoutMs: isUnbounded ? Infinity : answerMs,
		maxBytes: mostBytes,
		signal,
	});
	if (failure === 'timed-out') {
		throw new CanhazgpuError('failed', `${host}: no answer within ${answerMs / 1000} s`, {
			hint: 'Whether it was done is not known: its next status shows it.',
		});
	}

	if (failure !== undefined || exitCode === undefined || exitCode === connectionFailure) {
		throw sshFailed(host, {stderr, stdout, failure, end: end.signal});
	}

	return {exitCode, stdout, stderr};
}
