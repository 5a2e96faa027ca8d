/** Notices that are delivered to a real terminal, to real programs and to a real web server. */
import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import {createServer as createSocket, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {json as jsonOf} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import type {HttpRequest, ProgramRequest} from '../../../source/core/model/notice-request.js';
import {requestOf} from '../../../source/format/notices/requests.js';
import {createUsers} from '../../../source/host/accounts/users.js';
import {deliver, type DeliveryOptions} from '../../../source/host/notices/deliver.js';
import {linesOf} from '../../../source/host/notices/terminals.js';
import {eventually} from '../../_helpers/eventually.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';

const users = createUsers();
const me = users.nameOfSync(process.getuid!());
const text = 'GPU 3 ends in 10m';
const data = {kind: 'ending', gpu_ids: [3]};
const message = {account: me, hostname: 'box', text, json: JSON.stringify(data)};

const options: DeliveryOptions = {users, run: async () => ({stdout: '', stderr: '', exitCode: 0})};

const command = (...argv: readonly string[]) => requestOf({kind: 'exec', command: argv}, message) as ProgramRequest;

const webhook = (url: string) => requestOf({kind: 'webhook', url}, message) as HttpRequest;

const delivered = {outcome: 'delivered'};
const failed = (reason: unknown) => ({outcome: 'failed', reason});

function directory(): string {
	const made = mkdtempSync(path.join(tmpdir(), 'chg-notify-'));
	onTestFinished(() => {
		rmSync(made, {recursive: true});
	});
	return made;
}

/** Writes a program that appends its arguments and its input to a file. */
function writingProgram(place: string, out: string, exitCode = 0): string {
	const program = path.join(place, 'program');
	writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> ${out}\ncat >> ${out}\nexit ${exitCode}\n`);
	chmodSync(program, 0o755);
	return program;
}

/** Starts a server that listens until the test ends, and returns its port. */
async function portOf(server: Server): Promise<number> {
	server.listen(0, '127.0.0.1');
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

test('linesOf returns the terminals of an account in the output of who', () => {
	const who = `alice    pts/0        2026-11-21 10:00 (10.0.0.1)
alice    tty1         2026-11-21 10:00
alicea   pts/1        2026-11-21 10:00
alice    ../../etc/x  2026-11-21 10:00
alice    :0           2026-11-21 10:00
alice
`;
	expect(linesOf('alice', who)).toEqual(['pts/0', 'tty1']);
	expect(linesOf('', who)).toEqual([]);
});

test('linesOf returns the terminal after the name of the login service', () => {
	const who = `paul     sshd pts/0   2025-08-02 15:15 (10.0.4.1)
paul     login tty1   2025-08-02 15:15
paul     seat0        2025-08-02 15:15
`;
	expect(linesOf('paul', who)).toEqual(['pts/0', 'tty1']);
});

/** Opens a terminal in which only `sleep` runs. */
async function terminal() {
	const opened = openTerminal('/bin/sh', ['-c', 'tty; exec sleep 60']);
	onTestFinished(async () => opened.close());
	const screen = await opened.waitFor(/\/dev\/pts\/\d+/v);
	const device = screen.find((line) => line.startsWith('/dev/'))!;
	return {opened, device, who: `${me} ${device.slice(5)} 2026-11-21 10:00\n`};
}

const deliverThrough = async (who: string, account = me, devices?: string) =>
	deliver(
		{type: 'terminal', account, text},
		{...options, devices, run: async () => ({stdout: who, stderr: '', exitCode: 0})},
	);

const nobody = {outcome: 'absent', reason: 'no terminal of this account accepts messages (see: mesg y)'};

test('a notice is written only to a terminal that accepts messages', async () => {
	const {opened, device, who} = await terminal();
	chmodSync(device, 0o600);
	expect(await deliverThrough(who)).toEqual(nobody);
	chmodSync(device, 0o620);
	// An outdated list says that another account is logged in on this terminal.
	expect(await deliverThrough(who.replace(me, 'somebody'), 'somebody')).toEqual(nobody);
	const mark = opened.mark();
	expect(await deliverThrough(who)).toEqual(delivered);
	const screen = await opened.waitFor(text);
	expect(screen.filter((line) => line.includes('GPU 3'))).toHaveLength(1);
	expect(opened.rawSince(mark)).toMatch(/^\r+\nGPU 3 ends in 10m\r+\n$/v);
});

test('a notice is not written to a missing terminal or a plain file in its place', async () => {
	const devices = directory();
	const file = path.join(devices, 'tty9');
	writeFileSync(file, '');
	chmodSync(file, 0o666);
	expect(await deliverThrough(`${me} tty9 x\n${me} tty8 x\n`, me, devices)).toEqual(nobody);
	expect(readFileSync(file, 'utf8')).toBe('');
});

test('a notification program receives the text and the data without a shell or secrets', async () => {
	const out = path.join(directory(), 'out');
	process.env['CANHAZGPU_REDIS_PASSWORD'] = 'secret';
	onTestFinished(() => {
		delete process.env['CANHAZGPU_REDIS_PASSWORD'];
	});
	const script = String.raw`printf "%s\n" "$1" "$CANHAZGPU_NOTICE_ACCOUNT" "$CANHAZGPU_NOTICE_TEXT" "[$CANHAZGPU_REDIS_PASSWORD]" > "$2"; cat >> "$2"`;
	const request = command('/bin/sh', '-c', script, 'sh', '$(id) `id` ; x', out);
	expect(await deliver(request, options)).toEqual(delivered);
	expect(readFileSync(out, 'utf8').split('\n')).toEqual(['$(id) `id` ; x', me, text, '[]', message.json, '']);
});

test('a notification program that fails or cannot be started is reported', async () => {
	expect(await deliver(command('/bin/sh', '-c', 'exit 3'), options)).toEqual(failed('it ended with exit code 3'));
	expect(await deliver(command('/nowhere/program'), options)).toEqual(failed('spawn /nowhere/program ENOENT'));
	expect(await deliver(command('/etc/passwd/x'), options)).toEqual(failed(expect.stringMatching(/ENOTDIR/v)));
	expect(await deliver(command(''), options)).toMatchObject({outcome: 'failed'});
	for (const [account, said] of [
		['a\0b', /null bytes/v],
		['a'.repeat(300_000), /E2BIG/v],
	] as const) {
		const request = requestOf({kind: 'exec', command: ['/bin/true']}, {...message, account});
		expect(await deliver(request, options)).toEqual(failed(expect.stringMatching(said)));
	}
});

test('a notification program may ignore its input', async () => {
	const request = requestOf({kind: 'exec', command: ['/bin/true']}, {...message, json: 'x'.repeat(1_000_000)});
	expect(await deliver(request, options)).toEqual(delivered);
});

test('a mail is passed to sendmail, or to mail if sendmail is missing', async () => {
	const place = directory();
	const out = path.join(place, 'out');
	const program = writingProgram(place, out);
	const request = requestOf({kind: 'mail', address: 'alice@example.org'}, message);
	const having = (name: string | undefined) => ({
		...options,
		findTool: (wanted: string) => (wanted === name ? program : undefined),
	});
	expect(await deliver(request, having('sendmail'))).toEqual(delivered);
	expect(readFileSync(out, 'utf8')).toMatch(
		/^-i\nalice@example\.org\nTo: alice@example\.org\nSubject: canhazgpu on box\n/v,
	);
	rmSync(out);
	expect(await deliver(request, having('mail'))).toEqual(delivered);
	expect(readFileSync(out, 'utf8')).toBe(`-s\ncanhazgpu on box\n--\nalice@example.org\n${me}: ${text}\n`);
	expect(await deliver(request, having(undefined))).toEqual(failed('sendmail or mail is not installed'));
	writingProgram(place, out, 75);
	expect(await deliver(request, having('sendmail'))).toEqual(failed('it ended with exit code 75'));
});

test('a desktop notification is sent on the session bus, and a missing session bus is reported', async () => {
	const place = directory();
	const out = path.join(place, 'out');
	const program = path.join(place, 'notify-send');
	writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$DBUS_SESSION_BUS_ADDRESS" "$@" > ${out}\n`);
	chmodSync(program, 0o755);
	const bus = path.join(place, 'bus');
	const server = createSocket().listen(bus);
	onTestFinished(() => {
		server.close();
	});
	const request = requestOf({kind: 'desktop'}, message);
	const tools = {...options, findTool: () => program};
	expect(await deliver(request, {...tools, findBus: () => bus})).toEqual(delivered);
	expect(readFileSync(out, 'utf8').split('\n')).toEqual([
		`unix:path=${bus}`,
		'--app-name=canhazgpu',
		'--',
		'canhazgpu',
		text,
		'',
	]);
	expect(await deliver(request, {...tools, findBus: () => undefined})).toEqual({
		outcome: 'absent',
		reason: 'no desktop session of this account runs here',
	});
});

test('a webhook receives the data, and an error status or a redirect is reported', async () => {
	const heard: unknown[] = [];
	const server = createServer((request, response) => {
		void (async () => {
			heard.push([request.method, request.headers['content-type'], await jsonOf(request)]);
			response.writeHead(request.url === '/ok' ? 204 : request.url === '/away' ? 307 : 500, {location: '/ok'});
			response.end();
		})();
	});
	const port = await portOf(server);
	const send = async (place: string) => deliver(webhook(`http://127.0.0.1:${port}${place}`), options);
	expect(await send('/ok')).toEqual(delivered);
	expect(heard).toEqual([['POST', 'application/json', data]]);
	expect(await send('/refused')).toEqual(failed('it answered 500'));
	expect(await send('/away')).toEqual(failed('it answered 307. Redirects are not followed'));
	expect(heard).toHaveLength(3);
});

test('credentials in a webhook URL are sent in a header and never appear in an error', async () => {
	const heard: unknown[] = [];
	const server = createServer((request, response) => {
		heard.push(request.headers.authorization, request.url);
		response.end();
	});
	const port = await portOf(server);
	expect(await deliver(webhook(`http://us%40er:hunter2@127.0.0.1:${port}/a?b`), options)).toEqual(delivered);
	expect(heard).toEqual(['Basic dXNAZXI6aHVudGVyMg==', '/a?b']);
	const refused = await deliver(webhook('http://user:hunter2@127.0.0.1:1/token?key=hunter2'), options);
	expect(refused).toEqual(failed(expect.stringMatching(/^(?!.*(?:hunter2|token)).+/v)));
});

test('a hanging program or webhook is abandoned when the sender finishes', async () => {
	const pids = path.join(directory(), 'pids');
	const ended = new AbortController();
	const port = await portOf(createServer(() => undefined));
	const sending = Promise.all([
		deliver(command('/bin/sh', '-c', 'sleep 60 & echo $$ $! > "$1"; wait', 'sh', pids), options, ended.signal),
		deliver(webhook(`http://127.0.0.1:${port}/`), options, ended.signal),
	]);
	let started: readonly string[] = [];
	await eventually(() => {
		started = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split(' ') : [];
		return started.length === 2;
	});
	ended.abort();
	expect(await sending).toEqual([failed('it did not end in time'), failed(expect.stringMatching(/abort/v))]);
	const isGone = (pid: string) =>
		!existsSync(`/proc/${pid}`) || /^State:\s+Z/mv.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	await eventually(() => started.every((pid) => isGone(pid)));
});
