/** The model that a command line names. */
import {modelOf, modelOfCommand} from '../../../../source/core/rules/processes/served-model.js';
import type {Case, Group} from './group.js';

const modelCase = (command: string, theirs: string | undefined, provider?: string): Case => {
	const ours = modelOfCommand(command);
	return [
		command,
		theirs === undefined ? 'none' : `${provider ?? (theirs.includes('/') ? theirs.split('/', 1)[0] : '-')} ${theirs}`,
		ours === undefined ? 'none' : `${ours.provider ?? '-'} ${ours.model}`,
	];
};

/** Removes lines that the Go program tests several times. */
const table = (name: string, cases: readonly Case[]): readonly Case[] =>
	cases.map(([line, theirs, ours]) => [`${name}: ${line}`, theirs, ours]);

const longName = `Meta-Llama-3.1-8B-Instruct-${'some_very_long_string_'.repeat(4)}`;

const evaluation = (args: string): string => `lm_eval --model vllm --model_args ${args} --tasks gsm8k`;

/** A local copy of a model, whose name contains its publisher. */
const copyCase = (name: string, publisher: string): Case =>
	modelCase(evaluation(`pretrained=/models/${name},dtype=auto`), `${publisher}/${name}`);

const whisper = 'openai/whisper-large-v3';
const llama = 'meta-llama/Llama-2-7b-chat-hf';
const qwen = 'qwen/Qwen2-7B-Instruct';
const deepseek = 'deepseek-ai/deepseek-coder-6.7b-instruct';
const server = 'python -m vllm.entrypoints.openai.api_server';

export const modelGroups: readonly Group[] = [
	{
		name: 'model detection',
		origin: 'its tests',
		row: 'model detection',
		cases: () => [
			...table('DetectModelFromProcesses', [
				['no process', undefined, modelOf([])],
				modelCase('python train.py', undefined),
				modelCase(`${server} serve ${whisper} --port 8000`, whisper),
				modelCase(`vllm serve ${llama} --port 8080`, llama),
				modelCase(`${server} --model ${qwen} --host 0.0.0.0 --port 8080`, qwen),
				[
					'the first of two processes that names one',
					deepseek,
					modelOf([
						{pid: 1234, commandLine: `vllm serve ${deepseek}`},
						{pid: 5678, commandLine: 'python train.py'},
					])?.model,
				],
				modelCase(`VLLM_USE_V1=1 canhazgpu run -- vllm serve ${whisper} --enforce-eager --port 8123`, whisper),
				modelCase(
					'vllm serve --model mistralai/Mistral-7B-Instruct-v0.1 --port 8000',
					'mistralai/Mistral-7B-Instruct-v0.1',
				),
				modelCase(`/usr/local/bin/vllm serve ${llama} --port 8080`, llama),
				modelCase('python worker.py', undefined),
				modelCase(`python train.py --model ${whisper} --epochs 10`, whisper),
				modelCase(`some-inference-server --model=${llama} --port 8080`, llama),
				modelCase(`custom-tool --batch-size 32 --model ${qwen} --output ./results`, qwen),
			]),
			...table('parseVLLMCommand', [
				modelCase(`vllm serve ${whisper}`, whisper),
				modelCase(`vllm serve ${llama}`, llama),
				modelCase(`vllm serve --host 0.0.0.0 --port 8080 ${qwen}`, undefined),
				modelCase(`${server} --host 0.0.0.0 --model ${qwen} --port 8080`, qwen),
				modelCase(`${server} serve ${whisper} --port 8000`, whisper),
				modelCase(`vllm generate ${whisper}`, undefined),
				modelCase('vllm serve --port 8080', undefined),
				modelCase(`VLLM_USE_V1=1 canhazgpu run -- vllm serve ${whisper} --enforce-eager --port 8123`, whisper),
				modelCase(`CUDA_VISIBLE_DEVICES=0,1 vllm serve ${llama}`, llama),
				modelCase(`/usr/local/bin/vllm serve ${qwen} --port 8080`, qwen),
				modelCase(`./venv/bin/vllm serve ${deepseek}`, deepseek),
				modelCase(`vllm serve --model ${whisper} --port 8000`, whisper),
				modelCase(`vllm serve --host 0.0.0.0 --model ${llama} --port 8080 --enforce-eager`, llama),
				modelCase(
					'vllm serve --model=meta-llama/Llama-3.2-1B-Instruct --port 8000',
					'meta-llama/Llama-3.2-1B-Instruct',
				),
				modelCase(`${server} --host 0.0.0.0 --model=${qwen} --port 8080`, qwen),
			]),
			...table('parseGenericModelCommand', [
				modelCase(`python train.py --model ${whisper} --epochs 10`, whisper),
				modelCase(`some-inference-server --model=${llama} --port 8080`, llama),
				modelCase(`custom-tool --batch-size 32 --model ${qwen} --output ./results`, qwen),
				modelCase('python script.py --model', undefined),
				modelCase('python script.py --epochs 10 --batch-size 32', undefined),
				modelCase('tool --model= --other-flag', undefined),
				modelCase('tool --model llama-2-7b --port 8080', 'llama-2-7b'),
				modelCase(
					'tool --model huggingface/transformers/bert-base-uncased --task classification',
					'huggingface/transformers/bert-base-uncased',
				),
				modelCase(
					`CUDA_VISIBLE_DEVICES=0,1 python -m some.module --config config.json --model=${deepseek} --verbose`,
					deepseek,
				),
			]),
			...table('parseLMEvalCommand', [
				modelCase(
					`/home/user/.venv/bin/python /home/user/.venv/bin/${evaluation('{"pretrained": "meta-llama/Meta-Llama-3-8B-Instruct", "gpu_memory_utilization": 0.8}')}`,
					'meta-llama/Meta-Llama-3-8B-Instruct',
				),
				modelCase(evaluation(`{"pretrained": "${whisper}"}`), whisper),
				modelCase(`python -m ${evaluation(`{"pretrained": "${qwen}"}`)}`, qwen),
				modelCase(evaluation(`{'pretrained': '${deepseek}'}`), undefined),
				modelCase(
					`python ${evaluation('{"pretrained": "mistralai/Mistral-7B-Instruct-v0.1", "tensor_parallel_size": 2, "dtype": "float16"}')}`,
					'mistralai/Mistral-7B-Instruct-v0.1',
				),
				modelCase(evaluation('{"model": "meta-llama/Llama-2-7b"}'), undefined),
				modelCase('lm_eval --model hf --tasks gsm8k', undefined),
				modelCase(
					evaluation('{"pretrained": "meta-llama/Llama-2-7b", "tokenizer": {"type": "llama"}}'),
					'meta-llama/Llama-2-7b',
				),
				modelCase(
					evaluation(String.raw`{"pretrained": "model-with-\"quotes\"", "other": "value"}`),
					'model-with-"quotes"',
				),
				modelCase(evaluation('{"pretrained": "incomplete-json'), undefined),
				modelCase(
					evaluation('pretrained=meta-llama/Meta-Llama-3.1-8B-Instruct,dtype=auto,add_bos_token=False'),
					'meta-llama/Meta-Llama-3.1-8B-Instruct',
				),
				copyCase('Meta-Llama-3.1-8B-Instruct-custom', 'meta-llama'),
				copyCase('Llama-2-7B-chat', 'meta-llama'),
				copyCase('Qwen2-7B-Instruct-fp16', 'qwen'),
				copyCase('Mistral-7B-v0.1-quantized', 'mistralai'),
				copyCase('deepseek-coder-33b-instruct', 'deepseek-ai'),
				copyCase('whisper-large-v3-turbo', 'openai'),
				copyCase('gpt-j-6B-finetuned', 'openai'),
				copyCase('mixtral-8x7b-instruct-v0.1', 'mistralai'),
				modelCase(evaluation('pretrained=/models/unknown-model-7b,dtype=auto'), undefined),
				copyCase('LLAMA-3-8B-INSTRUCT', 'meta-llama'),
				modelCase(
					'/home/user//venv/bin/python3 /home/user/venv/bin/lm_eval --model vllm --model_args pretrained=/network/user/Meta-Llama-3.1-8B-Instruct',
					'meta-llama/Meta-Llama-3.1-8B-Instruct',
				),
				modelCase(evaluation('model_name=test,dtype=auto'), undefined),
				modelCase(
					evaluation(`pretrained=/models/${longName},dtype=auto`),
					`${`meta-llama/${longName}`.slice(0, 50)}...`,
				),
			]),
			...table('detectModelFromParentProcess', [
				[
					'a worker whose parent names it',
					qwen,
					modelOf([{pid: 1, commandLine: 'VLLM::Worker', ancestors: [`vllm serve ${qwen}`]}])?.model,
				],
				[
					'parents that name none',
					undefined,
					modelOf([{pid: 1, commandLine: 'python worker.py', ancestors: ['bash', 'sshd: alice']}])?.model,
				],
				['a process of which nothing can be read', undefined, modelOf([{pid: 999_999}])?.model],
			]),
		],
		differences: {
			[`parseLMEvalCommand: ${evaluation(`pretrained=/models/${longName},dtype=auto`)}`]:
				'only the table cuts a name, at 50 signs; JSON has it whole',
		},
		// The Go program sees no model here: an unknown family, quotes that are not JSON, and truncated JSON.
		understoodHere: [
			`parseLMEvalCommand: ${evaluation(`{'pretrained': '${deepseek}'}`)}`,
			`parseLMEvalCommand: ${evaluation('{"pretrained": "incomplete-json')}`,
			`parseLMEvalCommand: ${evaluation('pretrained=/models/unknown-model-7b,dtype=auto')}`,
		],
	},
	{
		name: 'model detection, further lines',
		origin: 'further inputs',
		cases: () => [
			modelCase('lm_eval --model vllm --model_args {"dtype": "auto"} --tasks gsm8k', undefined),
			modelCase('lm_eval --model hf --model_args pretrained=EleutherAI/pythia-70m,dtype=auto', 'EleutherAI/pythia-70m'),
			modelCase('lm_eval --model hf --model_args pretrained=,dtype=auto', undefined),
			copyCase('gpt-oss-20b', 'openai'),
			copyCase('DeepSeek-V3', 'deepseek-ai'),
			modelCase('vllm serve /models/llama-3', '/models/llama-3', ''),
		],
		differences: {
			'vllm serve /models/llama-3': 'a path shows its last part',
		},
	},
];
