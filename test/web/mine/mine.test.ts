import {once} from 'node:events';
import {lstatSync, rmSync} from 'node:fs';
import {connect} from 'node:net';
import path from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {askSocket, createRuntimeDirectory, signIn, startMine, type Mine} from './_mine.js';

let box: Box;
let mine: Mine;
let page: Awaited<ReturnType<typeof signIn>>;
const runtime = createRuntimeDirectory();

beforeAll(async () => {
	box = await createEmbeddedBox(4);
	mine = await startMine(box, runtime.directory);
	page = await signIn(mine);
});

afterAll(async () => {
	await mine.end('SIGKILL');
	box.remove();
	runtime.remove();
});

type Gpu = Readonly<Record<'gpu_id' | 'state' | 'lease_id' | 'note' | 'expiry_time' | 'keep_until', string>>;
type Entry = Readonly<Record<string, unknown>>;

const gpus = async (): Promise<readonly Gpu[]> =>
	JSON.parse((await askSocket(mine.socketPath, '/api/status')).text) as readonly Gpu[];

const held = async (): Promise<readonly number[]> =>
	(await gpus()).filter(({state}) => state !== 'available').map((gpu) => Number(gpu.gpu_id));

test('web --mine creates its socket for its own account only, in a private directory', () => {
	// eslint-disable-next-line no-bitwise -- permissions are bits
	const modeOf = (file: string): number => lstatSync(file).mode & 0o777;
	expect(mine.socketPath).toBe(path.join(runtime.directory, 'canhazgpu', 'web.sock'));
	expect([modeOf(mine.socketPath), modeOf(path.dirname(mine.socketPath))]).toEqual([0o600, 0o700]);
	expect(mine.stdout()).toMatch(/ssh -L 8080:\S+\/canhazgpu\/web\.sock \S+@\S+/v);
});

test('the sign-in link of web --mine works only once', async () => {
	const open = async (token: string) =>
		askSocket(mine.socketPath, '/api/session', {method: 'POST', body: JSON.stringify({token})});
	expect((await open(mine.linkToken)).json()['error']).toMatch(/opened before/v);
	expect((await open('A'.repeat(32))).status).toBe(401);
	expect(mine.stderr()).toMatch(/The link was opened/v);
	expect(mine.stderr()).not.toContain(page.token);
});

test('web --mine refuses requests from other origins or without a token', async () => {
	const wanted = {gpus: [0], duration: '1h'};
	const refusals: ReadonlyArray<readonly [status: number, headers: Readonly<Record<string, string>>]> = [
		[401, {authorization: ''}],
		[401, {authorization: `Bearer ${'A'.repeat(32)}`}],
		[401, {authorization: `Bearer ${mine.linkToken}`}],
		[401, {authorization: '', cookie: `token=${page.token}`}],
		[403, {origin: 'https://evil.example'}],
		[403, {origin: 'http://localhost:8081'}],
		[403, {origin: 'null'}],
		[403, {origin: ''}],
		[403, {'sec-fetch-site': 'cross-site'}],
		[403, {'sec-fetch-site': 'same-site'}],
		[403, {'sec-fetch-site': 'none'}],
		[403, {'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document'}],
		[403, {host: 'evil.example', origin: 'https://evil.example'}],
		[415, {'content-type': 'text/plain'}],
		[415, {'content-type': 'application/x-www-form-urlencoded'}],
		[415, {'content-type': ''}],
		[411, {'content-length': '', 'transfer-encoding': 'chunked'}],
	];
	for (const [status, headers] of refusals) {
		expect([headers, (await page.act('reserve', wanted, {headers})).status]).toEqual([headers, status]);
	}

	expect((await page.act('reserve', {...wanted, note: 'x'.repeat(5000)})).status).toBe(413);
	for (const method of ['GET', 'PUT', 'OPTIONS', 'DELETE']) {
		const {status, headers} = await askSocket(mine.socketPath, '/api/act/reserve', {method});
		expect([method, status]).toEqual([method, 405]);
		expect(headers['access-control-allow-origin']).toBeUndefined();
	}

	for (const address of ['/api/status', '/api/act', '/api/act/reserve?x', '/api/act/%72eserve', '/api/act/kill', '/']) {
		const {status} = await askSocket(mine.socketPath, address, {method: 'POST', body: '{}'});
		expect([address, [404, 405, 413].includes(status)]).toEqual([address, true]);
	}

	expect(await held()).toEqual([]);
});

test('web --mine names the wrong input in its error and changes nothing', async () => {
	const wrong: ReadonlyArray<readonly [act: string, request: Readonly<Record<string, unknown>>, words: RegExp]> = [
		['reserve', {gpus: [0], duration: '2'}, /no unit/v],
		['reserve', {gpus: [0], duration: '0h'}, /more than zero/v],
		['reserve', {gpus: [9], duration: '2h'}, /GPU 9 is out of range/v],
		['reserve', {count: 9, duration: '2h'}, /the pool has 4/v],
		['reserve', {count: 1, gpus: [0], duration: '2h'}, /not both/v],
		['reserve', {count: 1.5, duration: '2h'}, /count/v],
		['reserve', {count: 1, duration: '2h', as: 'root'}, /as/v],
		['reserve', {count: 1, duration: '2h', force: 'yes'}, /force/v],
		['reserve', {count: 1, duration: '2h', id: 'short'}, /id/v],
		['reserve', {count: 1, duration: '2h', note: 'n'.repeat(501)}, /500/v],
		['release', {gpus: [0]}, /lease_id/v],
		['extend', {lease_id: 'gone', duration: '1h'}, /already ended/v],
		['keep', {lease_id: 'gone', duration: '1h'}, /already ended/v],
		['keep', {lease_id: 'gone'}, /duration/v],
		['leave', {entry_id: 'gone'}, /already ended/v],
	];
	for (const [act, request, words] of wrong) {
		const answer = await page.act(act, request);
		expect([act, request, answer.status >= 400 && answer.status < 500]).toEqual([act, request, true]);
		expect(answer.json()['error']).toMatch(words);
	}

	const {status, text} = await askSocket(mine.socketPath, '/api/act/reserve', {
		method: 'POST',
		headers: {authorization: `Bearer ${page.token}`},
		body: '{"id": ',
	});
	expect([status, text]).toEqual([400, expect.stringMatching(/not JSON/v)]);
	expect(await held()).toEqual([]);
});

test('each action of web --mine has the effect of its command, once for each request id', async () => {
	const id = crypto.randomUUID();
	const request = {id, gpus: [1, 2], duration: '1h', note: 'from the page'};
	const [first, again] = await Promise.all([page.act('reserve', request), page.act('reserve', request)]);
	expect(first.json()).toEqual({words: 'Reserved GPUs 1,2 for 1h 0m 0s', gpus: [1, 2]});
	expect(again.json()).toEqual(first.json());
	expect(await held()).toEqual([1, 2]);
	const [, one, two] = await gpus();
	expect(one).toMatchObject({note: 'from the page', lease_id: two!.lease_id});
	const leaseId = one!.lease_id;

	expect((await page.act('extend', {lease_id: leaseId, duration: '2h'})).json()['words']).toMatch(
		/^Extended GPUs 1,2 by 2h/v,
	);
	expect((Date.parse((await gpus())[1]!.expiry_time) - Date.parse(one!.expiry_time)) / 3_600_000).toBe(2);

	expect((await page.act('keep', {lease_id: leaseId, duration: '4h'})).json()).toEqual({
		words: 'Kept GPUs 1,2 for 4h 0m 0s even if idle',
		gpus: [1, 2],
	});
	const [, kept, alsoKept] = await gpus();
	expect(Date.parse(kept!.keep_until) - Date.now()).toBeGreaterThan(3.9 * 3_600_000);
	expect([alsoKept!.keep_until, kept!.expiry_time]).toEqual([kept!.keep_until, kept!.keep_until]);
	expect((await page.act('keep', {lease_id: leaseId, duration: '13h'})).json()['error']).toMatch(/at most 12h/v);

	const refused = await page.act('reserve', {gpus: [1], duration: '1h'});
	expect([refused.status, refused.json()['code']]).toEqual([409, 'unavailable']);
	const joined = await page.act('join', {gpus: [1], duration: '1h'});
	expect(joined.json()['words']).toMatch(/^Waiting for GPU 1: position 1 of 1/v);
	const {entries} = (await askSocket(mine.socketPath, '/api/queue')).json() as {readonly entries: readonly Entry[]};
	expect((await page.act('leave', {entry_id: entries[0]!['id']})).json()['words']).toBe('Left the queue');
	expect((await page.act('leave', {entry_id: entries[0]!['id']})).status).toBe(409);

	// A row that changed meanwhile belongs to another reservation.
	expect((await page.act('release', {lease_id: 'another', gpus: [1]})).status).toBe(409);
	expect((await page.act('release', {lease_id: leaseId, gpus: [1]})).json()).toMatchObject({
		words: 'Released GPU 1',
		gpus: [1],
	});
	expect(await held()).toEqual([2]);
	expect((await page.act('release', {lease_id: leaseId})).json()['gpus']).toEqual([2]);
	expect((await page.act('release', {lease_id: leaseId})).json()['error']).toMatch(/already ended/v);
});

test('web --mine grants GPUs to the queue entries that its page has made', async () => {
	await box.run('reserve --gpu-ids 0 --duration 1h');
	await page.act('join', {gpus: [0], duration: '30m', note: 'mine now'});
	await box.run('release');
	await expect.poll(async () => (await gpus())[0]!.note).toBe('mine now');
	await page.act('release', {lease_id: (await gpus())[0]!.lease_id});
	const entries = JSON.parse((await box.run('events --json')).stdout) as readonly Entry[];
	expect(entries.map(({kind, via}) => [kind, via]).filter(([kind]) => kind !== 'pool')).toEqual([
		['granted', 'web'],
		['extended', 'web'],
		['extended', 'web'],
		['idle', 'web'],
		['refused', 'web'],
		['joined', 'web'],
		['left', 'web'],
		['released', 'web'],
		['released', 'web'],
		['granted', undefined],
		['joined', 'web'],
		['released', undefined],
		['granted', 'web'],
		['released', 'web'],
	]);
	expect(entries.find(({kind}) => kind === 'granted')!['words']).toMatch(
		/ got GPUs 1,2 for 1h.*, in the browser · from the page$/v,
	);
});

test('web --mine says why a request has left the queue without GPUs', async () => {
	const small = await createEmbeddedBox(2);
	const place = createRuntimeDirectory();
	const server = await startMine(small, place.directory);
	onTestFinished(async () => {
		await server.end('SIGKILL');
		small.remove();
		place.remove();
	});
	const {act} = await signIn(server);
	await small.run('reserve --gpus 1 --duration 1h');
	const joined = (await act('join', {count: 2, duration: '1h'})).json();
	const entries = JSON.parse((await small.run('queue --json')).stdout) as Readonly<Record<'entries', readonly Entry[]>>;
	expect(joined['entry_id']).toBe(entries.entries[0]!['id']);
	expect(await small.run('admin --gpus 1 --provider fake --force')).toMatchObject({exitCode: 0});
	await expect.poll(server.stderr).toMatch(/Your request for 2 GPUs has left the queue: .*\n/v);
	expect(server.stderr()).not.toMatch(/bug|CanhazgpuError/v);
});

test('web --mine says so if a request was removed from the queue', async () => {
	const small = await createEmbeddedBox(1);
	const place = createRuntimeDirectory();
	const server = await startMine(small, place.directory);
	onTestFinished(async () => {
		await server.end('SIGKILL');
		small.remove();
		place.remove();
	});
	const {act} = await signIn(server);
	await small.run('reserve --duration 1h');
	const joined = (await act('join', {count: 1, duration: '1h'})).json();
	expect(await small.run(`queue --leave ${String(joined['entry_id'])}`)).toMatchObject({exitCode: 0});
	await expect
		.poll(server.stderr)
		.toMatch(/Your request for 1 GPU has left the queue: It was removed from the queue\n/v);

	const own = (await act('join', {gpus: [0], duration: '1h'})).json();
	expect((await act('leave', {entry_id: own['entry_id']})).json()).toMatchObject({words: 'Left the queue'});
	// A message about this request would arrive before that about the next one.
	const next = (await act('join', {count: 1, duration: '1h'})).json();
	await small.run(`queue --leave ${String(next['entry_id'])}`);
	await expect.poll(server.stderr).toMatch(/(?:Your request for 1 GPU has left the queue.*\n){2}/v);
	expect(server.stderr()).not.toContain('GPU 0');
});

test('web --mine reports no bug if a browser closes the connection in the middle of a request', async () => {
	const place = createRuntimeDirectory();
	const server = await startMine(box, place.directory);
	onTestFinished(async () => {
		await server.end('SIGKILL');
		place.remove();
	});
	const socket = connect(server.socketPath);
	const head = [
		'POST /api/session HTTP/1.1',
		'Host: localhost:8080',
		'Origin: http://localhost:8080',
		'Content-Length: 100',
	];
	// The server answers 100 when it begins to read the body.
	socket.write([...head, 'Content-Type: application/json', 'Expect: 100-continue', '', ''].join('\r\n'));
	expect(String((await once(socket, 'data'))[0])).toContain('100 Continue');
	socket.destroy();
	expect((await askSocket(server.socketPath, '/help')).status).toBe(200);
	await server.end('SIGTERM');
	expect(server.stderr()).not.toContain('bug');
});

test('web --mine undoes a release once, with the same end and note, unless somebody else has the GPU', async () => {
	await page.act('reserve', {gpus: [1, 2], duration: '1h', note: 'kept'});
	const [, before] = await gpus();
	const released = (await page.act('release', {lease_id: before!.lease_id, gpus: [1]})).json();
	expect(released).toEqual({
		words: 'Released GPU 1',
		gpus: [1],
		undo: {id: expect.stringMatching(/^[\w\-]{36}$/v) as string, seconds: 10},
	});
	const {id: undoId} = released['undo'] as {readonly id: string};
	expect((await page.act('undo', {undo_id: undoId})).json()['words']).toBe(
		'Reserved GPU 1 again, until the same time as before',
	);
	const [, again] = await gpus();
	expect(again).toMatchObject({note: 'kept', expiry_time: before!.expiry_time});
	expect((await page.act('undo', {undo_id: undoId})).json()['error']).toBe('That release can no longer be undone');
	const taken = (await page.act('release', {lease_id: again!.lease_id})).json();
	await box.run('reserve --gpu-ids 1 --user zoe --duration 1h');
	const late = await page.act('undo', {undo_id: (taken['undo'] as {readonly id: string}).id});
	expect([late.status, late.json()['error']]).toEqual([409, expect.stringMatching(/^Not undone: GPU 1 is held by /v)]);
	expect((await page.act('undo', {undo_id: 'never offered'})).status).toBe(409);
	await box.run('release --gpu-ids 1,2');
});

test('a second web --mine is refused, and a new web --mine replaces the socket of a dead server', async () => {
	const environment = {XDG_RUNTIME_DIR: runtime.directory};
	const second = await box.run('web --mine', environment);
	expect(second).toMatchObject({exitCode: 1, stdout: ''});
	expect(second.stderr).toContain(`A server already listens at ${mine.socketPath}`);
	expect(second.stderr).toContain(`kill ${mine.pid}`);
	expect((await askSocket(mine.socketPath, '/api/mine')).status).toBe(200);

	const dead = createRuntimeDirectory();
	onTestFinished(dead.remove);
	const killed = await startMine(box, dead.directory);
	await killed.end('SIGKILL');
	expect(lstatSync(killed.socketPath).isSocket()).toBe(true);
	const next = await startMine(box, dead.directory);
	onTestFinished(async () => {
		await next.end('SIGKILL');
	});
	expect((await askSocket(next.socketPath, '/api/mine')).status).toBe(200);
	expect(await next.end('SIGTERM')).toBe(0);
	expect(lstatSync(next.socketPath, {throwIfNoEntry: false})).toBeUndefined();
});

test('web --mine prints no link after its socket has been deleted', async () => {
	const place = createRuntimeDirectory();
	onTestFinished(place.remove);
	const terminal = openTerminal(starter, [...starterText, 'web', '--mine'], {
		cwd: box.home,
		environment: {...box.environment, XDG_RUNTIME_DIR: place.directory},
	});
	onTestFinished(terminal.close);
	await terminal.waitFor('Press Enter for another link');
	terminal.write('\r');
	await terminal.waitFor(/Another link, which works once within 10 minutes.*#token=/sv);
	const before = terminal.mark();
	rmSync(path.join(place.directory, 'canhazgpu'), {recursive: true});
	terminal.write('\r');
	await terminal.waitFor('has been deleted, so no link works any more');
	expect(terminal.rawSince(before)).toContain('start canhazgpu web --mine again');
	expect(terminal.rawSince(before)).not.toContain('#token=');
});

test('web --mine --host with a public address exits with 2', async () => {
	const {exitCode, stdout, stderr} = await box.run('web --mine --host 0.0.0.0');
	expect([exitCode, stdout]).toEqual([2, '']);
	expect(stderr).toMatch(/--host is for a public dashboard/v);
});
