import * as v from 'valibot';
import {type CanhazgpuError} from '../../errors.js';
import {isPlausibleStatus} from '../../core/model/other-hosts.js';
import {runTool} from './spawn.js';
import {
	checkRemoteHost,
	failed,
	keepAlive,
	mostBytes,
	notInstalled,
	rowsSchema,
	sshFailed,
	sshOptions,
	withoutEscapes,
	type RemoteRow,
} from './ssh.js';

/** Status of another host. Texts are untrusted. */
type FollowedStatus = {
	readonly rows: readonly RemoteRow[];
	readonly account: string | undefined;
	readonly waitingCount: number | undefined;
};

const lineSchema = v.object({
	gpus: v.optional(rowsSchema),
	account: v.fallback(v.optional(v.string()), undefined),
	waiting_count: v.fallback(v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), undefined),
	error: v.fallback(v.optional(v.string()), undefined),
});

/** Matches errors of programs that do not know `--follow`: older versions of this program, and the Go program. */
const unknownFlag = /unknown (?:flag|option)|does not know|--follow/iv;

/** The longest line, longer than any status. A longer line ends the connection. */
const longestLine = mostBytes;

function statusIn(host: string, line: string): FollowedStatus | undefined {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch {
		// This line was printed by a login script.
		return undefined;
	}

	const result = v.safeParse(lineSchema, value);
	if (!result.success) {
		throw failed(host, 'its answer is not a status');
	}

	const {gpus: rows, account, waiting_count: waitingCount, error} = result.output;
	if (error !== undefined) {
		throw failed(host, error);
	}

	if (rows === undefined || !isPlausibleStatus(rows)) {
		throw failed(host, 'its answer is not a list of GPUs');
	}

	return {rows, account, waitingCount};
}

/**
Calls `onStatus` with each status of another host until `signal` is aborted. Never asks for a password. Returns `unsupported` if canhazgpu on that
host does not know `--follow`. Throws `failed` if the connection or the command ends, or if the output is not a status.
*/
export async function followRemoteStatus(
	host: string,
	onStatus: (status: FollowedStatus) => void,
	signal: AbortSignal,
): Promise<'unsupported'> {
	const ending = new AbortController();
	let problem: CanhazgpuError | undefined;
	let rest = '';
	let hasAnswered = false;
	/** The last line that was not a status, such as an error message of ssh. */
	let printed = '';
	const onText = (text: string): void => {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		if (rest.length > longestLine) {
			problem ??= failed(host, `its answer is longer than ${mostBytes / 1_000_000} MB`);
			ending.abort();
			return;
		}

		for (const written of lines) {
			const line = withoutEscapes(written);
			if (problem !== undefined || !line.startsWith('{')) {
				printed = line.slice(0, longestLine);
				continue;
			}

			try {
				const status = statusIn(host, line);
				if (status !== undefined) {
					hasAnswered = true;
					onStatus(status);
				}
			} catch (error) {
				problem = error as CanhazgpuError;
				ending.abort();
			}
		}
	};

	const {stderr, exitCode, failure, ...end} = await runTool(
		'ssh',
		[...sshOptions, ...keepAlive, '--', checkRemoteHost(host), 'canhazgpu', 'status', '--json', '--follow'],
		{timeoutMs: Infinity, maxBytes: mostBytes, signal: AbortSignal.any([signal, ending.signal]), onText},
	);
	if (problem !== undefined) {
		throw problem;
	}

	if (exitCode === 127) {
		throw failed(host, notInstalled);
	}

	if (!hasAnswered && failure === undefined && exitCode !== 0 && exitCode !== 255 && unknownFlag.test(stderr)) {
		return 'unsupported';
	}

	throw sshFailed(host, {stderr, stdout: hasAnswered ? '' : printed, failure, end: exitCode ?? end.signal});
}
