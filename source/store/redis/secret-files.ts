/** Reads credentials from files: the password, and what TLS needs. */
import type {Stats} from 'node:fs';
import {createSecureContext, type SecureContextOptions} from 'node:tls';
import {CanhazgpuError, messageOf} from '../../errors.js';
import {effectiveUid, ownerText, readSafely} from '../../security/safe-file.js';

const longestPassword = 65_536;

/** Bundles of all authorities of the world have a quarter of this. */
const longestPem = 1_048_576;

const refuse = (setting: string, problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `redis.${setting}: ${problem}`, {hint, cause});

type ReadOptions = {
	readonly longestBytes: number;
	/** Throws for a file that is not to be believed. */
	readonly judge?: (status: Stats) => undefined;
};

function readFile(setting: string, file: string, {longestBytes, judge}: ReadOptions): string {
	const read = readSafely(file, {longestBytes, followsLinks: true, judge});
	if (read.kind !== 'read') {
		const problem = read.kind === 'absent' ? 'there is no such file' : read.problem;
		throw refuse(
			setting,
			`cannot read ${file}: ${problem}`,
			`Fix redis.${setting}, or the file. It belongs to the account that runs canhazgpu.`,
			read.kind === 'refused' ? read.cause : undefined,
		);
	}

	return read.text;
}

/**
The first line of a file that belongs to this account and that no one else may read.

@throws CanhazgpuError `config` when it is another account's, others may read it, or it cannot be read.
*/
export function readPasswordFile(file: string): string {
	const setting = 'password_file';
	const text = readFile(setting, file, {
		longestBytes: longestPassword,
		judge(status) {
			// Root could read anybody's, and would send it to wherever the configuration says.
			if (status.uid !== effectiveUid()) {
				throw refuse(setting, `${file} ${ownerText(status)}`, 'Name a file of your own.');
			}

			// Anybody but the owner: such a password is no secret.
			// eslint-disable-next-line no-bitwise
			if ((status.mode & 0o077) !== 0) {
				throw refuse(setting, `${file} can be read by others`, `chmod 600 ${file}`);
			}
		},
	});
	const password = text.split('\n', 1)[0]!.trim();
	if (password === '') {
		throw refuse(setting, `the first line of ${file} is empty`, 'Write the password there.');
	}

	return password;
}

export type TlsFiles = {
	/** The file with the certificate of a private authority, which signed that of the server. */
	readonly authority?: string | undefined;
	/** The file with the certificate of this client; it may also hold the key. */
	readonly certificate?: string | undefined;
	readonly key?: string | undefined;
};

/** Throws `config` when one of them cannot be read or holds no such thing. */
export function readTlsFiles({authority, certificate, key = certificate}: TlsFiles): SecureContextOptions {
	const readPem = (setting: string, file: string | undefined): string | undefined =>
		file === undefined ? undefined : readFile(setting, file, {longestBytes: longestPem});
	const options = {
		ca: readPem('tls_ca_cert_file', authority),
		cert: readPem('tls_cert_file', certificate),
		key: readPem('tls_key_file', key),
	};
	try {
		createSecureContext(options);
	} catch (error) {
		throw new CanhazgpuError('config', `The files of redis.tls_* cannot be used: ${messageOf(error)}`, {
			hint: 'They hold certificates, and a key without a password, as PEM (-----BEGIN ...).',
			cause: error,
		});
	}

	return options;
}
