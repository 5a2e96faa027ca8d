/** The tools of `mcp` on a real Slurm: each works, or says what to do instead. */
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {connect, expectError} from '../../mcp/_client.js';
import {clusterOfFile, type Row} from './_cluster.js';

const {slurm, box, rows} = clusterOfFile();

test('agents see, reserve, renew, wait for and release GPUs of Slurm', async () => {
	const agent = await connect(box());
	expect((await agent.call('gpu_status')).words).toMatch(/^12 of 12 GPUs are free: /v);
	expectError(
		await agent.call('gpu_reserve'),
		/^With Slurm, a reservation cannot end when this connection ends\. Set detached to true, /v,
	);
	const reserved = await agent.call('gpu_reserve', {count: 2, duration: '1h', note: 'tuning', detached: true});
	expect(reserved.words).toMatch(
		/^You have reserved GPUs 0,1 for 1h 0m 0s \(lease_id \d+\)\. It stays when this connection ends\. To use them with srun /v,
	);
	const {lease_id: id} = reserved.json as {readonly lease_id: string};
	expect((await rows()).filter((row) => row['lease_id'] === id)).toHaveLength(2);
	expect((await agent.call('gpu_renew', {lease_id: id, duration: '30m'})).words).toBe(
		'Renewed 2 GPU(s): [0 1] until 0h 30m 0s from now.',
	);
	expect((await agent.call('gpu_queue')).words).toBe('Nobody waits.');

	expect(await agent.call('gpu_reserve', {count: 4, detached: true})).toMatchObject({isError: false});
	expect(await agent.call('gpu_reserve', {count: 4, detached: true})).toMatchObject({isError: false});
	expectError(
		await agent.call('gpu_reserve', {count: 3, detached: true}),
		/^No node has enough free GPUs, or other jobs come first\. To wait in the queue, set wait_seconds\. /v,
	);
	const progress: Array<string | undefined> = [];
	const waiting = agent.call(
		'gpu_reserve',
		{count: 3, detached: true, wait_seconds: 120},
		{
			onprogress({message}) {
				progress.push(message);
			},
		},
	);
	await eventually(() => progress.length > 0);
	expect(progress[0]).toMatch(/^Waiting for 3 GPUs: position 1 of 1, got 0\/3, /v);
	expect((await agent.call('gpu_why')).words).toMatch(/^#1 root waits for 3 GPUs, /v);
	expect((await agent.call('gpu_release', {lease_id: id})).words).toBe('Released 2 GPU(s): [0 1].');
	expect(await waiting).toMatchObject({isError: false});
	expectError(
		await agent.call('gpu_reserve', {gpu_ids: [99], detached: true}),
		/^--gpu-ids cannot be used with Slurm: Slurm chooses the GPUs itself\. Say how many: /v,
	);
	expectError(await agent.call('gpu_release', {lease_id: '99999'}), /^That reservation has already ended\. /v);
	expectError(await agent.call('gpu_release'), /^This connection holds no reservation\. /v);
});

test('a wait that the client cancels leaves no job in Slurm', async () => {
	const agent = await connect(box());
	for (const count of [4, 4, 4]) {
		await agent.call('gpu_reserve', {count, detached: true});
	}

	const cancelled = new AbortController();
	const waiting = agent.call('gpu_reserve', {detached: true, wait_seconds: 120}, {signal: cancelled.signal});
	const failed = expect(waiting).rejects.toThrow();
	const pending = (): string => slurm().run('squeue', '--noheader', '--states=PENDING', '--format', '%i');
	await eventually(() => pending() !== '');
	cancelled.abort();
	await failed;
	await eventually(() => pending() === '');
});

test('agents start, follow, read and cancel jobs of Slurm', async () => {
	const agent = await connect(box());
	const submitted = await agent.call('gpu_run', {
		command: ['sh', '-c', 'echo "$GREETING on $CUDA_VISIBLE_DEVICES"; exec sleep 600'],
		count: 2,
		timeout: '1h',
		env: {GREETING: 'hello'},
	});
	expect(submitted.words).toMatch(/^Submitted job \d+, /v);
	const {job_id: id} = submitted.json as {readonly job_id: string};
	const stateOf = async (): Promise<unknown> =>
		((await agent.call('gpu_job', {job_id: id})).json as readonly Row[])[0]!['state'];
	await eventually(async () => (await stateOf()) === 'running');
	expect((await agent.call('gpu_job')).words).toMatch(/^Job \d+ is RUNNING/v);
	await eventually(async () => (await agent.call('gpu_logs', {job_id: id})).words.includes('hello on 0,1'));
	expect((await agent.call('gpu_cancel', {job_id: id})).words).toMatch(
		/^Cancelled job \d+\. (?:It ends in a moment|Job \d+ is CANCELLED)/v,
	);
	await eventually(async () => (await stateOf()) === 'cancelled');
	for (const tool of ['gpu_job', 'gpu_logs', 'gpu_cancel']) {
		expectError(await agent.call(tool, {job_id: '99999'}), /99999/v);
	}

	// Without slurmdbd, Slurm forgets its jobs.
	expectError(await agent.call('gpu_report'), /\. \S/v);
});
