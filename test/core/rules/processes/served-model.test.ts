import fc from 'fast-check';
import {expect, test} from 'vitest';
import {modelOf, modelOfCommand, planServedModels} from '../../../../source/core/rules/processes/served-model.js';
import {byModel, liveUsage} from '../../../../source/core/rules/pool/report.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import type {GpuProcess} from '../../../../source/core/model/types.js';
import {createLiveWorld} from '../../../_helpers/live-world.js';
import {createTestWorld, historyOf, idleReading, observationOf, person} from '../../../_helpers/world.js';
import {makeReport} from '../../../../source/core/operations/history/report.js';
import {createSharedGpus} from '../../../../source/core/live/shared-scanner.js';
import {isLeased} from '../../../_helpers/leased.js';

test.each<[string, string | undefined, string | undefined]>([
	[
		'/usr/bin/python3 /usr/local/bin/vllm serve meta-llama/Llama-3-70B --port 8000',
		'meta-llama',
		'meta-llama/Llama-3-70B',
	],
	['vllm serve /models/llama-3/ --tensor-parallel-size 2', undefined, 'llama-3'],
	['vllm serve --model qwen/Qwen2 --port 1', 'qwen', 'qwen/Qwen2'],
	['python -m vllm.entrypoints.openai.api_server --model mistralai/Mistral-7B', 'mistralai', 'mistralai/Mistral-7B'],
	['python train.py --model=gpt2', undefined, 'gpt2'],
	['python -m sglang.launch_server --model-path ./local/model', undefined, 'model'],
	['text-generation-launcher --model-id bigscience/bloom', 'bigscience', 'bigscience/bloom'],
	[
		'lm_eval --model hf --model_args pretrained=EleutherAI/pythia-70m,dtype=auto',
		'EleutherAI',
		'EleutherAI/pythia-70m',
	],
	['lm_eval --model vllm --model_args {"pretrained": "org/name", "dtype": "auto"}', 'org', 'org/name'],
	['lm_eval --model hf --model_args=dtype=auto,pretrained=/data/m', undefined, 'm'],
	[
		'python -m vllm.entrypoints.openai.api_server serve openai/whisper-large-v3 --port 8000',
		'openai',
		'openai/whisper-large-v3',
	],
	['lm_eval --model vllm --model_args pretrained=/data/Qwen2-7B,dtype=auto', 'qwen', 'qwen/Qwen2-7B'],
	['run_clm.py --model_name_or_path gpt2-large', undefined, 'gpt2-large'],
])('modelOfCommand finds the AI model in: %s', (commandLine, provider, model) => {
	expect(modelOfCommand(commandLine)).toEqual({...(provider !== undefined && {provider}), model});
});

test.each([
	'python train.py',
	'vllm serve',
	'vllm serve --port 1',
	'x --model',
	'x --model --other',
	'x --model=',
	'',
	'serve vllm',
	'x --model /',
	// The program that starts the model's server, not the model.
	'lm_eval --model vllm --model_args dtype=auto',
	'lm_eval --model hf',
	'python -m lm_eval --model=hf --model_args={"dtype": "auto"}',
	'/opt/venv/bin/lm-eval --model hf --tasks arc',
])('modelOfCommand finds no AI model in %j', (commandLine) => {
	expect(modelOfCommand(commandLine)).toBeUndefined();
});

test("modelOf finds the AI model of a worker process in its parent's command line", () => {
	expect(
		modelOf([
			{pid: 1, commandLine: 'nvidia-persistenced'},
			{pid: 2, commandLine: 'ray::Worker', ancestors: ['raylet', 'vllm serve a/b']},
		]),
	).toEqual({provider: 'a', model: 'a/b'});
	expect(modelOf([{pid: 1}, {pid: 2, commandLine: 'bash'}])).toBeUndefined();
});

test('modelOfCommand accepts any command line and returns only text from that command line', () => {
	const word = fc.oneof(
		fc.string({maxLength: 6}),
		fc.constantFrom('vllm', 'serve', '--model', '--model_args', 'pretrained=', '{', '"', '/', '='),
	);
	fc.assert(
		fc.property(fc.array(word, {maxLength: 8}), (words) => {
			const commandLine = words.join(' ');
			const found = modelOfCommand(commandLine);
			expect(found === undefined || commandLine.includes(found.model.split('/').at(-1)!)).toBe(true);
		}),
	);
});

const alice = person('alice');
const serving = (user: string | undefined, model: string): GpuProcess => ({
	pid: 7,
	user,
	commandLine: `vllm serve ${model}`,
});
const seeing = (...processes: readonly GpuProcess[]) =>
	observationOf([{...idleReading(0), memoryUsedMiB: 9000, processes}]);

test('the first AI model that the holder serves is recorded in the lease and its usage record', async () => {
	const world = await createTestWorld();
	const asked = {requester: alice, count: 1, ids: [0], durationSeconds: 600};
	await reserve(world, asked);
	await world.store.commit(planServedModels(await world.store.read(), seeing(serving('alice', 'lab/one'))));
	await world.store.commit(planServedModels(await world.store.read(), seeing(serving('alice', 'lab/two'))));
	world.pass(3600 / 2 / 6);
	const window = {from: 0, to: world.now()};
	const live = await makeReport([], liveUsage(await world.store.read()), {window, split: byModel});
	expect(live.rows.map(({key}) => key)).toEqual(['lab/one']);
	await release(world, alice, {by: 'label', label: 'alice'});
	expect(await historyOf(world.store)).toMatchObject([{gpuId: 0, model: 'lab/one'}]);

	await reserve(world, asked);
	await release(world, alice, {by: 'label', label: 'alice'});
	const report = await makeReport(world.store.history(0, world.now()), [], {
		window: {from: 0, to: world.now()},
		split: byModel,
	});
	expect(report.rows.map(({key}) => key).toSorted()).toEqual(['lab/one', 'unknown']);
});

test('an AI model that the holder does not serve is not recorded in the lease', async () => {
	const world = await createTestWorld();
	await reserve(world, {requester: alice, count: 1, ids: [0], durationSeconds: 600});
	const snapshot = await world.store.read();
	for (const user of ['bob', undefined]) {
		expect(planServedModels(snapshot, seeing(serving(user, 'lab/x'))).writes).toEqual([]);
	}
});

test('the AI model of a lease is recorded once for all viewers', async () => {
	const world = await createLiveWorld(1);
	await reserve(world, {requester: alice, count: 1, durationSeconds: 600});
	world.see(() => seeing(serving('alice', 'lab/one')));
	let commits = 0;
	const store = {
		...world.store,
		async commit(plan: Parameters<typeof world.store.commit>[0]) {
			commits++;
			return world.store.commit(plan);
		},
	};
	const gpus = createSharedGpus({...world, store, name: 'fake', intervalMs: 10, createScanner: () => world.gpus});
	await gpus.observe();
	await gpus.observe();
	await gpus.close!();
	expect(commits).toBe(1);
	const {gpus: records} = await world.store.read();
	expect(records.filter(isLeased).map(({lease}) => lease.model)).toEqual(['lab/one']);
});
