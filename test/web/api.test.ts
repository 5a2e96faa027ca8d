import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {Ajv} from 'ajv';
import {schemas} from '../../source/help/schema/index.js';
import {createEmbeddedBox, type Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {start} from '../_helpers/program/processes.js';
import {slowTest} from '../_helpers/slow.js';
import {ask, askJson, listenTo, scriptOf, startWeb, type Web} from './_server.js';

type Row = Readonly<Record<string, unknown>>;

let box: Box;
let web: Web;

beforeAll(async () => {
	box = await createEmbeddedBox(4);
	web = await startWeb(box);
	await box.run(['reserve', '--gpu-ids', '1', '--duration', '1h', '--note', 'try\u{1B}[31m', '--user', 'team']);
});

afterAll(async () => {
	await web.end('SIGKILL');
	box.remove();
});

test('web prints nothing but its local address on stdout', () => {
	expect(web.stdout()).toMatch(/^Dashboard: http:\/\/127\.0\.0\.1:\d+\/\n$/v);
	expect(web.stderr()).toBe('');
});

test("/api/status has the keys of the Go canhazgpu's API and adds absolute times", async () => {
	const rows = await askJson<readonly Row[]>(web.port, '/api/status');
	expect(rows).toHaveLength(4);
	expect(rows[0]).toMatchObject({gpu_id: 0, status: 'AVAILABLE', provider: 'Fake', gpu_model: 'Simulated H100 80GB'});
	expect(rows[0]).not.toHaveProperty('user');
	expect(rows[1]).toMatchObject({gpu_id: 1, status: 'IN_USE', reservation_type: 'manual', note: 'try'});
	expect(rows[1]).toMatchObject({user: 'team', actual_user: expect.stringMatching(/^[\w\-]+$/v) as unknown});
	// In nanoseconds.
	expect(Number(rows[1]!['duration']) % 1e9).toBe(0);
	expect(Date.parse(String(rows[1]!['expiry_time'])) - Date.now()).toBeGreaterThan(3_500_000);
	expect(rows[1]).not.toHaveProperty('type');
	expect(rows[1]).not.toHaveProperty('details');
});

test('/api/jobs shows the jobs of all accounts without the details that only their owners may see', async () => {
	expect(await askJson(web.port, '/api/jobs')).toEqual([]);
	expect(
		await box.run(['run', '--detach', '--begin', '2h', '--', 'sh', 'train.sh', '--api-key', 'secret123']),
	).toMatchObject({exitCode: 0, stdout: '1\n'});
	onTestFinished(async () => {
		await box.run('cancel 1');
	});
	const jobs = await askJson<readonly Row[]>(web.port, '/api/jobs');
	expect(jobs).toMatchObject([{id: '1', state: 'pending', command: 'sh train.sh --api-key ***', requested_count: 1}]);
	expect(jobs[0]).not.toHaveProperty('directory');
	expect(jobs[0]).not.toHaveProperty('output');
	const {default: schema} = await schemas['jobs']!();
	expect(new Ajv().compile(schema)(jobs)).toBe(true);
});

test('/api/queue shows each waiting entry with its request and its wait', async () => {
	expect(await askJson(web.port, '/api/queue')).toEqual({
		entries: [],
		total_waiting: 0,
		total_gpus_requested: 0,
		total_gpus_allocated: 0,
	});
	start(box, 'reserve --gpus 4 --wait 1h --note more');
	await eventually(async () => {
		const {entries} = await askJson<{entries: readonly Row[]}>(web.port, '/api/queue');
		expect(entries).toMatchObject([
			{
				requested_count: 4,
				requested_ids: [],
				allocated_gpus: [0, 2, 3],
				allocated_count: 3,
				reservation_type: 'manual',
				note: 'more',
				position: 1,
			},
		]);
		expect(entries[0]!['wait_time']).toMatch(/^0h 0m \d+s$/v);
		expect(entries[0]!['wait_time_seconds']).toBeTypeOf('number');
		return true;
	});
});

test('/api/report groups by user or GPU, and limits the period to 365 days', async () => {
	const byUser = await askJson<{users: readonly Row[]}>(web.port, '/api/report?days=7');
	expect(byUser).toMatchObject({days: 7});
	expect(byUser.users.find(({name}) => name === 'team')).toMatchObject({manual_count: 1, run_count: 0});
	expect(await askJson(web.port, '/api/report')).toMatchObject({days: 30});
	const byGpu = await askJson<{users: readonly Row[]}>(web.port, '/api/report?by=gpu');
	expect(byGpu.users.map(({name}) => name)).toContain('GPU 1');
	for (const [query, days] of [
		['365', 365],
		['1000', 365],
		['0', 30],
		['x', 30],
		['-1', 30],
		['1e1', 30],
	] as const) {
		expect(await askJson(web.port, `/api/report?days=${query}`)).toMatchObject({days});
	}

	const {status, body} = await ask(web.port, '/api/report?by=moon');
	expect(status).toBe(400);
	expect(JSON.parse(body)).toEqual({error: 'by must be one of user, gpu, day, model, not "moon"'});
});

test('/api/hosts lists this host first, and /api/hosts/status answers 404 for an unknown host', async () => {
	const hosts = await askJson<ReadonlyArray<{name: string; is_local: boolean}>>(web.port, '/api/hosts');
	expect(hosts).toMatchObject([{is_local: true}]);
	for (const host of [hosts[0]!.name, 'localhost']) {
		const {statuses, ...rest} = await askJson<{statuses: readonly Row[]}>(web.port, `/api/hosts/status?host=${host}`);
		expect([statuses.length, rest]).toEqual([4, {host}]);
	}

	// The request that waited in an earlier test may still hold GPUs for a moment.
	await eventually(async () => {
		const [own, ...others] = await askJson<ReadonlyArray<Record<string, unknown>>>(web.port, '/api/hosts/status');
		expect(own).toMatchObject({host: hosts[0]!.name, summary: {total: 4, available: 3, in_use: 1}});
		expect(own!['statuses']).toHaveLength(4);
		expect(others).toEqual([]);
		return true;
	});
	for (const path of ['hosts/status', 'report']) {
		expect(await ask(web.port, `/api/${path}?host=elsewhere`)).toMatchObject({status: 404});
	}
});

test('the server supports ETag, 304, gzip and HEAD', async () => {
	const script = await scriptOf(web.port);
	const whole = await ask(web.port, script);
	const {etag} = whole.headers;
	expect(etag).toBeDefined();
	const again = await ask(web.port, script, {headers: {'if-none-match': etag!}});
	expect(again).toMatchObject({status: 304, body: ''});
	const squeezed = await fetch(new URL(script, web.url), {headers: {'accept-encoding': 'gzip'}});
	expect(squeezed.headers.get('content-encoding')).toBe('gzip');
	expect(await squeezed.text()).toBe(whole.body);
	const plain = await fetch(`${web.url}api/status`, {headers: {'accept-encoding': 'gzip'}});
	expect(plain.headers.get('content-encoding')).toBe('gzip');
	for (const path of ['/', '/api/status', '/api/events', '/metrics', '/healthz']) {
		const head = await ask(web.port, path, {method: 'HEAD'});
		expect([path, head.status, head.body]).toEqual([path, 200, '']);
	}
});

test('/metrics has values of every GPU, the queue and events', async () => {
	start(box, 'reserve --gpus 4 --wait 1h');
	await eventually(async () => {
		const {body, headers} = await ask(web.port, '/metrics');
		expect(headers['content-type']).toContain('text/plain');
		for (const line of [
			'canhazgpu_store_up 1',
			'canhazgpu_scan_up 1',
			'canhazgpu_gpu_state{gpu="1",state="in-use"} 1',
			'canhazgpu_gpu_state{gpu="1",state="available"} 0',
			'canhazgpu_gpu_memory_total_bytes{gpu="0"} 85520809984',
			'canhazgpu_queue_length 1',
		]) {
			expect(body.split('\n')).toContain(line);
		}

		expect(body).toMatch(/^canhazgpu_gpu_lease_info\{gpu="1",user="\w+",label="team",type="manual"\} 1$/mv);
		expect(body).toMatch(/^canhazgpu_gpu_temperature_celsius\{gpu="3"\} \d+$/mv);
		expect(body).toMatch(/^canhazgpu_gpu_power_watts\{gpu="3"\} [\d.]+$/mv);
		expect(body).toMatch(/^canhazgpu_gpu_utilization_ratio\{gpu="3"\} [\d.]+$/mv);
		expect(body).toMatch(/^canhazgpu_queue_wait_seconds\{position="1"\} [\d.]+$/mv);
		expect(body).toMatch(/^canhazgpu_grants_total \d+$/mv);
		return true;
	});
	expect(await askJson(web.port, '/healthz')).toEqual({status: 'ok'});
});

test('/api/events sends a complete state, then each change, with increasing ids', async () => {
	const stream = listenTo(web.port);
	onTestFinished(stream.close);
	await eventually(() => stream.messages.length > 0);
	const [first] = stream.messages;
	expect(first).toMatchObject({
		event: 'state',
		data: {gpu_count: 4, store: {live: true}, about: {hosts: [expect.anything()]}},
	});
	expect(first!.data['gpus']).toHaveLength(4);
	await box.run('release --user team');
	const released = performance.now();
	await eventually(() =>
		stream.messages.some(
			({event, data}) =>
				event === 'change' &&
				(data['gpus'] as readonly Row[]).some(({gpu_id: id, user}) => id === 1 && !String(user).includes('team')),
		),
	);
	// The server reads the store every 10 s even without an event.
	expect(performance.now() - released).toBeLessThan(8000);
	// Heartbeats have no id.
	const ids = stream.messages.flatMap(({id}) => id ?? []);
	expect(ids.toSorted((a, b) => a - b)).toEqual(ids);
	expect(new Set(ids).size).toBe(ids.length);
});

slowTest('/api/events is compressed for every client that accepts gzip', async () => {
	const texts = await Promise.all(
		[0, 1].map(async () => {
			const answer = await fetch(`${web.url}api/events`, {headers: {'accept-encoding': 'gzip'}});
			expect(answer.headers.get('content-encoding')).toBe('gzip');
			// The first message can be decompressed before the stream ends.
			let text = '';
			for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
				text += part;
				if (text.split('event: change').length > 2) {
					break;
				}
			}

			return text;
		}),
	);
	for (const text of texts) {
		const [, ...blocks] = text.split('\n\n').slice(0, -1);
		expect(blocks.length).toBeGreaterThan(2);
		for (const block of blocks) {
			expect(JSON.parse(/^data: (?<data>.*)$/mv.exec(block)!.groups!['data']!)).toBeTypeOf('object');
		}
	}
});

test('/help serves the help topics as plain text', async () => {
	const {body, headers} = await ask(web.port, '/help');
	expect(headers['content-type']).toContain('text/plain');
	expect(body).toMatch(/^\/help\/web +\w/mv);
	expect((await ask(web.port, '/help/metrics')).body).toContain('canhazgpu_store_up');
	for (const path of ['/help/moon', '/help/__proto__', '/help/../package.json']) {
		expect([path, (await ask(web.port, path)).status]).toEqual([path, 404]);
	}
});

test('/api/use returns ten-second means of the utilization of one GPU or all GPUs', async () => {
	await eventually(async () => {
		const all = await askJson<{
			step_seconds: number;
			gpus: Record<string, {utilization: ReadonlyArray<number | undefined>}>;
		}>(web.port, '/api/use?minutes=15');
		expect(all.step_seconds).toBe(10);
		expect(all.gpus['1']!.utilization).toHaveLength(90);
		expect(all.gpus['1']!.utilization.at(-1)).toBeTypeOf('number');
		return true;
	});
	expect(
		Object.keys((await askJson<{gpus: Record<string, unknown>}>(web.port, '/api/use?gpu=2&minutes=60')).gpus),
	).toEqual(['2']);
	expect(await ask(web.port, '/api/use?minutes=9999')).toMatchObject({status: 400});
});
