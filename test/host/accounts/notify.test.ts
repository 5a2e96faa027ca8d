/** Notifications to an account: on a real terminal, by a real program, and to a real web server. */
import {Buffer} from 'node:buffer';
import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {json} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {createNotifier, linesOf, type NotifyOptions} from '../../../source/host/accounts/notify.js';
import {createUsers} from '../../../source/host/accounts/users.js';
import {eventually} from '../../_helpers/eventually.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';

const users = createUsers();
const me = users.nameOfSync(process.getuid!());
const data = {kind: 'ending', gpu_ids: [3]};
const message = {account: me, text: 'GPU 3 ends in 10m', json: JSON.stringify(data)};

const notifier = (options: Partial<NotifyOptions>) =>
	createNotifier({
		usesTerminals: false,
		command: undefined,
		webhook: undefined,
		users,
		run: async () => ({stdout: '', stderr: '', exitCode: 0}),
		...options,
	});

function directory(): string {
	const made = mkdtempSync(path.join(tmpdir(), 'chg-notify-'));
	onTestFinished(() => {
		rmSync(made, {recursive: true});
	});
	return made;
}

/** Listens until the test ends. */
async function portOf(server: Server): Promise<number> {
	server.listen(0, '127.0.0.1');
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

test('linesOf finds the terminals of an account in the output of who and ignores other devices', () => {
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

/** A terminal in which nothing runs but `sleep`. */
async function terminal() {
	const opened = openTerminal('/bin/sh', ['-c', 'tty; exec sleep 60']);
	onTestFinished(async () => opened.close());
	const screen = await opened.waitFor(/\/dev\/pts\/\d+/v);
	const device = screen.find((line) => line.startsWith('/dev/'))!;
	return {opened, device, who: `${me} ${device.slice(5)} 2026-11-21 10:00\n`};
}

const notifyThrough = async (who: string, account = me) =>
	notifier({usesTerminals: true, run: async () => ({stdout: who, stderr: '', exitCode: 0})})({...message, account});

test('a notification appears only on a terminal that accepts messages', async () => {
	const {opened, device, who} = await terminal();
	chmodSync(device, 0o600);
	expect(await notifyThrough(who)).toEqual([]);
	chmodSync(device, 0o620);
	// Logged in there once, according to an outdated list.
	await notifyThrough(who.replace(me, 'somebody'), 'somebody');
	const mark = opened.mark();
	expect(await notifyThrough(who)).toEqual([]);
	const screen = await opened.waitFor('GPU 3 ends in 10m');
	expect(screen.filter((line) => line.includes('GPU 3'))).toHaveLength(1);
	expect(opened.rawSince(mark)).toMatch(/^\r+\nGPU 3 ends in 10m\r+\n$/v);
});

test('a notification to a missing terminal, or to a plain file in its place, causes no error', async () => {
	const devices = directory();
	const file = path.join(devices, 'tty9');
	writeFileSync(file, '');
	chmodSync(file, 0o666);
	const notify = notifier({
		usesTerminals: true,
		devices,
		run: async () => ({stdout: `${me} tty9 x\n${me} tty8 x\n`, stderr: '', exitCode: 0}),
	});
	expect(await notify(message)).toEqual([]);
	expect(readFileSync(file, 'utf8')).toBe('');
});

test('notify.command receives the text and the data, without a shell and without secrets', async () => {
	const out = path.join(directory(), 'out');
	process.env['CANHAZGPU_REDIS_PASSWORD'] = 'secret';
	onTestFinished(() => {
		delete process.env['CANHAZGPU_REDIS_PASSWORD'];
	});
	const script = String.raw`printf "%s\n" "$1" "$CANHAZGPU_NOTICE_ACCOUNT" "$CANHAZGPU_NOTICE_TEXT" "[$CANHAZGPU_REDIS_PASSWORD]" > "$2"; cat >> "$2"`;
	const command = ['/bin/sh', '-c', script, 'sh', '$(id) `id` ; x', out];
	expect(await notifier({command})(message)).toEqual([]);
	expect(readFileSync(out, 'utf8').split('\n')).toEqual(['$(id) `id` ; x', me, message.text, '[]', message.json, '']);
});

test('a failed notification is reported and does not throw', async () => {
	expect(await notifier({command: ['/bin/sh', '-c', 'exit 3']})(message)).toEqual(['notify.command: it ended with 3']);
	expect(await notifier({command: ['/nowhere/program']})(message)).toEqual([
		'notify.command: spawn /nowhere/program ENOENT',
	]);
	// A program that does not read its stdin.
	expect(await notifier({command: ['/bin/true']})({...message, json: 'x'.repeat(1_000_000)})).toEqual([]);
	const [problem] = await notifier({webhook: 'http://127.0.0.1:1/'})(message);
	expect(problem).toMatch(/^notify\.webhook: /v);
});

test('notify.webhook receives the data, and an error status or a redirect is reported', async () => {
	const heard: unknown[] = [];
	const server = createServer((request, response) => {
		void (async () => {
			heard.push([request.method, request.headers['content-type'], await json(request)]);
			response.writeHead(request.url === '/ok' ? 204 : request.url === '/away' ? 302 : 500, {location: '/ok'});
			response.end();
		})();
	});
	const port = await portOf(server);
	const notify = async (place: string) => notifier({webhook: `http://127.0.0.1:${port}${place}`})(message);
	expect(await notify('/ok')).toEqual([]);
	expect(heard).toEqual([['POST', 'application/json', data]]);
	expect(await notify('/refused')).toEqual(['notify.webhook: it answered 500']);
	expect(await notify('/away')).toHaveLength(1);
	expect(heard).toHaveLength(3);
});

test('a notify.command that cannot be started is reported', async () => {
	const command = ['/bin/true'];
	for (const [options, said] of [
		[{...message, account: 'a\0b'}, /null bytes/v],
		[{...message, account: 'a'.repeat(300_000)}, /E2BIG/v],
	] as const) {
		const [problem] = await notifier({command})(options);
		expect(problem).toMatch(said);
	}

	expect(await notifier({command: ['/etc/passwd/x']})(message)).toEqual([
		expect.stringMatching(/^notify\.command: .*ENOTDIR/v),
	]);
	expect(await notifier({command: ['']})(message)).toHaveLength(1);
});

test('credentials in the notify.webhook URL are sent in a header and appear in no error', async () => {
	const heard: unknown[] = [];
	const server = createServer((request, response) => {
		heard.push(request.headers.authorization, request.url);
		response.end();
	});
	const port = await portOf(server);
	expect(await notifier({webhook: `http://us%40er:hunter2@127.0.0.1:${port}/a?b`})(message)).toEqual([]);
	expect(heard).toEqual([`Basic ${Buffer.from('us@er:hunter2').toString('base64')}`, '/a?b']);
	const [problem] = await notifier({webhook: 'http://user:hunter2@127.0.0.1:1/token'})(message);
	expect(problem).toMatch(/^notify\.webhook: /v);
	expect(problem).not.toMatch(/hunter2|token/v);
});

test('a hanging notify.command or webhook is ended, with its child processes, when the sender finishes', async () => {
	const pids = path.join(directory(), 'pids');
	const ended = new AbortController();
	const port = await portOf(createServer(() => undefined));
	const notifying = notifier({
		command: ['/bin/sh', '-c', 'sleep 60 & echo $$ $! > "$1"; wait', 'sh', pids],
		webhook: `http://127.0.0.1:${port}/`,
	})(message, ended.signal);
	let started: readonly string[] = [];
	await eventually(() => {
		started = readFileSync(pids, 'utf8').trim().split(' ');
		return started.length === 2;
	});
	ended.abort();
	expect(await notifying).toEqual([
		'notify.command: it ended with SIGKILL',
		expect.stringMatching(/^notify\.webhook: .*abort/v),
	]);
	const isGone = (pid: string) =>
		!existsSync(`/proc/${pid}`) || /^State:\s+Z/mv.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	await eventually(() => started.every((pid) => isGone(pid)));
});
