/** Redis over TLS: trusted certificate authorities, client certificates and errors. */
import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createServer, type TlsOptions} from 'node:tls';
import {afterAll, expect, onTestFinished, test} from 'vitest';
import {endpointOf} from '../../../source/store/redis/address.js';
import {unreachable} from '../../../source/store/redis/failures.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase} from '../../_helpers/slow.js';

const redis = redisOfFile();
const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-tls-'));
afterAll(() => {
	rmSync(directory, {recursive: true, force: true});
});

const file = (name: string) => path.join(directory, name);
const openssl = (...words: readonly string[]) => execFileSync('openssl', words, {stdio: 'pipe', cwd: directory});
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '9', '-subj', '/CN=Own authority');

/** Creates a certificate and its key in one file, signed by the authority of this test. */
function certificate(name: string, host: string, days = 9): string {
	const files = [`${name}.csr`, `${name}.key`, `${name}.crt`, `${name}.ext`] as const;
	const [request, key, signed, extension] = files;
	openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${host}`);
	writeFileSync(file(extension), `subjectAltName=DNS:${host}`);
	const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', extension];
	openssl('x509', '-req', '-in', request, ...authority, '-out', signed, '-days', String(days));
	writeFileSync(file(`${name}.pem`), readFileSync(file(signed), 'utf8') + readFileSync(file(key), 'utf8'));
	return file(`${name}.pem`);
}

const good = certificate('good', 'localhost');
const ofAnother = certificate('other', 'other.example');
const expired = certificate('expired', 'localhost', -1);
const own = certificate('own', 'alice');
const authority = {CANHAZGPU_REDIS_TLS_CA_CERT_FILE: file('ca.pem')};

/** Starts a TLS server in front of the same Redis, and returns a box that uses it. */
async function encrypted(pem: string, options: TlsOptions = {}): Promise<Box> {
	const server = createServer({cert: readFileSync(pem), key: readFileSync(pem), ...options}, (socket) => {
		const behind = connect(redis.port, '127.0.0.1');
		socket.pipe(behind).pipe(socket);
		for (const end of [socket, behind]) {
			end.on('error', () => {
				socket.destroy();
				behind.destroy();
			});
		}
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const box = createBox({CANHAZGPU_REDIS_PORT: String((server.address() as AddressInfo).port)});
	onTestFinished(() => {
		server.close();
		box.remove();
	});
	return box;
}

const forClients: TlsOptions = {ca: readFileSync(file('ca.pem')), requestCert: true, rejectUnauthorized: true};

test('the Redis store over TLS accepts a configured authority and a client certificate', async () => {
	const box = await encrypted(good, forClients);
	const environment = {...authority, CANHAZGPU_REDIS_TLS_CERT_FILE: own};
	expect(await box.run('admin --gpus 2 --provider fake --force', environment)).toMatchObject({exitCode: 0, stderr: ''});
	expect(await box.run('run -- echo done', environment)).toMatchObject({exitCode: 0, stdout: 'done\n'});
	const separate = {
		...authority,
		CANHAZGPU_REDIS_TLS_CERT_FILE: file('own.crt'),
		CANHAZGPU_REDIS_TLS_KEY_FILE: file('own.key'),
	};
	expect(await box.run('queue', separate)).toMatchObject({exitCode: 0, stdout: 'Nobody waits\n'});
});

test.each(
	firstCase<[what: string, pem: string, options: TlsOptions, environment: Record<string, string>, said: RegExp]>([
		[
			'an authority that is not configured',
			good,
			{},
			{CANHAZGPU_REDIS_TLS: 'true'},
			/: its certificate is not trusted \(\w+\)\nSet redis\.tls_ca_cert_file to the authority that signed the certificate\.\n$/v,
		],
		[
			'a certificate for another name',
			ofAnother,
			{},
			authority,
			/: its certificate is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)\nThe certificate is for another name: /v,
		],
		[
			'an expired certificate',
			expired,
			{},
			authority,
			/: its certificate is not trusted \(CERT_HAS_EXPIRED\)\nRenew the certificate/v,
		],
		[
			'a server that asks for a client certificate',
			good,
			forClients,
			authority,
			/: it refused TLS with this client \(ERR_SSL_\w+\)\nIf it requires a client certificate, set redis\.tls_cert_file/v,
		],
		[
			'a server that asks for a certificate with an older TLS version',
			good,
			{...forClients, maxVersion: 'TLSv1.2'},
			authority,
			/: it refused TLS with this client \([^\)]+\)\nIf it requires a client certificate, set redis\.tls_cert_file/v,
		],
		[
			'a connection without TLS to a TLS server',
			good,
			{},
			{},
			/: the connection was cut\nIs redis-server running there, and does it accept connections without TLS \(redis\.tls\)\? /v,
		],
		[
			'a missing CA file',
			good,
			{},
			{CANHAZGPU_REDIS_TLS_CA_CERT_FILE: '/nowhere/ca.pem'},
			/^Error: redis\.tls_ca_cert_file: cannot read \/nowhere\/ca\.pem: there is no such file\n/v,
		],
		[
			'a certificate without its key',
			good,
			forClients,
			{...authority, CANHAZGPU_REDIS_TLS_CERT_FILE: file('own.crt')},
			/^Error: The files of redis\.tls_\* cannot be used: .*\nThey must hold certificates, and a key /v,
		],
	]),
)('the Redis store over TLS fails with a hint for %s', async (_, pem, options, environment, said) => {
	const box = await encrypted(pem, options);
	const {stderr, stdout} = await box.run('status', environment);
	expect(stdout).toBe('');
	expect(stderr).toMatch(said);
});

test('the Redis store reports a server without TLS if TLS is configured', async () => {
	const box = createBox({CANHAZGPU_REDIS_PORT: String(redis.port)});
	onTestFinished(box.remove);
	const {exitCode, stderr} = await box.run('status', authority);
	expect(exitCode).toBe(4);
	expect(stderr).toMatch(/\nIs redis-server running there, and does it speak TLS \(redis\.tls\)\? /v);
});

test.each([undefined, new Error('Connection is closed.')])(
	'a connection that ends with the error %o may need TLS, according to the hint',
	(error) => {
		const {message, hint} = unreachable(endpointOf({host: 'localhost', port: 6379, db: 0}), error);
		expect(message).toBe('Cannot reach Redis at localhost:6379: the connection was cut');
		expect(hint).toContain('does it accept connections without TLS (redis.tls)?');
	},
);
