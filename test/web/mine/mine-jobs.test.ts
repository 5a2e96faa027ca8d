/** The actions on jobs of `web --mine`. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {accountsOfFile, alice, canBeOthers, mallory} from '../../_helpers/machine/strangers.js';
import {slowTest} from '../../_helpers/slow.js';
import {askSocket, createRuntimeDirectory, signIn, startMineAs} from './_mine.js';

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(!canBeOthers)('web --mine with jobs of several accounts', () => {
	const accounts = accountsOfFile();
	beforeAll(async () => {
		await accounts.run(0, 'admin --gpus 2 --provider fake --store embedded');
	});

	async function start(uid: number) {
		const runtime = createRuntimeDirectory();
		const mine = await startMineAs(accounts, uid, runtime.directory);
		onTestFinished(async () => {
			await mine.end('SIGKILL');
			runtime.remove();
		});
		const page = await signIn(mine);
		const jobs = async (): Promise<readonly Row[]> =>
			JSON.parse((await askSocket(mine.socketPath, '/api/jobs')).text) as readonly Row[];
		return {
			page,
			socketPath: mine.socketPath,
			jobs,
			job: async (id: string) => (await jobs()).find((each) => each['id'] === id),
			events: async (kind: string) =>
				(JSON.parse((await accounts.run(uid, 'events --json')).stdout) as readonly Row[]).filter(
					(event) => event['kind'] === kind,
				),
		};
	}

	const submit = async (uid: number, flags: string, ...command: readonly string[]): Promise<string> => {
		const {stdout, stderr, exitCode} = await accounts.run(uid, [
			'run',
			'--detach',
			...flags.split(' ').filter(Boolean),
			'--',
			...command,
		]);
		expect([exitCode, stderr]).toMatchObject([0, expect.stringContaining('submitted')]);
		return stdout.trim();
	};

	test('cancels and retries a job of its account only once, and names the account in the job and in the events', async () => {
		const {page, job, events} = await start(alice);
		const counter = path.join(accounts.homeOf(alice), 'starts');
		const id = await submit(alice, '', 'sh', '-c', `echo $WEB_TEST >> ${counter}; exec sleep 600`);
		await eventually(() => existsSync(counter));
		const cancelled = await page.act('cancel', {job_id: id});
		expect([cancelled.status, cancelled.json()]).toEqual([200, {words: `Cancelled job ${id}`, gpus: []}]);
		expect(await job(id)).toMatchObject({state: 'cancelled', reason: `cancelled by ${alice} via web`});
		expect((await page.act('cancel', {job_id: id})).json()['words']).toBe(`Job ${id} has already ended`);
		const [end] = await events('finished');
		expect(end).toMatchObject({
			job_id: id,
			via: 'web',
			words: `job ${id} of ${alice} was cancelled: cancelled by ${alice}, in the browser`,
		});

		const request = {id: crypto.randomUUID(), job_id: id};
		const answers = await Promise.all([page.act('retry', request), page.act('retry', request)]);
		expect(answers.map(({status}) => status)).toEqual([200, 200]);
		expect(answers[0].json()['words']).toMatch(new RegExp(`^Started job ${id} again`, 'v'));
		await eventually(async () => (await job(id))?.['state'] === 'running');
		await eventually(() => readFileSync(counter, 'utf8').split('\n').length === 3);
		expect((await events('submitted')).at(-1)).toMatchObject({
			job_id: id,
			via: 'web',
			words: `${alice} started job ${id} again, in the browser`,
		});
		// A job that runs cannot be started again.
		const refused = await page.act('retry', {job_id: id});
		expect([refused.status, refused.json()['error']]).toEqual([409, `Job ${id} has not ended`]);
		await page.act('cancel', {job_id: id});
		expect(await job(id)).toMatchObject({state: 'cancelled', starts: 1});
		expect(readFileSync(counter, 'utf8').split('\n')).toHaveLength(3);
	});

	slowTest('cancels one job of an array, then all others', async () => {
		const {page, jobs, job} = await start(alice);
		const id = await submit(alice, '--array 0-3%1 --begin 1h', 'true');
		expect((await page.act('cancel', {job_id: `${id}_2`})).json()['words']).toBe(`Cancelled job ${id}_2`);
		expect(await job(`${id}_1`)).toMatchObject({state: 'pending'});
		expect((await page.act('cancel', {job_id: id})).json()['words']).toBe(`Cancelled 3 jobs of array ${id}`);
		expect((await jobs()).filter((each) => each['array_id'] === id).map((each) => each['state'])).toEqual(
			Array.from({length: 4}, () => 'cancelled'),
		);
	});

	slowTest('does not wait for the end of a job that ignores SIGTERM', async () => {
		const {page, job} = await start(alice);
		const ready = path.join(accounts.homeOf(alice), 'ready');
		const id = await submit(alice, '', 'sh', '-c', `trap "" TERM; touch ${ready}; while :; do sleep 1; done`);
		await eventually(() => existsSync(ready));
		const began = performance.now();
		expect((await page.act('cancel', {job_id: id})).json()['words']).toBe(
			`Asked job ${id} to end. Processes that still run after 30 seconds are killed`,
		);
		expect(performance.now() - began).toBeLessThan(25_000);
		expect(await job(id)).toMatchObject({state: 'running'});
		await eventually(async () => (await job(id))?.['state'] === 'cancelled');
	});

	slowTest.each([
		['alice', alice, mallory],
		['root', 0, alice],
	])('refuses to cancel or retry the job of another account, as %s', async (_, uid, owner) => {
		const {page, job} = await start(uid);
		const id = await submit(owner, '--begin 1h', 'true');
		expect((await job(id))!['account']).toBe(String(owner));
		for (const act of ['cancel', 'retry']) {
			const answer = await page.act(act, {job_id: id});
			expect([act, answer.status, answer.json()['error']]).toEqual([act, 403, `Job ${id} belongs to another account`]);
		}

		expect(await job(id)).toMatchObject({state: 'pending'});
		await accounts.run(owner, `cancel ${id}`);
		expect((await page.act('retry', {job_id: id})).status).toBe(403);
		expect(await job(id)).toMatchObject({state: 'cancelled', reason: `cancelled by ${owner}`});
	});

	test('refuses unknown ids, wrong bodies, and requests without a session or from another origin', async () => {
		const {page, jobs, socketPath} = await start(alice);
		const id = await submit(alice, '--begin 1h', 'true');
		const before = await jobs();
		for (const act of ['cancel', 'retry']) {
			for (const [request, words] of [
				[{job_id: '999'}, 'There is no job 999'],
				[{job_id: 'all'}, '"all" is not the id of a job'],
				[{job_id: `${id}_0`}, `There is no job ${id}_0`],
				[{job_id: ''}, 'The request is invalid: job_id'],
				[{job_id: [id]}, 'The request is invalid: job_id'],
				[{job_id: Number(id)}, 'The request is invalid: job_id'],
				[{}, 'The request is invalid: job_id'],
				[{job_id: id, all: true}, 'The request is invalid: all'],
			] as const) {
				const answer = await page.act(act, request);
				expect([act, request, answer.status, answer.json()['error']]).toEqual([act, request, 400, words]);
			}

			for (const [status, headers] of [
				[401, {authorization: ''}],
				[401, {authorization: `Bearer ${'A'.repeat(32)}`}],
				[403, {origin: 'https://evil.example'}],
				[403, {'sec-fetch-site': 'cross-site'}],
				[415, {'content-type': 'text/plain'}],
			] as const) {
				expect([headers, (await page.act(act, {job_id: id}, {headers})).status]).toEqual([headers, status]);
			}

			expect((await askSocket(socketPath, `/api/act/${act}`)).status).toBe(405);
		}

		expect(await jobs()).toEqual(before);
		await accounts.run(alice, `cancel ${id}`);
	});
});
