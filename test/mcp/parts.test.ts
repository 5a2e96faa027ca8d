/** MIG instances and shares of GPUs, reserved by agents. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {freshEmbeddedBox, peek} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {slowTest} from '../_helpers/slow.js';
import {connect, expectError, type Agent} from './_client.js';

/** A pool of three simulated GPUs that can be shared. GPU 1 is split by MIG. */
async function splitBox() {
	const box = await freshEmbeddedBox(3);
	const scenario = path.join(box.home, 'scenario.yaml');
	writeFileSync(scenario, 'mig: [{gpu: 1, profiles: [1g.10gb, 1g.10gb, 3g.40gb]}]\n', {mode: 0o600});
	const split = {...box, environment: {...box.environment, CANHAZGPU_SIMULATED_SCENARIO: scenario}};
	await box.run('admin --set share=on --set agents.max-gpus=4');
	return split;
}

test('refusals tell agents which fields to set, not flags or commands', async () => {
	const box = await splitBox();
	await box.run('admin --set share=off');
	const agent = await connect(box);
	for (const [input, words] of [
		[{gpu_ids: [1]}, /Name one: gpu_ids: \["1:0"\], or a profile: mig: "1g\.10gb"\.$/v],
		[{gpu_ids: ['0:1']}, /Ask for the whole GPU: gpu_ids: \[0\]\.$/v],
		[{count: 3}, /ask for an instance: mig: "1g\.10gb"\.$/v],
		[{share: '8G'}, /Without share you get whole GPUs\.$/v],
	] as const) {
		expectError(await agent.call('gpu_reserve', input), words);
	}
});

const logsOf = async (agent: Agent, id: string): Promise<string> => (await agent.call('gpu_logs', {job_id: id})).words;

test('agents can reserve MIG instances by profile or id, and shares, each of which counts as one GPU', async () => {
	const box = await splitBox();
	const agent = await connect(box);
	const {words} = await agent.call('gpu_status');
	expect(words).toMatch(/^2 of 3 GPUs are free: GPUs 0,2\. 1 more GPU split by MIG has no reservation\. /v);
	expect(words).toContain('GPU 1 (Simulated H100 80GB) is AVAILABLE: never used, MIG ');

	const byProfile = await agent.call('gpu_reserve', {mig: '1g.10gb'});
	expect(byProfile.words).toMatch(
		/^You have reserved 1 MIG instance\(s\): \[1:0\] .* CUDA_VISIBLE_DEVICES=MIG-SIM-1-0$/v,
	);
	expect(byProfile.json).toMatchObject({
		gpu_ids: [1],
		mig_instances: [{gpu_id: 1, instance: 0, uuid: 'MIG-SIM-1-0', profile: '1g.10gb'}],
	});
	expect((await agent.call('gpu_reserve', {gpu_ids: ['1:2']})).words).toContain('CUDA_VISIBLE_DEVICES=MIG-SIM-1-2');
	expectError(
		await agent.call('gpu_reserve', {gpu_ids: [1]}),
		/^GPU 1 is split by MIG, so it cannot be reserved whole\. /v,
	);
	expectError(
		await agent.call('gpu_reserve', {mig: '3g.40gb'}),
		/^Not enough MIG instances available\. .* MIG instance 1:2 is held by /v,
	);
	expect((await agent.call('gpu_reserve', {share: '8G'})).json).toMatchObject({gpu_ids: [0], memory_mb: 8192});
	expect((await agent.call('gpu_reserve', {share: '16G', gpu_ids: [0]})).words).toContain('a share of 16G of GPU 0');
	// GPU 2 and an instance are free.
	const overLimit = /\(agents hold 4 of at most 4 GPUs together\)/v;
	expectError(await agent.call('gpu_reserve', {mig: '1g.10gb'}), overLimit);
	expectError(await agent.call('gpu_reserve', {share: '8G'}), overLimit);

	const submitted = await agent.call('gpu_run', {
		command: ['printenv', 'CUDA_VISIBLE_DEVICES'],
		mig: '1g.10gb',
		timeout: '10m',
	});
	const {job_id: id} = submitted.json as {readonly job_id: string};
	await eventually(async () => {
		const {queue} = await peek(box);
		if (queue.length === 0) {
			throw new Error(await logsOf(agent, id));
		}

		return true;
	});
	expect((await agent.call('gpu_why')).words).toContain('(agents.max-gpus); people go first');
	expect((await agent.call('gpu_renew', {duration: '1h'})).words).toBe(
		'Renewed 1 GPU(s): [0] and 2 MIG instance(s): [1:0 1:2] until 1h 0m 0s from now.',
	);
	expect((await agent.call('gpu_release')).words).toBe('Released 1 GPU(s): [0] and 2 MIG instance(s): [1:0 1:2].');
	await expect.poll(async () => logsOf(agent, id)).toMatch(/\nMIG-SIM-1-[01]$/v);
	await eventually(async () => (await peek(box)).gpus.every(({kind}) => kind === 'free'));
});

slowTest('an agent waits for a MIG instance, and its instances are free after its server was killed', async () => {
	const box = await splitBox();
	const [one, other] = [await connect(box, {name: 'one'}), await connect(box, {name: 'other'})];
	await one.call('gpu_reserve', {mig: '3g.40gb'});
	const progress: Array<string | undefined> = [];
	const waiting = other.call(
		'gpu_reserve',
		{mig: '3g.40gb', wait_seconds: 600},
		{
			onprogress({message}) {
				progress.push(message);
			},
		},
	);
	await eventually(() => progress.length > 0);
	expect(progress[0]).toMatch(/^Waiting for 1 MIG instance of 3g\.40gb or larger: position 1 of 1, got 0\/1, /v);
	process.kill(one.pid, 'SIGKILL');
	expect((await waiting).json).toMatchObject({mig_instances: [{instance: 2}]});
});
