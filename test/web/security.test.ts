/** Attacks by a stranger on the network, or by another site's page in a local browser. */
import {hostname} from 'node:os';
import {connect} from 'node:net';
import {once} from 'node:events';
import {Hono} from 'hono';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {CanhazgpuError} from '../../source/errors.js';
import {hostnameOf, type Bindings} from '../../source/web/server/guard.js';
import {startServer} from '../../source/web/server/server.js';
import {createEmbeddedBox, type Box} from '../_helpers/program/cli.js';
import {ask, pathsIn, rawExchange, scriptOf, startWeb, type Web} from './_server.js';

let box: Box;
let web: Web;

beforeAll(async () => {
	box = await createEmbeddedBox(2);
	web = await startWeb(box, [], {
		CANHAZGPU_WEB_ALLOWED_HOSTS: 'gpus.example.org,Proxied.example.org:8443,dotted.example.org.',
	});
});

afterAll(async () => {
	await web.end('SIGKILL');
	box.remove();
});

const statusFor = async (host: string): Promise<number> =>
	(await ask(web.port, '/api/status', {headers: {host}})).status;

test('the server answers only requests for its own host names, as a protection against DNS rebinding', async () => {
	for (const ours of [
		'localhost',
		'LOCALHOST:8080',
		'127.0.0.1',
		`127.0.0.1:${web.port}`,
		'[::1]:80',
		hostname(),
		'gpus.example.org',
		'proxied.example.org:8443',
		'dotted.example.org',
		'localhost.',
	]) {
		expect([ours, await statusFor(ours)]).toEqual([ours, 200]);
	}

	for (const theirs of [
		'evil.example',
		'localhost.evil.example',
		'127.0.0.1.evil.example',
		'10.0.0.1',
		'[::2]',
		'0.0.0.0',
		'a b',
		'localhost@evil.example',
		'127.1',
		'evil.example#localhost',
	]) {
		expect([theirs, [400, 403].includes(await statusFor(theirs))]).toEqual([theirs, true]);
	}

	for (const header of ['', 'host:\r\n']) {
		const {answer} = await rawExchange(web.port, `GET / HTTP/1.1\r\n${header}connection: close\r\n\r\n`);
		expect(answer).toMatch(/^HTTP\/1\.1 400 /v);
	}

	const absolute = await rawExchange(
		web.port,
		'GET https://evil.example/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
	);
	expect(absolute.answer).toMatch(/^HTTP\/1\.1 4\d\d /v);
});

test('hostnameOf returns the host of a Host header, and undefined for an invalid header', () => {
	expect(hostnameOf('Box:80')).toBe('box');
	expect(hostnameOf('[::1]:80')).toBe('::1');
	expect(hostnameOf('box:80:80')).toBeUndefined();
	expect(hostnameOf(undefined)).toBeUndefined();
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
	'the server refuses the method %s',
	async (method) => {
		for (const path of ['/', '/api/status', '/nowhere']) {
			const {status, headers} = await ask(web.port, path, {method});
			expect([path, status, headers.allow]).toEqual([path, 405, 'GET, HEAD']);
		}
	},
);

test('the server refuses CONNECT and protocol upgrades', async () => {
	expect((await rawExchange(web.port, 'CONNECT evil.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n')).answer).toBe('');
	const upgrade = 'GET /api/events HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
	expect((await rawExchange(web.port, upgrade)).answer).toBe('');
});

test("the headers of every answer keep data from other origins and allow only the page's own files", async () => {
	for (const path of [
		'/',
		'/icon.svg',
		'/api/status',
		'/api/events',
		'/metrics',
		'/nowhere',
		await scriptOf(web.port),
	]) {
		const method = path === '/api/events' ? 'HEAD' : 'GET';
		const {headers} = await ask(web.port, path, {method, headers: {origin: 'https://evil.example'}});
		const cors = Object.keys(headers).filter((name) => name.startsWith('access-control'));
		expect(cors).toEqual([]);
		expect(headers).not.toHaveProperty('x-powered-by');
		expect(headers).not.toHaveProperty('server');
		expect(headers).toMatchObject({
			'x-content-type-options': 'nosniff',
			'cross-origin-resource-policy': 'same-origin',
		});
		// A script is not a document and has no document headers.
		const isDocument = !path.startsWith('/page/');
		expect([path, 'content-security-policy' in headers]).toEqual([path, isDocument]);
		if (!isDocument) {
			expect(JSON.stringify(headers).length).toBeLessThan(500);
			continue;
		}

		const policy = headers['content-security-policy'];
		expect(policy).toContain("default-src 'none'");
		expect(policy).toContain("frame-ancestors 'none'");
		expect(policy).toContain("require-trusted-types-for 'script'");
		expect(policy).not.toMatch(/unsafe|\*|data:|http/v);
		expect(headers).toMatchObject({'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY'});
	}
});

test('the page is isolated from windows of other pages, in browsers that support this', async () => {
	const {headers} = await ask(web.port, '/', {headers: {'sec-fetch-site': 'none'}});
	expect(headers['cross-origin-opener-policy']).toBe('same-origin');
});

test('the server refuses requests that pages of other sites make, but accepts links from them', async () => {
	const statusOf = async (path: string, site: string, mode: string, dest: string): Promise<number> => {
		const headers = {'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest};
		return (await ask(web.port, path, {headers})).status;
	};

	const script = await scriptOf(web.port);
	for (const site of ['cross-site', 'same-site']) {
		for (const path of ['/', '/api/hosts/status', '/api/events?hosts', '/metrics', script]) {
			expect(await statusOf(path, site, 'no-cors', 'image')).toBe(403);
			expect(await statusOf(path, site, 'cors', 'empty')).toBe(403);
			expect(await statusOf(path, site, 'navigate', 'iframe')).toBe(403);
		}

		expect(await statusOf('/', site, 'navigate', 'document')).toBe(200);
	}

	expect(await statusOf('/api/status', 'same-origin', 'cors', 'empty')).toBe(200);
	expect(await statusOf('/api/status', 'none', 'navigate', 'document')).toBe(200);
});

test('the page has no inline script or style, and loads nothing from elsewhere', async () => {
	const {body} = await ask(web.port, '/');
	expect(body).not.toMatch(/<style|style=|<script>|\son\w+=|javascript:|\/\/[a-z]/v);
	const own = pathsIn(body);
	// A style and a script, in folders named by content hashes.
	expect(own.map((path) => path.replace(/\/[\w\-]{8}\//v, '/HASH/')).toSorted()).toEqual([
		'/icon.svg',
		'/page/HASH/page.css',
		'/page/HASH/page.js',
	]);
	for (const path of own) {
		expect([path, (await ask(web.port, path)).status]).toEqual([path, 200]);
	}
});

test('files with a hash in their address are cached for a year, and the page is revalidated', async () => {
	const {headers, body} = await ask(web.port, '/');
	expect(headers['cache-control']).toBe('no-cache');
	for (const path of pathsIn(body)) {
		const isHashed = path.startsWith('/page/');
		expect([path, (await ask(web.port, path)).headers['cache-control']]).toEqual([
			path,
			isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
		]);
	}
});

/** Returns the names of files that a script loads lazily. */
const lateParts = (script: string): readonly string[] =>
	script
		.matchAll(/import\(["'`]\.\/(?<name>[\w\-]+\.js)["'`]/gv)
		.map((match) => match.groups!['name']!)
		.toArray();

test('the page loads with few small requests, and loads other views and charts separately', async () => {
	const {body: html} = await ask(web.port, '/');
	const paths = ['/', ...pathsIn(html)];
	expect(paths.length).toBeLessThanOrEqual(5);
	const sizes = await Promise.all(
		paths.map(async (path) => {
			const {headers} = await ask(web.port, path, {headers: {'accept-encoding': 'gzip, br'}});
			expect([path, headers['content-encoding'], headers.vary]).toEqual([path, 'br', 'accept-encoding']);
			return Number(headers['content-length']);
		}),
	);
	expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(16_000);
	// Over plain http, browsers accept only gzip.
	const scriptPath = paths.find((path) => path.endsWith('.js'))!;
	const {headers} = await ask(web.port, scriptPath, {headers: {'accept-encoding': 'gzip, deflate'}});
	expect(headers['content-encoding']).toBe('gzip');
	expect(Number(headers['content-length'])).toBeLessThan(14_200);
	const {body: script} = await ask(web.port, scriptPath);
	const details = lateParts(script).find((name) => name === 'details.js')!;
	const {body} = await ask(
		web.port,
		scriptPath.replace('page.js', () => details),
	);
	const chart = lateParts(body).find((name) => name === 'plot.js')!;
	expect(
		(
			await ask(
				web.port,
				scriptPath.replace('page.js', () => chart),
			)
		).body,
	).toContain('uplot');
	expect(body + script).not.toContain('uplot');
});

test('the server answers 404 for unknown paths and paths outside of its tree', async () => {
	const script = await scriptOf(web.port);
	for (const path of [
		'/..%2f..%2fetc/passwd',
		'/../../etc/passwd',
		'/page/../../package.json',
		'/page/%2e%2e/%2e%2e/package.json',
		`${script}%00`,
		'/%00',
		`${script}%00.html`,
		'/page/main.tsx',
		'//api/status',
		'/api//status',
		'/api/status/',
		'/page/',
		'/page',
		'/API/status',
		'/%61pi/status',
		'/./api/status',
		'/.git/config',
		'/favicon.ico',
		'/api/status;x',
		'/__proto__',
		'/constructor',
	]) {
		expect([path, (await ask(web.port, path)).status]).toEqual([path, 404]);
	}

	expect((await ask(web.port, script.replace('/page/', '/page\\'))).status).toBe(400);
});

test('the server refuses requests that are too large', async () => {
	const long = await ask(web.port, `/api/status?x=${'a'.repeat(20_000)}`).catch((error: unknown) => ({
		status: String(error),
	}));
	expect(String(long.status)).toMatch(/431|ECONNRESET|EPIPE/v);
	const many = `GET / HTTP/1.1\r\nhost: localhost\r\n${'x-y: z\r\n'.repeat(3000)}\r\n`;
	expect((await rawExchange(web.port, many)).answer).toMatch(/^(?:HTTP\/1\.1 431 .*)?/sv);
	const body = await rawExchange(web.port, 'GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\n');
	expect(body.answer).toMatch(/^HTTP\/1\.1 413 /v);
	const chunked = await rawExchange(
		web.port,
		'GET / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n',
	);
	expect(chunked.answer).toMatch(/^HTTP\/1\.1 413 /v);
	expect((await rawExchange(web.port, '\u{0}\u{1}\u{2}\r\n\r\n')).answer).toMatch(/^HTTP\/1\.1 400 /v);
	expect(await statusFor('localhost')).toBe(200);
});

describe('startServer', () => {
	const serve = async (limits: Parameters<typeof startServer>[2]) => {
		const routes = new Hono<Bindings>();
		routes.get('/', (context) => context.text('hello'));
		const server = await startServer({host: '127.0.0.1', port: 0}, Promise.resolve(routes), limits);
		onTestFinished(async () => server.close());
		return server;
	};

	test('disconnects a client with a slow request', async () => {
		const {port} = await serve({headersMs: 200});
		const dribble = await rawExchange(port, 'GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
		expect(dribble.answer).toMatch(/^HTTP\/1\.1 408 /v);
		expect(dribble.ms).toBeLessThan(5000);
		const silent = await rawExchange(port, '');
		expect(silent.ms).toBeLessThan(5000);
	});

	test('limits the number of connections, and accepts a new connection when another is closed', async () => {
		const {port} = await serve({mostConnections: 3, headersMs: 30_000});
		const sockets = await Promise.all(
			[1, 2, 3].map(async () => {
				const socket = connect(port, '127.0.0.1');
				await once(socket, 'connect');
				return socket;
			}),
		);
		// The connection is closed immediately, long before the timeout for headers.
		const fourth = await rawExchange(port, '');
		expect(fourth).toMatchObject({answer: ''});
		expect(fourth.ms).toBeLessThan(20_000);
		expect(sockets.filter(({destroyed}) => destroyed)).toEqual([]);
		for (const socket of sockets) {
			socket.destroy();
		}

		await expect.poll(async () => (await ask(port, '/').catch(() => undefined))?.body).toBe('hello');
	});

	test('fails for an address that is in use or not of this machine', async () => {
		const {port} = await serve({});
		await expect(startServer({host: '127.0.0.1', port}, Promise.resolve(new Hono<Bindings>()))).rejects.toThrow(
			CanhazgpuError,
		);
		await expect(startServer({host: '203.0.113.7', port: 0}, Promise.resolve(new Hono<Bindings>()))).rejects.toThrow(
			'203.0.113.7 is not an address of this machine',
		);
	});
});
