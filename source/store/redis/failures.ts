/** Turns Redis failures into errors for the user. Omits the original error, to which ioredis adds the command: AUTH contains the password. */
import {CanhazgpuError, codeOf} from '../../errors.js';
import {poolGarbage} from '../records/index.js';
import type {Endpoint} from './address.js';
import {keys} from './keys.js';

/** Codes of temporary errors, after which the command was not executed. */
const transientWords = new Set(['LOADING', 'BUSY', 'MASTERDOWN', 'TRYAGAIN']);

const replyText =
	/(?:^|[ \-])(?<word>LOADING|BUSY|MASTERDOWN|TRYAGAIN|READONLY|OOM|MISCONF|NOREPLICAS|NOPERM|NOAUTH|WRONGPASS|DENIED|WRONGKEY|WRONGTYPE)\b/v;

/** Patterns for errors that do not begin with an error code. Some occur when Redis rejects a long command before it has received the password. */
const otherWords: ReadonlyArray<readonly [word: string, pattern: RegExp]> = [
	['NOAUTH', /NOAUTH|unauthenticated/v],
	['WRONGPASS', /invalid password|AUTH/v],
	['DBINDEX', /DB index/v],
	['NOCOMMAND', /unknown (?:redis )?command|acl_check_cmd/iv],
	['CLIENTS', /max number of clients/v],
	['CLUSTER', /^(?:MOVED|CLUSTERDOWN) |non local key|hash to the same slot/v],
	['NOPERM', /user executing the script can't/v],
];

/** Whether an error is an answer of Redis. False if there was no answer. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Returns the error code in the message: at its beginning, or after other text, which Redis before 7 adds to errors in scripts. */
function wordOf(error: Error): string {
	const [word] = otherWords.find(([, pattern]) => pattern.test(error.message)) ?? [];
	return word ?? replyText.exec(error.message)?.groups?.['word'] ?? 'ERR';
}

/** Whether Redis has no such command, because of its version or of rename-command, or does not let this account use it. */
export const isCommandMissing = (error: unknown): boolean =>
	isReply(error) && ['NOCOMMAND', 'NOPERM'].includes(wordOf(error));

/** Returns how to retry a command that was not executed. `again`: soon. `elsewhere`: on a new connection, because the server became a replica. */
export function retryOf(error: unknown): 'again' | 'elsewhere' | undefined {
	if (!isReply(error)) {
		return undefined;
	}

	const word = wordOf(error);
	return transientWords.has(word) ? 'again' : word === 'READONLY' ? 'elsewhere' : undefined;
}

const reasons: ReadonlyMap<string, string> = new Map([
	['ECONNREFUSED', 'connection refused'],
	['ECONNRESET', 'the connection was cut'],
	['EPIPE', 'the connection was cut'],
	['ETIMEDOUT', 'no answer'],
	['EHOSTUNREACH', 'no route to that host'],
	['ENETUNREACH', 'no route to that network'],
	['ENOTFOUND', 'there is no host with that name'],
	['EAI_AGAIN', 'the name could not be looked up'],
	['ENOENT', 'there is no such socket'],
	['EACCES', 'permission denied'],
]);

/** The error for an answer that is still incomplete after more bytes than any answer has. */
export class EndlessAnswer extends Error {
	override readonly name = 'EndlessAnswer';
}

/** Whether ioredis could not parse an answer, for example because of deeply nested lists. Only the messages of such errors contain this text. */
const isUnreadable = ({message}: Error): boolean => message.includes('Please report this');

/** Whether the error is a bug of the program and says nothing about the connection. */
export const isMistake = (error: unknown): boolean =>
	[TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind && !isUnreadable(error));

export const hasTimedOut = (error: unknown): boolean => error instanceof Error && /timed out/iv.test(error.message);

/** Whether an error says that the connection has ended, but does not say why. ioredis may end a connection without an error. */
export const isCut = (error: unknown): boolean =>
	!(error instanceof Error) || /closed|writeable|retries|econnreset|epipe/iv.test(error.message);

const untrusted = (code: string): string => `its certificate is not trusted (${code})`;

type TlsFailure = {readonly pattern: RegExp; readonly reason: (code: string) => string; readonly hint: string};

/** Failures of TLS, by the codes of OpenSSL and Node. If several match, the first one is used. */
const tlsFailures: readonly TlsFailure[] = [
	{
		pattern: /^ERR_SSL.*_ALERT_/v,
		reason: (code) => `it refused TLS with this client (${code})`,
		hint: 'If it requires a client certificate, set redis.tls_cert_file and redis.tls_key_file.',
	},
	{
		pattern: /^ERR_SSL/v,
		reason: () => 'it does not speak TLS',
		hint: 'Leave out redis.tls, or name a port that speaks TLS.',
	},
	{
		pattern: /ALTNAME/v,
		reason: untrusted,
		hint: 'The certificate is for another name: use that name as redis.host or --redis-host.',
	},
	{
		pattern: /EXPIRED|NOT_YET/v,
		reason: untrusted,
		hint: 'Renew the certificate, or check whether the clock of this machine is wrong.',
	},
	{
		pattern: /CERT|VERIFY/v,
		reason: untrusted,
		hint: 'Set redis.tls_ca_cert_file to the authority that signed the certificate.',
	},
];

function tlsFailureOf(error: unknown): TlsFailure | undefined {
	const code = error instanceof Error ? codeOf(error) : undefined;
	return code === undefined ? undefined : tlsFailures.find(({pattern}) => pattern.test(code));
}

export function reasonOf(error: unknown): string {
	if (error instanceof EndlessAnswer) {
		return 'its answer has no end';
	}

	if (!(error instanceof Error)) {
		return 'the connection was cut';
	}

	const code = codeOf(error);
	const reason = code === undefined ? undefined : reasons.get(code);
	if (reason !== undefined) {
		return reason;
	}

	const ofTls = tlsFailureOf(error);
	if (ofTls !== undefined) {
		return ofTls.reason(code!);
	}

	if (isUnreadable(error) || error.message.includes('RESP')) {
		return 'the server there is not Redis';
	}

	if (hasTimedOut(error)) {
		return 'no answer in time';
	}

	return isCut(error) ? 'the connection was cut' : error.message;
}

export const unreachableText = ({name}: Endpoint, reason: string): string => `Cannot reach ${name}: ${reason}`;

export function unreachable(endpoint: Endpoint, error: unknown): CanhazgpuError {
	const isEncrypted = endpoint.options.tls !== undefined;
	// A server that expects TLS ends a connection without TLS. A server without TLS gives no answer to a TLS handshake.
	const doubt = isEncrypted
		? ', and does it speak TLS (redis.tls)'
		: isCut(error)
			? ', and does it accept connections without TLS (redis.tls)'
			: '';
	const {namedIn} = endpoint;
	const moved =
		namedIn === undefined
			? undefined
			: `${namedIn} names that Redis. If the pool has moved, remove that file as root, and repeat canhazgpu admin with the new address.`;
	const hint = tlsFailureOf(error)?.hint;
	const question = `Is redis-server running there${doubt}?`;
	return new CanhazgpuError('store-unreachable', unreachableText(endpoint, reasonOf(error)), {
		hint: hint ?? `${question} ${moved ?? 'Name another with --redis-host and --redis-port.'}`,
		agentHint: hint ?? `${question} ${moved ?? 'Only the user can name another, in the configuration of this server.'}`,
		needsCorrection: error instanceof Error && codeOf(error) === 'EACCES',
	});
}

/** Returns the error for an answer that no Redis sends. It is unknown whether the command was executed. */
export const strangeAnswer = ({name}: Endpoint): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `${name} gives an invalid answer`, {
		hint: 'Is that redis-server? Name another with --redis-host and --redis-port.',
	});

export const lostAnswer = ({name}: Endpoint, reason: string): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `${name} did not say whether the change was made: ${reason}`, {
		hint: 'To check: canhazgpu status',
		agentHint: 'To check: gpu_status',
	});

type Wording = readonly [code: 'store-unreachable' | 'store-refused', problem: string, hint: string];

const wordings: ReadonlyMap<string, Wording> = new Map<string, Wording>([
	[
		'WRONGPASS',
		['store-unreachable', 'refused the password', 'Check redis.password or redis.password_file, and redis.username.'],
	],
	['NOAUTH', ['store-unreachable', 'requires a password', 'Set redis.password or redis.password_file.']],
	[
		'DENIED',
		[
			'store-unreachable',
			'is in protected mode and refuses connections from other machines',
			'Set a password there, or run canhazgpu on the machine of that Redis.',
		],
	],
	[
		'CLIENTS',
		['store-unreachable', 'has too many clients', 'Raise its maxclients, or list the clients: {shell} CLIENT LIST'],
	],
	['LOADING', ['store-unreachable', 'is still loading its data', 'Try again in a moment.']],
	['BUSY', ['store-unreachable', 'is busy with a script', 'Try again in a moment.']],
	['MASTERDOWN', ['store-unreachable', 'has lost its primary', 'Try again in a moment.']],
	['TRYAGAIN', ['store-unreachable', 'is busy', 'Try again in a moment.']],
	[
		'DBINDEX',
		['store-refused', 'has no database {db}', 'Check --redis-db; redis-server has 16, numbered from 0, by default.'],
	],
	['OOM', ['store-refused', 'is out of memory', 'Raise its maxmemory, or free some. Releasing still works.']],
	['READONLY', ['store-refused', 'is a read-only replica', 'Use its primary: --redis-host and --redis-port.']],
	[
		'MISCONF',
		[
			'store-refused',
			'cannot save to its disk and accepts no changes',
			'See the log of redis-server; is the disk full?',
		],
	],
	[
		'NOREPLICAS',
		['store-refused', 'has too few replicas and accepts no changes', 'See min-replicas-to-write in its configuration.'],
	],
	[
		'CLUSTER',
		[
			'store-refused',
			'belongs to a Redis Cluster, which canhazgpu does not support',
			'Use a Redis without cluster-enabled: --redis-host and --redis-port.',
		],
	],
	[
		'NOCOMMAND',
		[
			'store-refused',
			'lacks a command that canhazgpu needs',
			'Use Redis 5 or later, without rename-command in its configuration.',
		],
	],
	[
		'NOPERM',
		[
			'store-refused',
			'does not give this account all the permissions that canhazgpu needs',
			'Its ACL must allow ~canhazgpu:* &canhazgpu:* and the Redis commands that canhazgpu uses. For an example: canhazgpu help setup',
		],
	],
]);

/** Codes of errors that remain until somebody corrects the settings of this program or of Redis. */
const corrected = new Set(['WRONGPASS', 'NOAUTH', 'DENIED', 'NOPERM']);

export function refusal(error: Error, endpoint: Endpoint): CanhazgpuError {
	const {name, db, passwordHint, shell} = endpoint;
	const word = wordOf(error);
	if (word === 'WRONGKEY') {
		const {key, type} = /WRONGKEY (?<key>\S+) (?<type>\S+)/v.exec(error.message)?.groups ?? {};
		return wrongKey(endpoint, key ?? 'a key', type ?? 'key of another type');
	}

	// Scripts check the types of keys themselves, so this error comes from a read of the history or the audit log.
	if (word === 'WRONGTYPE') {
		const isAuditLog = ((error as {readonly command?: {readonly name?: string}}).command?.name ?? '').startsWith('x');
		return wrongKey(
			endpoint,
			isAuditLog ? keys.auditLog : keys.history,
			'key of another type',
			isAuditLog ? 'stream' : 'sorted set',
		);
	}

	const unknown = ['store-refused', `refused: ${error.message.slice(0, 200)}`, 'See the log of redis-server.'] as const;
	const [code, problem, usual] = wordings.get(word) ?? unknown;
	// If no password was sent, the account may have few permissions, so the advice is the same for both codes.
	const hint = (word === 'NOAUTH' || word === 'NOPERM' ? (passwordHint ?? usual) : usual).replace(
		'{shell}',
		() => shell,
	);
	return new CanhazgpuError(code, `${name} ${problem.replace('{db}', () => String(db))}`, {
		hint,
		needsCorrection: corrected.has(word),
	});
}

export const wrongKey = ({shell}: Endpoint, key: string, type: string, wanted = 'sorted set'): CanhazgpuError =>
	poolGarbage(`${key} is a ${type}, not a ${wanted}`, {
		hint: `Move it out of the way: ${shell} RENAME ${key} ${key}.damaged`,
	});
