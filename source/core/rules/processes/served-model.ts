/** Finds the model that a process serves or trains in its command line: vLLM, SGLang, TGI, lm_eval, and any `--model`. */
import type {GpuProcess, GpuReading, Observation, Snapshot} from '../../model/types.js';
import {emptyPlan, type Plan} from '../../model/plan.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {planChange} from '../leases/lease-changes.js';
import {ownerOf} from '../leases/ownership.js';
import {usageOfShares} from '../usage/share-usage.js';
import {maskSecrets} from './secrets.js';

export type Model = {
	readonly provider?: string;
	/** The name of the model. For a local path, only its last part. */
	readonly model: string;
};

/** Flags that name a model, the most reliable first. `--model` is last, because lm_eval uses `--model` for the backend. */
const modelFlags = ['--model-path', '--model-id', '--model_path', '--model_id', '--model_name_or_path', '--model'];

const longestName = 200;

const isPath = (text: string): boolean => /^(?:[\/~]|\.{1,2}\/)/v.test(text);

function named(text: string | undefined): Model | undefined {
	if (text === undefined || text === '' || text.startsWith('-') || text.length > longestName) {
		return undefined;
	}

	if (isPath(text)) {
		const last = text.split('/').findLast((part) => part !== '');
		return last === undefined ? undefined : {model: last};
	}

	const slash = text.indexOf('/');
	return slash > 0 ? {provider: text.slice(0, slash), model: text} : {model: text};
}

function valueOf(words: readonly string[], flag: string): string | undefined {
	const index = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
	return index === -1 || words[index] === flag ? words[index + 1] : words[index]!.slice(flag.length + 1);
}

function unquoted(text: string): string {
	try {
		return JSON.parse(`"${text}"`) as string;
	} catch {
		return text;
	}
}

/** Returns the model in `--model_args pretrained=NAME,dtype=auto`. The arguments can also be JSON that contains blanks. */
function pretrainedOf(commandLine: string): string | undefined {
	const args = /--model_args[ =](?<args>.*)/v.exec(commandLine)?.groups?.['args'] ?? '';
	const json = /"pretrained" ?: ?"(?<name>(?:\\.|[^\s"\\])+)"/v.exec(args)?.groups?.['name'];
	return json === undefined
		? /(?:^|[ ,\{])["']?pretrained["']? ?[:=] ?["']?(?<name>[^\s"',\}]+)/v.exec(args)?.groups?.['name']
		: unquoted(json);
}

/** Whether the command is lm_eval, for which `--model` names the program that runs the model, such as `hf` or `vllm`. */
const isEvaluation = (words: readonly string[]): boolean =>
	words.some(
		(word) => /(?:^|\/)lm[\-_]eval$/v.test(word) || word === '--model_args' || word.startsWith('--model_args='),
	);

/** Returns the model after `vllm serve`. Undefined if a flag follows instead. */
function servedOf(words: readonly string[]): string | undefined {
	const serve = words.findIndex(
		(word, index) => word === 'serve' && /(?:^|\/)vllm$|^vllm\./v.test(words[index - 1] ?? ''),
	);
	const name = serve === -1 ? undefined : words[serve + 1];
	return name?.startsWith('-') ? undefined : name;
}

/** Beginnings of model names, and the publisher of these models. The list is the same as in the Go program. */
const families: ReadonlyArray<readonly [beginning: RegExp, publisher: string]> = [
	[/^(?:meta-)?llama/iv, 'meta-llama'],
	[/^qwen/iv, 'qwen'],
	[/^deepseek/iv, 'deepseek-ai'],
	[/^mi[sx]tral/iv, 'mistralai'],
	[/^(?:gpt|whisper)/iv, 'openai'],
];

/** Returns the model that lm_eval evaluates. For a local copy, returns the model's name on the Hugging Face hub, as the Go program does. */
function evaluated(pretrained: string | undefined): string | undefined {
	const name = pretrained?.startsWith('/') ? pretrained.split('/').findLast((part) => part !== '') : undefined;
	const family = name === undefined ? undefined : families.find(([beginning]) => beginning.test(name));
	return family === undefined ? pretrained : `${family[1]}/${name}`;
}

/** Returns the model that a command line names. Secrets are masked first, because a model can be an address that contains a password. */
export function modelOfCommand(unmasked: string): Model | undefined {
	const commandLine = maskSecrets(unmasked);
	const words = commandLine.split(/\s+/v);
	const flags = isEvaluation(words) ? modelFlags.filter((flag) => flag !== '--model') : modelFlags;
	const flagged = flags.map((flag) =>
		words.some((word) => word === flag || word.startsWith(`${flag}=`)) ? valueOf(words, flag) : undefined,
	);
	return [evaluated(pretrainedOf(commandLine)), servedOf(words), ...flagged]
		.map((name) => named(name))
		.find((model) => model !== undefined);
}

/** Returns the first model that a process or one of its ancestors names. Worker processes often name none. */
export function modelOf(processes: readonly GpuProcess[]): Model | undefined {
	// Workers of one job share their ancestors and often their command line, so each line is examined only once.
	const lines = new Set(processes.flatMap(({commandLine, ancestors}) => [commandLine, ...(ancestors ?? [])]));
	for (const line of lines) {
		const model = line === undefined ? undefined : modelOfCommand(line);
		if (model !== undefined) {
			return model;
		}
	}

	return undefined;
}

const processesOf = (
	{lease, sharedBy}: Holding,
	processes: readonly GpuProcess[],
	reading: GpuReading | undefined,
): readonly GpuProcess[] =>
	sharedBy === undefined
		? processes.filter(({user}) => user === ownerOf(lease))
		: usageOfShares(sharedBy.record.shares, processes, reading).shares[sharedBy.position]!.processes;

/** Plans to store in each lease the model that its processes serve or train. A stored model stays, so that each lease is written only once. */
export function planServedModels({gpus}: Pick<Snapshot, 'gpus'>, observation: Pick<Observation, 'gpus'>): Plan {
	const models = new Map<Holding, string>();
	const seen = holdingsIn(gpus).filter((holding) => {
		const {index, lease} = holding;
		const reading = lease.model === undefined ? observation.gpus.find((gpu) => gpu.index === index) : undefined;
		const model = modelOf(processesOf(holding, reading?.processes ?? [], reading))?.model;
		if (model !== undefined) {
			models.set(holding, model);
		}

		return model !== undefined;
	});
	return seen.length === 0
		? emptyPlan
		: planChange(seen, (lease, holding) => ({...lease, model: models.get(holding)}), undefined);
}
