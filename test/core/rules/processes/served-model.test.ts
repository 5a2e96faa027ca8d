import fc from 'fast-check';
import {expect, test} from 'vitest';
import {modelOf, modelOfCommand} from '../../../../source/core/rules/processes/served-model.js';

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
])('%s', (commandLine, provider, model) => {
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
	// What runs the model is not the model.
	'lm_eval --model vllm --model_args dtype=auto',
	'lm_eval --model hf',
	'python -m lm_eval --model=hf --model_args={"dtype": "auto"}',
	'/opt/venv/bin/lm-eval --model hf --tasks arc',
])('none in %j', (commandLine) => {
	expect(modelOfCommand(commandLine)).toBeUndefined();
});

test('a worker that does not name it has it from a parent', () => {
	expect(
		modelOf([
			{pid: 1, commandLine: 'nvidia-persistenced'},
			{pid: 2, commandLine: 'ray::Worker', ancestors: ['raylet', 'vllm serve a/b']},
		]),
	).toEqual({provider: 'a', model: 'a/b'});
	expect(modelOf([{pid: 1}, {pid: 2, commandLine: 'bash'}])).toBeUndefined();
});

test('never throws, and names nothing that the command line does not hold', () => {
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
