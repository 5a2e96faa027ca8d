/** Which model a command line names. */
import {modelOf, modelOfCommand} from '../../../../source/core/rules/leases/served-model.js';
import type {Case, Group} from './group.js';

const modelCase = (command: string, theirs: string | undefined, provider?: string): Case => {
	const ours = modelOfCommand(command);
	return [
		command,
		theirs === undefined ? 'none' : `${provider ?? (theirs.includes('/') ? theirs.split('/', 1)[0] : '-')} ${theirs}`,
		ours === undefined ? 'none' : `${ours.provider ?? '-'} ${ours.model}`,
	];
};

export const modelGroups: readonly Group[] = [
	{
		name: 'model detection',
		origin: 'its tests',
		cases: () => [
			modelCase('python train.py', undefined),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server serve openai/whisper-large-v3 --port 8000',
				'openai/whisper-large-v3',
			),
			modelCase('vllm serve meta-llama/Llama-2-7b-chat-hf --port 8080', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server --model qwen/Qwen2-7B-Instruct --host 0.0.0.0',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase(
				'VLLM_USE_V1=1 canhazgpu run -- vllm serve openai/whisper-large-v3 --enforce-eager',
				'openai/whisper-large-v3',
			),
			modelCase(
				'vllm serve --model mistralai/Mistral-7B-Instruct-v0.1 --port 8000',
				'mistralai/Mistral-7B-Instruct-v0.1',
			),
			modelCase('/usr/local/bin/vllm serve meta-llama/Llama-2-7b-chat-hf --port 8080', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase(
				'./venv/bin/vllm serve deepseek-ai/deepseek-coder-6.7b-instruct',
				'deepseek-ai/deepseek-coder-6.7b-instruct',
			),
			modelCase('CUDA_VISIBLE_DEVICES=0,1 vllm serve meta-llama/Llama-2-7b-chat-hf', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase('vllm serve --host 0.0.0.0 --port 8080 qwen/Qwen2-7B-Instruct', undefined),
			modelCase('vllm generate openai/whisper-large-v3', undefined),
			modelCase('vllm serve --port 8080', undefined),
			modelCase('vllm serve --model=meta-llama/Llama-3.2-1B-Instruct --port 8000', 'meta-llama/Llama-3.2-1B-Instruct'),
			modelCase('python train.py --model openai/whisper-large-v3 --epochs 10', 'openai/whisper-large-v3'),
			modelCase(
				'some-inference-server --model=meta-llama/Llama-2-7b-chat-hf --port 8080',
				'meta-llama/Llama-2-7b-chat-hf',
			),
			modelCase(
				'custom-tool --batch-size 32 --model qwen/Qwen2-7B-Instruct --output ./results',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase('python script.py --model', undefined),
			modelCase('python script.py --epochs 10 --batch-size 32', undefined),
			modelCase('tool --model= --other-flag', undefined),
			modelCase('tool --model llama-2-7b --port 8080', 'llama-2-7b'),
			modelCase(
				'tool --model huggingface/transformers/bert-base-uncased',
				'huggingface/transformers/bert-base-uncased',
			),
			modelCase(
				'lm_eval --model vllm --model_args {"pretrained": "meta-llama/Meta-Llama-3-8B-Instruct", "x": 0.8} --tasks gsm8k',
				'meta-llama/Meta-Llama-3-8B-Instruct',
			),
			modelCase('lm_eval --model hf --model_args pretrained=EleutherAI/pythia-70m,dtype=auto', 'EleutherAI/pythia-70m'),
			modelCase('lm_eval --model vllm --model_args {"dtype": "auto"} --tasks gsm8k', undefined),
			modelCase('lm_eval --model hf --tasks arc', undefined),
			modelCase('lm_eval --model vllm --model_args dtype=auto --tasks ruler', undefined),
			modelCase('lm_eval --model hf --model_args pretrained=,dtype=auto', undefined),
			...(
				[
					['Meta-Llama-3.1-8B-Instruct-custom', 'meta-llama'],
					['Llama-2-7b', 'meta-llama'],
					['Qwen2-7B', 'qwen'],
					['DeepSeek-V3', 'deepseek-ai'],
					['Mistral-7B', 'mistralai'],
					['mixtral-8x7b', 'mistralai'],
					['gpt-oss-20b', 'openai'],
					['whisper-large', 'openai'],
				] as const
			).map(([name, publisher]) =>
				modelCase(
					`lm_eval --model vllm --model_args pretrained=/models/${name},dtype=auto --tasks ruler`,
					`${publisher}/${name}`,
				),
			),
			modelCase('lm_eval --model vllm --model_args pretrained=/models/unknown-model,dtype=auto', undefined),
			modelCase('lm_eval --model vllm --model_args {"pretrained": "a/b"', undefined),
			modelCase('vllm serve /models/llama-3', '/models/llama-3', ''),
			modelCase(`vllm serve org/${'x'.repeat(60)}`, `org/${'x'.repeat(43)}...`),
		],
		differences: {
			'vllm serve /models/llama-3': 'a path shows its last part',
			[`vllm serve org/${'x'.repeat(60)}`]: 'only the table cuts a name, at 50 signs; JSON has it whole',
		},
		// There it is no model: a family that is not known, and JSON that was cut off.
		understoodHere: [
			'lm_eval --model vllm --model_args pretrained=/models/unknown-model,dtype=auto',
			'lm_eval --model vllm --model_args {"pretrained": "a/b"',
		],
	},
	{
		name: 'model detection, the other inputs of its tests',
		origin: 'its tests',
		cases: () => [
			modelCase('python worker.py', undefined),
			modelCase('vllm serve deepseek-ai/deepseek-coder-6.7b-instruct', 'deepseek-ai/deepseek-coder-6.7b-instruct'),
			modelCase(
				'VLLM_USE_V1=1 canhazgpu run -- vllm serve openai/whisper-large-v3 --enforce-eager --port 8123',
				'openai/whisper-large-v3',
			),
			modelCase('vllm serve openai/whisper-large-v3', 'openai/whisper-large-v3'),
			modelCase('vllm serve meta-llama/Llama-2-7b-chat-hf', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server --host 0.0.0.0 --model qwen/Qwen2-7B-Instruct --port 8080',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase('/usr/local/bin/vllm serve qwen/Qwen2-7B-Instruct --port 8080', 'qwen/Qwen2-7B-Instruct'),
			modelCase('vllm serve --model openai/whisper-large-v3 --port 8000', 'openai/whisper-large-v3'),
			modelCase(
				'vllm serve --host 0.0.0.0 --model meta-llama/Llama-2-7b-chat-hf --port 8080 --enforce-eager',
				'meta-llama/Llama-2-7b-chat-hf',
			),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server --host 0.0.0.0 --model=qwen/Qwen2-7B-Instruct --port 8080',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase(
				'tool --model huggingface/transformers/bert-base-uncased --task classification',
				'huggingface/transformers/bert-base-uncased',
			),
			modelCase(
				'CUDA_VISIBLE_DEVICES=0,1 python -m some.module --config config.json --model=deepseek-ai/deepseek-coder-6.7b-instruct --verbose',
				'deepseek-ai/deepseek-coder-6.7b-instruct',
			),
			[
				'the first of two processes that names one',
				'deepseek-ai/deepseek-coder-6.7b-instruct',
				modelOf([
					{pid: 1234, commandLine: 'vllm serve deepseek-ai/deepseek-coder-6.7b-instruct'},
					{pid: 5678, commandLine: 'python train.py'},
				])?.model,
			],
			[
				'a worker whose parent names it',
				'qwen/Qwen2-7B',
				modelOf([{pid: 1, commandLine: 'VLLM::Worker', ancestors: ['vllm serve qwen/Qwen2-7B']}])?.model,
			],
			['no process', undefined, modelOf([])],
		],
	},
];
