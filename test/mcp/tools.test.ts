/** Every tool, called by the client of the official SDK, which checks each result against the schema that the server announces. */
import {Ajv} from 'ajv';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {schemas} from '../../source/help/schema/index.js';
import {account} from '../_helpers/program/cli.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek, start} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {firstCase, slowTest} from '../_helpers/slow.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {connect, expectError} from './_client.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

const stores = [
	['redis', async () => freshRedisBox(redis.port, 3)],
	['embedded', async () => freshEmbeddedBox(3)],
] as const;

type Row = Readonly<Record<string, unknown>>;

describe.each(firstCase(stores))('mcp on %s', (_, createBox) => {
	test('lists the tools, each with a valid JSON schema and a description', async () => {
		const {client} = await connect(await createBox());
		const {tools} = await client.listTools();
		expect(tools.map(({name, annotations}) => [name, annotations?.readOnlyHint])).toEqual([
			['gpu_status', true],
			['gpu_reserve', false],
			['gpu_renew', false],
			['gpu_release', false],
			['gpu_queue', true],
			['gpu_why', true],
			['gpu_report', true],
			['gpu_run', false],
			['gpu_job', true],
			['gpu_logs', true],
			['gpu_cancel', false],
		]);
		expect(tools.filter(({annotations}) => annotations?.destructiveHint === true).map(({name}) => name)).toEqual([
			'gpu_cancel',
		]);
		for (const {name, inputSchema, description} of tools) {
			new Ajv({strict: true}).compile({...inputSchema, $schema: undefined});
			expect([name, inputSchema['additionalProperties'], description]).toEqual([
				name,
				false,
				expect.stringMatching(/\.$/v),
			]);
		}
	});

	test('reserves, renews, releases and reports GPUs like the commands', async () => {
		const box = await createBox();
		const agent = await connect(box, {flags: ['--user', 'agent of alice']});
		expect((await agent.call('gpu_status')).words).toMatch(/^3 of 3 GPUs are free: GPUs 0-2\. /v);

		const reserved = await agent.call('gpu_reserve', {count: 2, duration: '20m', note: 'fine-tune'});
		expect(reserved).toMatchObject({
			isError: false,
			json: {
				gpu_ids: [0, 1],
				user: 'agent of alice',
				actual_user: account,
				type: 'RUN',
				note: 'fine-tune',
				via: 'mcp claude-code',
			},
		});
		expect(reserved.words).toMatch(/You have reserved GPUs 0,1 for 0h 20m 0s .* export CUDA_VISIBLE_DEVICES=0,1$/v);

		const shown = (await agent.call('gpu_status')).json as readonly Row[];
		const printed = JSON.parse((await box.run('status --json')).stdout) as readonly Row[];
		const lasting = ({gpu_id, status, user, via, lease_id, ends_by, note}: Row) => ({
			gpu_id,
			status,
			user,
			via,
			lease_id,
			ends_by,
			note,
		});
		expect(shown.map((row) => lasting(row))).toEqual(printed.map((row) => lasting(row)));
		expect(shown.map((row) => Object.keys(row))).toEqual(printed.map((row) => Object.keys(row)));
		expect((await box.run('status')).stdout).toContain('fine-tune (via mcp claude-code)');

		const renewed = await agent.call('gpu_renew', {duration: '1h'});
		expect(renewed.json).toMatchObject({extended: [{gpu_id: 0}, {gpu_id: 1}], not_reserved: []});
		const {gpus} = await peek(box);
		expect(gpus[0]).toMatchObject({lease: {via: 'mcp claude-code'}});
		expect(gpus[0]?.kind === 'leased' && gpus[0].lease.endsBy! - gpus[0].lease.startTime).toBeGreaterThan(3500);

		expect((await agent.call('gpu_report', {days: 1})).json).toMatchObject({
			by: 'user',
			users: [{name: 'agent of alice'}],
		});
		expect((await agent.call('gpu_report', {days: 1, by: 'gpu'})).words).toMatch(/ GPU hours in the last 1 day, /v);

		const released = await agent.call('gpu_release');
		expect(released).toMatchObject({words: 'Released 2 GPU(s): [0 1].', json: {released: [{gpu_id: 0}, {gpu_id: 1}]}});
		expect(await holders(box)).toBe('0:- 1:- 2:-');
		expectError(await agent.call('gpu_release'), /^This connection holds no reservation\. /v);

		const {stdout} = await box.run('events');
		expect(stdout).toMatch(
			/got GPUs 0,1, via mcp claude-code · fine-tune\n.* extended GPUs 0,1.*, via mcp claude-code.*\n.* released GPUs 0,1, via mcp claude-code/v,
		);
		const events = JSON.parse((await box.run('events --json')).stdout) as readonly Row[];
		expect(events.filter(({via}) => via === 'mcp claude-code').map(({kind}) => kind)).toEqual([
			'granted',
			'extended',
			'released',
		]);
	});

	test('explains which requests wait and which reservation blocks them', async () => {
		const box = await createBox();
		const agent = await connect(box);
		await agent.call('gpu_reserve', {count: 3, note: 'all'});
		expect((await agent.call('gpu_queue')).words).toBe('Nobody waits.');
		const waiting = start(box, 'reserve --gpus 2');
		await waiting.says(/Waiting for 2 GPUs/v);
		const queue = await agent.call('gpu_queue');
		expect(queue.words).toMatch(/^#1 \S+ waits for 2 GPUs, .* so far; expected: in about 0h (?:29|30)m \d+s\.$/v);
		expect(
			new Ajv({strict: false}).validate({...(await schemas['queue']!()).default, $schema: undefined}, queue.json),
		).toBe(true);
		const why = await agent.call('gpu_why');
		expect(why.words).toMatch(/ has GPUs 0-2 until (?:\S+ )?\d\d:\d\d, note "all", via mcp claude-code$/v);
		expect(why.json).toMatchObject({entries: [{blocked_by: [{type: 'RUN', gpu_ids: [0, 1, 2]}]}]});
		expect(await agent.call('gpu_why', {entry_id: 'nobody'})).toMatchObject({isError: true});
		waiting.kill('SIGTERM');
		await waiting.ended;
	});

	test('explains why no GPU is free, and waits in the queue if wait_seconds is set', async () => {
		const box = await createBox();
		await box.run('reserve --gpus 3 --duration 1h');
		const agent = await connect(box);
		expectError(
			await agent.call('gpu_reserve', {count: 1}),
			/^Not enough GPUs available\. Requested: 1, Available: 0\. Next free in about (?:59m|1h00m): .* To wait in the queue, set wait_seconds\.$/v,
		);
		expectError(
			await agent.call('gpu_reserve', {wait_seconds: 1}),
			/^The GPUs did not become free in time\. Nothing is held\. /v,
		);
		const progress: Array<string | undefined> = [];
		const waiting = agent.call(
			'gpu_reserve',
			{wait_seconds: 60},
			{
				onprogress({message}) {
					progress.push(message);
				},
			},
		);
		await eventually(() => progress.length > 0);
		expect(progress[0]).toMatch(/^Waiting for 1 GPU: position 1 of 1, got 0\/1, in about (?:0h 59m|1h 0m)/v);
		await box.run('release --gpu-ids 1');
		expect((await waiting).json).toMatchObject({gpu_ids: [1]});
	});

	slowTest('removes the queue entry of a call that the client cancels', async () => {
		const box = await createBox();
		await box.run('reserve --gpus 3 --duration 1h');
		const agent = await connect(box);
		const cancelled = new AbortController();
		const waiting = agent.call('gpu_reserve', {wait_seconds: 60, count: 2}, {signal: cancelled.signal});
		const failed = expect(waiting).rejects.toThrow();
		await eventually(async () => (await peek(box)).queue.length === 1);
		expect((await peek(box)).queue[0]).toMatchObject({entry: {via: 'mcp claude-code'}});
		cancelled.abort();
		await failed;
		await eventually(async () => (await peek(box)).queue.length === 0);
		await box.run('release');
		expect((await agent.call('gpu_reserve', {count: 3})).json).toMatchObject({gpu_ids: [0, 1, 2]});
	});
});

slowTest('gpu_reserve accepts requirements, ids and shares, and refuses contradictory arguments', async () => {
	const box = await freshEmbeddedBox(3);
	await box.run('admin --set share=on');
	const agent = await connect(box);
	expect(
		(await agent.call('gpu_reserve', {gpu_ids: [2], min_memory: '40G', models: ['h100'], min_compute: '8.0'})).json,
	).toMatchObject({gpu_ids: [2]});
	expect((await agent.call('gpu_reserve', {share: '8G'})).json).toMatchObject({memory_mb: 8192});
	for (const [input, words] of [
		[{models: ['b200']}, /b200/v],
		[{min_memory: '40'}, /^min_memory: "40" is not a memory size\. /v],
		[{mig: '1g.10gb', share: '8G'}, /^share applies only to whole GPUs/v],
		[{mig: 'big'}, /^mig: "big" is not a MIG profile\. /v],
		[{nvlink: true}, /^nvlink is for links between GPUs/v],
		[{gpu_ids: [0, '1:0']}, /^gpu_ids names both whole GPUs and MIG instances\. /v],
		[{gpu_ids: [0, 0]}, /^GPU 0 is named twice/v],
		[{gpu_ids: [0], count: 2}, /^count is 2, but gpu_ids has 1\. /v],
	] as const) {
		expectError(await agent.call('gpu_reserve', input), words);
	}
});
