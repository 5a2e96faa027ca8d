/** How `run` and `reserve` say what the GPUs must have. */
import type {Flags, Input} from '../../command-line/command.js';
import type {Need} from '../../core/model/types.js';
import type {StrategyName} from '../../core/rules/allocation/strategy.js';
import {parseShareMiB} from '../../core/rules/allocation/memory-size.js';
import {CanhazgpuError, quoted} from '../../errors.js';

type Verb = 'run' | 'reserve';

export const needFlags = (verb: Verb): Flags => ({
	share: {
		value: 'SIZE',
		summary: 'a part of each GPU, others beside it: so much of its memory',
		completes: ['4G', '8G', '16G', '24G', '40G'],
	},
	'min-memory': {
		value: 'SIZE',
		summary: 'GPUs with so much memory or more: 40G',
		otherNames: ['gpu-memory'],
		setting: `${verb}.min-memory`,
		completes: ['16G', '24G', '40G', '48G', '80G'],
	},
	model: {
		value: 'NAMES',
		summary: 'GPUs of one of these models: h100,a100',
		isList: true,
		setting: `${verb}.model`,
		completes: ['a10', 'a100', 'b200', 'h100', 'h200', 'l4', 'l40s', 'mi300x', 't4', 'v100'],
	},
	'min-compute': {
		value: 'X.Y',
		summary: 'GPUs of this CUDA compute capability or higher: 8.0',
		setting: `${verb}.min-compute`,
		completes: ['7.0', '7.5', '8.0', '8.6', '8.9', '9.0', '10.0', '12.0'],
	},
	'same-model': {summary: 'GPUs of one model: so it is for more than one', setting: `${verb}.same-model`},
	mixed: {summary: 'GPUs of different models will do'},
	nvlink: {summary: 'GPUs that are linked with each other by NVLink', setting: `${verb}.nvlink`},
	strategy: {
		value: 'NAME',
		summary: 'which of the free GPUs: mru, lru, pack, spread, cool or topology',
		setting: `${verb}.strategy`,
	},
	workload: {
		value: 'KIND',
		summary: 'the strategy for training (cool) or serving (pack)',
		completes: ['train', 'serve'],
	},
});

const workloads: Readonly<Record<string, StrategyName>> = {train: 'cool', serve: 'pack'};

/**
Which of the free GPUs are to be taken; undefined where nothing was said.

@throws CanhazgpuError `usage` for a kind of work that is not known, and for both a strategy and a kind of work.
*/
export function strategyOf(input: Input, verb: Verb): StrategyName | undefined {
	const workload = input.text('workload');
	if (workload === undefined) {
		return input.config.get(`${verb}.strategy`);
	}

	if (!Object.hasOwn(workloads, workload)) {
		throw new CanhazgpuError('usage', `--workload must be train or serve, not ${quoted(workload)}`, {
			hint: 'Or name a strategy: see canhazgpu help queue',
		});
	}

	if (input.has('strategy')) {
		throw new CanhazgpuError('usage', 'Give --strategy or --workload, not both', {
			hint: `--workload ${workload} is --strategy ${workloads[workload]}.`,
		});
	}

	return workloads[workload];
}

/** @throws CanhazgpuError `usage` for what is no size. */
function shareOf(input: Input): number | undefined {
	const typed = input.text('share');
	if (typed === undefined) {
		return undefined;
	}

	const shareMiB = parseShareMiB(typed);
	if (shareMiB === undefined) {
		const isBare = /^\d+(?:\.\d+)?$/v.test(typed) && Number(typed) > 0;
		throw new CanhazgpuError(
			'usage',
			isBare ? `--share: ${quoted(typed)} has no unit` : `--share: ${quoted(typed)} is no size of memory`,
			{hint: isBare ? `Did you mean ${typed}G?` : 'Write a number and a unit, 1M or more: 8G, 512M or 8GiB.'},
		);
	}

	return shareMiB;
}

type Wish = {readonly count: number; readonly ids: readonly number[] | undefined};

/** Whether all GPUs have to be of one model; undefined where nothing was said. */
function sameModelOf(input: Input, verb: Verb, {count, ids}: Wish): boolean | undefined {
	if (input.has('same-model') && input.has('mixed')) {
		throw new CanhazgpuError('usage', '--same-model wants GPUs of one model, and --mixed does not', {
			hint: 'Leave out one of them.',
		});
	}

	if (count === 1) {
		return undefined;
	}

	return input.has('mixed')
		? false
		: isMeant(input, 'same-model', ids)
			? input.config.get(`${verb}.same-model`)
			: undefined;
}

/** Whether all GPUs have to be linked by NVLink; undefined where that was not said. */
function nvlinkOf(input: Input, verb: Verb, {count, ids}: Wish): true | undefined {
	if (count > 1) {
		return isMeant(input, 'nvlink', ids) && input.config.get(`${verb}.nvlink`) === true ? true : undefined;
	}

	if (input.has('nvlink')) {
		throw new CanhazgpuError('usage', '--nvlink is about the links between GPUs, and one GPU is wanted', {
			hint: 'Ask for more: --gpus 2 --nvlink',
		});
	}

	return undefined;
}

/** Ids that are typed count more than what a config file says of GPUs in general. */
const isMeant = (input: Input, flag: string, ids: Wish['ids']): boolean =>
	ids === undefined || input.has(flag) || !input.has('gpu-ids');

/**
What was typed, and what the config says, of what the GPUs must have.

@throws CanhazgpuError `usage` for flags that contradict each other.
@returns Undefined where nothing was said.
*/
export function needOf(input: Input, verb: Verb, wish: Wish): Need | undefined {
	const given = <Value>(flag: 'min-memory' | 'model' | 'min-compute', value: Value): Value | undefined =>
		isMeant(input, flag, wish.ids) ? value : undefined;
	const need: Need = {
		shareMiB: shareOf(input),
		minMemoryMiB: given('min-memory', input.config.get(`${verb}.min-memory`)),
		models: given('model', input.config.get(`${verb}.model`)),
		minCompute: given('min-compute', input.config.get(`${verb}.min-compute`)),
		sameModel: sameModelOf(input, verb, wish),
		nvlink: nvlinkOf(input, verb, wish),
	};
	return Object.values(need).every((value) => value === undefined) ? undefined : need;
}
