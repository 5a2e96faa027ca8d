import * as v from 'valibot';
import {isPlausibleStatus, isRemoteHost, type AccountRoom, type OwnLimits} from '../../core/model/other-hosts.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {runTool, type ToolFailure} from './spawn.js';

/** A GPU of another host, as printed by `status --json` of this program or the Go program. Texts are untrusted. */
export type RemoteRow = Readonly<Record<string, unknown>> & {readonly gpu_id: number; readonly status: string};

const boundMs = 10_000;
/** Time limit for connecting to a host, including the key exchange. */
export const connectSeconds = 5;
export const mostBytes = 4_000_000;
/** The longest text to keep from an error of another host or ssh. */
const longestText = 300;

/** Options that override the ssh config: no password prompts, and no agent, display, tunnel, terminal or command for the host. */
export const sshOptions: readonly string[] = [
	'-aTx',
	...['BatchMode=yes', `ConnectTimeout=${connectSeconds}`, 'ClearAllForwardings=yes', 'RemoteCommand=none'].flatMap(
		(option) => ['-o', option],
	),
];

/** Makes ssh notice a lost connection within 20 s, and exit with 255. */
export const keepAlive: readonly string[] = ['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'];

export const rowsSchema = v.array(
	v.looseObject({gpu_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), status: v.string()}),
);

export function checkRemoteHost(host: string): string {
	if (!isRemoteHost(host)) {
		throw new CanhazgpuError('usage', `${quoted(host)} is not a host name`, {
			hint: 'Write a name such as gpu-box-2 or alice@gpu-box-2.',
		});
	}

	return host;
}

export const notInstalled = 'canhazgpu is not installed there';

export const whereItMustBe = (host: string): string =>
	`It must be in the PATH of a login without a terminal: ssh ${host} 'command -v canhazgpu'`;

const remedies: ReadonlyArray<readonly [why: RegExp, hint: (host: string) => string]> = [
	[
		/Permission denied \(/v,
		(host) => `canhazgpu never asks for a password. Install your key on that host: ssh-copy-id ${host}`,
	],
	[
		/Host key (?:verification failed|for \S+ has changed)/v,
		(host) => `Log in once by hand to check and accept its host key: ssh ${host}`,
	],
	[/No user exists for uid/v, () => 'ssh needs an account with a name: add this uid to /etc/passwd'],
	[/Could not resolve hostname/v, () => 'Use a name that ssh can find: in DNS, or as a Host in ~/.ssh/config'],
	[new RegExp(notInstalled, 'v'), whereItMustBe],
];

export const failed = (host: string, why: string): CanhazgpuError =>
	new CanhazgpuError('failed', `${host}: ${why}`, {hint: remedies.find(([said]) => said.test(why))?.[1](host)});

/** The line that ssh prints after the jump host (ProxyJump) reported a failure. */
const afterJump = /^(?:kex_exchange_identification: |Connection closed by UNKNOWN )/v;

/** Returns the error of canhazgpu without its hint. If there is none, returns ssh's message about a changed key, or its last line. */
function failureText(said: string): string {
	const lines = said.trim().split('\n');
	const words =
		lines.find((line) => /^(?:Error: |Host key for \S+ has changed)/v.test(line)) ??
		lines.findLast((line) => !afterJump.test(line)) ??
		lines.at(-1)!;
	return words
		.replace(/^Error: /v, '')
		.trim()
		.slice(0, longestText);
}

const toolFailures: Readonly<Partial<Record<ToolFailure, string>>> = {
	'not-found': 'ssh is not installed here',
	'timed-out': `no answer within ${boundMs / 1000} s`,
	'too-much-output': `its answer is longer than ${mostBytes / 1_000_000} MB`,
	aborted: 'the request was cancelled',
};

type Failed = {
	readonly stderr: string;
	/** Can contain the message of nologin(8) that the account may not log in. */
	readonly stdout: string;
	readonly failure?: ToolFailure | undefined;
	/** The exit code or signal to show if there is no message. */
	readonly end?: number | string | undefined;
};

export function sshFailed(host: string, {stderr, stdout, failure, end}: Failed): CanhazgpuError {
	if (failure !== undefined) {
		return failed(host, toolFailures[failure] ?? `ssh failed (${failure})`);
	}

	const said = failureText(stderr.trim() === '' ? stdout : stderr);
	return failed(host, said === '' ? `ssh ended${end === undefined ? '' : ` with ${end}`}` : said);
}

/** Escape sequences that set a terminal's title or a colour. */
const escapeSequence = /[\p{Control}--\s](?:\]\P{Control}*(?:[\p{Control}--\s]\\?)?|\[[\d:;?]*[a-z])/giv;

/** Removes escape sequences in linear time. `stripVTControlCharacters` of `node:util` takes quadratic time. */
export const withoutEscapes = (text: string): string => text.replaceAll(escapeSequence, '');

/** The first and the last line of a JSON answer. A list is in square brackets, a record in braces. */
const enclosures = {
	list: {beginning: /^\[(?=\s*[\]\{])/gmv, end: ']\n'},
	record: {beginning: /^\{(?=\s*["\}])/gmv, end: '}\n'},
} as const;

/** Maximum number of lines to try as the start of the answer, because lines of a login script can look like one. */
const mostBeginnings = 5;

/** Parses the JSON in an output. Ignores lines of login scripts before and after the JSON, and terminal escapes. */
function parseJson(text: string, kind: keyof typeof enclosures): unknown {
	const {beginning, end} = enclosures[kind];
	const plain = `${withoutEscapes(text).trimEnd()}\n`;
	const answer = plain.slice(0, plain.lastIndexOf(end) + 1);
	for (const {index} of answer.matchAll(beginning).take(mostBeginnings)) {
		try {
			return JSON.parse(answer.slice(index));
		} catch {
			// The JSON does not begin here.
		}
	}

	return undefined;
}

function parseRows(host: string, text: string): readonly RemoteRow[] {
	const value = parseJson(text, 'list');
	if (value === undefined) {
		throw failed(host, 'its status is not valid JSON');
	}

	const result = v.safeParse(rowsSchema, value);
	if (!result.success || !isPlausibleStatus(result.output)) {
		throw failed(host, 'its answer is not a list of GPUs');
	}

	return result.output;
}

/** Runs canhazgpu on a host and returns its output. Never asks for a password. Ends within 10 s, whatever the host does. */
async function askHost(host: string, words: readonly string[], signal: AbortSignal | undefined): Promise<string> {
	const {
		stdout,
		stderr,
		exitCode,
		failure,
		signal: signalled,
	} = await runTool('ssh', [...sshOptions, '--', checkRemoteHost(host), 'canhazgpu', ...words], {
		timeoutMs: boundMs,
		maxBytes: mostBytes,
		signal,
	});
	if (failure === undefined && exitCode === 127) {
		throw failed(host, notInstalled);
	}

	if (failure !== undefined || exitCode !== 0) {
		throw sshFailed(host, {stderr, stdout, failure, end: exitCode ?? signalled});
	}

	return stdout;
}

/** Asks another host for its status by ssh. Throws `failed` with a message for the host's row, and `usage` for an invalid name. */
export const remoteStatus = async (host: string, signal?: AbortSignal): Promise<readonly RemoteRow[]> =>
	parseRows(host, await askHost(host, ['status', '--json'], signal));

/** The queue of another host, as printed by `queue --json` of this program or the Go program. Texts are untrusted. */
type RemoteQueue = OwnLimits & {readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>>};

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const roomSchema = v.object({max_gpus: count, left_gpus: count, slack: v.optional(v.boolean())});
const secondsSchema = v.pipe(v.number(), v.minValue(0));

/** Reads the limit of our account. An invalid limit counts as no limit, because that host checks the limit again. */
function roomOf(value: unknown): AccountRoom | undefined {
	const result = v.safeParse(roomSchema, value);
	return result.success
		? {
				mostGpus: result.output.max_gpus,
				leftGpus: result.output.left_gpus,
				hasSlack: result.output.slack === true,
			}
		: undefined;
}

const queueSchema = v.looseObject({entries: v.optional(v.nullable(v.array(v.record(v.string(), v.unknown()))))});

const longestQueue = 10_000;

/** Asks another host for its queue by ssh. Abort `signal` to cancel. Throws like {@link remoteStatus}, and `failed` if that version has no queue. */
export async function remoteQueue(host: string, signal?: AbortSignal): Promise<RemoteQueue> {
	const value = parseJson(await askHost(host, ['queue', '--json'], signal), 'record');
	const result = v.safeParse(queueSchema, value);
	// The Go program prints `null` for an empty list.
	const entries = result.success ? (result.output.entries ?? []) : undefined;
	if (entries === undefined || entries.length > longestQueue) {
		throw failed(host, 'its queue is not valid JSON');
	}

	const {own_limit: limit, own_max_seconds: seconds} = result.success ? result.output : {};
	return {entries, room: roomOf(limit), mostSeconds: v.is(secondsSchema, seconds) ? seconds : undefined};
}

/** Asks another host for its report by ssh. The Go program can only report by `user`, and has no flag for `by`. Throws like {@link remoteStatus}. */
export async function remoteReport(host: string, days: number, by: string): Promise<Readonly<Record<string, unknown>>> {
	// Only letters are accepted, because a shell on that host interprets these words.
	if (!/^[a-z]+$/v.test(by)) {
		throw new CanhazgpuError('usage', `${quoted(by)} is not a grouping of reports`);
	}

	const split = by === 'user' ? [] : ['--by', by];
	const answer = await askHost(host, ['report', '--json', '--days', String(days), ...split], undefined);
	const value = parseJson(answer, 'record');
	const result = v.safeParse(v.looseObject({total_gpu_hours: v.number()}), value);
	if (!result.success) {
		throw failed(host, 'its report is not valid JSON');
	}

	return result.output;
}
