/** Runs a command of this program on another host by ssh, in the user's name. */
import {Buffer} from 'node:buffer';
import {CanhazgpuError} from '../../errors.js';
import {encodeBytes, exactWords} from '../inherited/exact-text.js';
import {runTool} from './spawn.js';
import {checkRemoteHost, connectSeconds, keepAlive, sshFailed, whereItMustBe} from './ssh.js';
import {endsWithUs} from './system-tool.js';

export type RemoteCommand = {
	readonly host: string;
	readonly words: readonly string[];
	/** Words after `--`. Undefined if there is no `--`. */
	readonly rest: readonly string[] | undefined;
	/** Working directory, if it exists on the host. Default: the home directory. */
	readonly directory?: string;
	/** Additional environment variables. The names are constants of this program. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Whether a person uses the terminal. ssh can then ask questions, and the command has a terminal, too. */
	readonly hasTerminal: boolean;
	/** Whether the script first prints {@link answerMarker} on stderr. */
	readonly announces?: boolean;
};

export const answerMarker = 'canhazgpu: the host answers\n';

/** The longest encoded script, in characters. Linux limits a word of a command line to 128 KiB. The rest is reserved for the surrounding script. */
const longestScript = 90_000;

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
Shell script that ends the program when the connection is gone. Without a terminal, a waiting request or a job would not notice and run forever. A
second process watches whether sshd is still the parent of the program, and otherwise sends SIGHUP to the program. sshd itself can be invisible,
because /proc may be mounted with hidepid. With a shared connection (ControlMaster), sshd stays alive, but stops reading the output. GNU tail, which
watches its output, then ends by SIGPIPE.
*/
const hangUpWithConnection = String.raw`(
	output=/proc/$$/fd/1
	is_read() {
		[ -p $output ] || return 0
		timeout 0.1 tail -f /dev/null >$output
		[ $? -ne 141 ]
	}
	has_parent() {
		grep -q "^PPid:[[:space:]]*$PPID\$" /proc/$$/status
		[ $? -ne 1 ]
	}
	while has_parent && kill -0 $$ && is_read; do sleep 1; done
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

/** Returns `ssh` and its arguments. Encodes the script in base64 for every kind of shell. Throws `usage` for an invalid host or too many words. */
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

/** Time limit of a call, enough to log in, scan the GPUs and write. After a timeout, the caller can ask for the outcome. */
const answerMs = 30_000;
/** Limit for the output, more than any change of a reservation prints. */
const mostBytes = 1_000_000;
/** Exit code of ssh itself for connection failures. The remote command can have the same exit code. */
export const connectionFailure = 255;

export type RemoteCall = {
	readonly host: string;
	readonly words: readonly string[];
	/** Whether the command may take long. It then runs until `signal` is aborted. */
	readonly isUnbounded: boolean;
	readonly signal?: AbortSignal | undefined;
};

/** Runs a command without a terminal, and returns its output. Never asks for a password. Throws `failed` if ssh fails or is too slow. */
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
			hint: `The command may have taken effect there. To check: canhazgpu status --remote ${host}`,
		});
	}

	if (failure !== undefined || exitCode === undefined || exitCode === connectionFailure) {
		throw sshFailed(host, {stderr, stdout, failure, end: end.signal});
	}

	return {exitCode, stdout, stderr};
}
