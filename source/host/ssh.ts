import * as v from 'valibot';
import {CanhazgpuError} from '../errors.js';
import {runTool} from './spawn.js';

/** One GPU of another host, as `status --json` of this program or of the peer prints it. Texts are whatever that host says. */
export type RemoteRow = Readonly<Record<string, unknown>> & {readonly gpu_id: number; readonly status: string};

const boundMs = 10_000;
const connectSeconds = 5;
const mostBytes = 4_000_000;

/** What ssh may be told to connect to: `host` or `user@host`, nothing that ssh or a shell could take for anything else. */
const destination = /^(?:[A-Z_a-z][\w\-.]*@)?[0-9A-Za-z](?:[\w\-.:]*[0-9A-Za-z])?$/v;

const rowsSchema = v.array(
	v.looseObject({gpu_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)), status: v.string()}),
);

/** @throws CanhazgpuError `usage` for anything that is no plain host name. */
export function checkRemoteHost(host: string): string {
	if (!destination.test(host) || host.length > 255) {
		throw new CanhazgpuError('usage', `${JSON.stringify(host)} is not a host name`, {
			hint: 'Write a name such as gpu-box-2 or alice@gpu-box-2.',
		});
	}

	return host;
}

const failed = (host: string, why: string, hint?: string): CanhazgpuError =>
	new CanhazgpuError('failed', `${host}: ${why}`, {hint});

/** Ssh's own last word, such as `Permission denied (publickey).` */
const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';

function parseRows(host: string, text: string): readonly RemoteRow[] {
	let value: unknown;
	try {
		// A login script may print before it: the array begins at a line of its own.
		value = JSON.parse(text.slice(Math.max(0, text.search(/^\[/mv))));
	} catch {
		throw failed(host, 'its answer is not the JSON of a status');
	}

	const result = v.safeParse(rowsSchema, value);
	if (!result.success) {
		throw failed(host, 'its answer is not a list of GPUs');
	}

	return result.output;
}

/**
Asks another host for its status by ssh. Never asks for a password, and answers within 10 s, whatever the host does.

@throws CanhazgpuError `failed` in words for one error row; `usage` for a name that is none.
*/
export async function remoteStatus(host: string): Promise<readonly RemoteRow[]> {
	const {stdout, stderr, exitCode, failure} = await runTool(
		'ssh',
		[
			'-o',
			'BatchMode=yes',
			'-o',
			`ConnectTimeout=${connectSeconds}`,
			'--',
			checkRemoteHost(host),
			'canhazgpu',
			'status',
			'--json',
		],
		{timeoutMs: boundMs, maxBytes: mostBytes},
	);
	if (failure === 'not-found') {
		throw failed(host, 'ssh is not installed here');
	}

	if (failure !== undefined) {
		throw failed(host, failure === 'timed-out' ? 'no answer within 10 s' : `ssh failed (${failure})`);
	}

	if (exitCode !== 0) {
		const said = lastLine(stderr);
		throw failed(
			host,
			exitCode === 127 ? 'canhazgpu is not installed there' : said === '' ? `ssh ended with ${exitCode}` : said,
		);
	}

	return parseRows(host, stdout);
}
