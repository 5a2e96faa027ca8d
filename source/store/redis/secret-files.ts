import type {Stats} from 'node:fs';
import {createSecureContext, type SecureContextOptions} from 'node:tls';
import {CanhazgpuError, messageOf} from '../../errors.js';
import {effectiveUid, ownerText, readSafely} from '../../security/safe-file.js';

const longestPassword = 65_536;

/** Maximum size of a certificate file. A bundle of all public authorities is a quarter of this size. */
const longestPem = 1_048_576;

const refuse = (setting: string, problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `redis.${setting}: ${problem}`, {hint, cause});

type ReadOptions = {
	readonly longestBytes: number;
	readonly judge?: (status: Stats) => undefined;
};

function readFile(setting: string, file: string, {longestBytes, judge}: ReadOptions): string {
	const read = readSafely(file, {longestBytes, followsLinks: true, judge});
	if (read.kind !== 'read') {
		const problem = read.kind === 'absent' ? 'there is no such file' : read.problem;
		throw refuse(
			setting,
			`cannot read ${file}: ${problem}`,
			`Fix redis.${setting}, or the file, which must belong to the account that runs canhazgpu.`,
			read.kind === 'refused' ? read.cause : undefined,
		);
	}

	return read.text;
}

/** Returns the first line of a file. Throws `config` if the file is unreadable, belongs to another account, or can be read by others. */
export function readPasswordFile(file: string): string {
	const setting = 'password_file';
	const text = readFile(setting, file, {
		longestBytes: longestPassword,
		judge(status) {
			// Root can read all files. Without this check, another account could make root send its file to a server.
			if (status.uid !== effectiveUid()) {
				throw refuse(setting, `${file} ${ownerText(status)}`, 'Name a file that belongs to you.');
			}

			// Others can read this password.
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
	/** The certificate files of the private authority for the server, and of this client. The client's file can contain its key, too. */
	readonly authority?: string | undefined;
	readonly certificate?: string | undefined;
	readonly key?: string | undefined;
};

/** Reads the files for TLS. Throws `config` if a file is unreadable or invalid. */
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
			hint: 'They must hold certificates, and a key without a password, as PEM (-----BEGIN ...).',
			cause: error,
		});
	}

	return options;
}
