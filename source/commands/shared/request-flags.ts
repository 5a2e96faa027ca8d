import type {App} from '../../app/contract.js';
import type {Flags, Input} from '../../command-line/command.js';
import type {StrategyName} from '../../core/model/need.js';
import type {InstanceNeed, Need} from '../../core/model/types.js';
import {inventoryText} from '../../core/rules/allocation/impossible.js';
import {instanceText} from '../../core/rules/mig/instances.js';
import {parseProfile} from '../../core/rules/mig/profile.js';
import {shareMiBOf} from '../../core/rules/request/memory-size.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import type {NamedParts} from '../../format/instances.js';
import {sanitize} from '../../format/text/text.js';
import {namedPartsOf, refuseBoth} from './flag-values.js';
import {idsFlag, usualDurations} from './common-flags.js';
import {withWorld} from './with-world.js';

type ClaimingCommand = 'run' | 'reserve';

const needFlags = (command: ClaimingCommand): Flags => ({
	share: {
		value: 'SIZE',
		summary: 'reserve SIZE of memory on each GPU and share the rest',
		completes: ['4G', '8G', '16G', '24G', '40G'],
	},
	mig: {
		value: 'PROFILE',
		summary: 'a MIG instance of this profile or larger, such as 1g.10gb',
		completes: 'mig-profiles',
	},
	'min-memory': {
		value: 'SIZE',
		summary: 'minimum memory of each GPU, such as 40G',
		aliases: ['gpu-memory'],
		setting: `${command}.min-memory`,
		completes: ['16G', '24G', '40G', '48G', '80G'],
	},
	model: {
		value: 'NAMES',
		summary: 'only GPUs of these models, such as h100,a100',
		isMultiple: true,
		mayBeEmpty: true,
		setting: `${command}.model`,
		completes: ['a10', 'a100', 'b200', 'h100', 'h200', 'l4', 'l40s', 'mi300x', 't4', 'v100'],
	},
	'min-compute': {
		value: 'X.Y',
		summary: 'minimum CUDA compute capability of each GPU, such as 8.0',
		setting: `${command}.min-compute`,
		completes: ['7.0', '7.5', '8.0', '8.6', '8.9', '9.0', '10.0', '12.0'],
	},
	'same-model': {
		summary: 'only GPUs of the same model (default for more than one GPU)',
		setting: `${command}.same-model`,
	},
	mixed: {summary: 'allow GPUs of different models'},
	nvlink: {summary: 'only GPUs linked to each other by NVLink or XGMI', setting: `${command}.nvlink`},
	strategy: {
		value: 'NAME',
		summary: 'which free GPUs to prefer: mru, lru, pack, spread, cool or topology',
		setting: `${command}.strategy`,
	},
	workload: {
		value: 'KIND',
		summary: 'kind of work: train (like --strategy cool) or serve (like --strategy pack)',
		completes: ['train', 'serve'],
	},
});

const workloads: Readonly<Record<string, StrategyName>> = {train: 'cool', serve: 'pack'};

export function strategyOf(input: Input, command: ClaimingCommand): StrategyName | undefined {
	const workload = input.text('workload');
	if (workload === undefined) {
		return input.config.get(`${command}.strategy`);
	}

	if (!Object.hasOwn(workloads, workload)) {
		throw new CanhazgpuError('usage', `--workload must be train or serve, not ${quoted(workload)}`, {
			hint: 'To choose a strategy yourself, use --strategy: see canhazgpu help queue',
		});
	}

	refuseBoth(input, 'strategy', 'workload', `--workload ${workload} already means --strategy ${workloads[workload]}.`);

	return workloads[workload];
}

function shareOf(input: Input): number | undefined {
	const typed = input.text('share');
	return typed === undefined ? undefined : shareMiBOf(typed, '--share');
}

const wholeFlags = ['share', 'min-memory', 'same-model', 'mixed', 'nvlink', 'strategy', 'workload', 'mps'] as const;

/** Returns the requested MIG instances, given by profile or by the names in `--gpu-ids`. Undefined for a request for whole GPUs. */
function instanceNeedOf(input: Input, named: NamedParts | undefined): InstanceNeed | undefined {
	const typed = input.text('mig');
	const hasNames = named !== undefined && named.instances.length > 0;
	if (typed === undefined && !hasNames) {
		return undefined;
	}

	if (hasNames && named.ids.length > 0) {
		throw new CanhazgpuError('usage', '--gpu-ids names both whole GPUs and MIG instances', {
			hint: 'Use two commands.',
		});
	}

	refuseBoth(
		input,
		'mig',
		'gpu-ids',
		'A name such as 0:1 asks for that one instance. A profile asks for any instance of that size.',
	);

	const what = hasNames ? `--gpu-ids ${instanceText(named.instances[0]!)}` : '--mig';
	const other = wholeFlags.find((flag) => input.has(flag));
	if (other !== undefined) {
		throw new CanhazgpuError('usage', `${what} asks for a MIG instance, but --${other} applies only to whole GPUs`, {
			hint: 'Leave out one of them.',
		});
	}

	if (hasNames) {
		return {instances: named.instances};
	}

	const profile = parseProfile(typed!);
	if (profile === undefined) {
		throw new CanhazgpuError('usage', `--mig: ${quoted(typed!)} is not a MIG profile`, {
			hint: 'Write one such as 1g.10gb. To see the profiles of this pool: canhazgpu status',
		});
	}

	return {profile};
}

const needOfInstances = (input: Input, command: ClaimingCommand, mig: InstanceNeed): Need => ({
	mig,
	models: input.has('model') ? input.config.get(`${command}.model`) : undefined,
	minCompute: input.has('min-compute') ? input.config.get(`${command}.min-compute`) : undefined,
});

type Wish = {readonly count: number; readonly ids: readonly number[] | undefined};

function sameModelOf(input: Input, command: ClaimingCommand, {count, ids}: Wish): boolean | undefined {
	if (input.has('same-model') && input.has('mixed')) {
		throw new CanhazgpuError('usage', '--same-model and --mixed cannot be combined', {
			hint: 'Leave out one of them.',
		});
	}

	if (count === 1) {
		return undefined;
	}

	return input.has('mixed')
		? false
		: isMeant(input, 'same-model', ids)
			? input.config.get(`${command}.same-model`)
			: undefined;
}

function nvlinkOf(input: Input, command: ClaimingCommand, {count, ids}: Wish): true | undefined {
	if (count > 1) {
		return isMeant(input, 'nvlink', ids) && input.config.get(`${command}.nvlink`) === true ? true : undefined;
	}

	if (input.has('nvlink')) {
		throw new CanhazgpuError('usage', '--nvlink needs at least two GPUs', {
			hint: 'Ask for more: --gpus 2 --nvlink',
		});
	}

	return undefined;
}

/** Whether a requirement such as --model applies. If GPU ids are typed, requirements from a config file do not apply. */
const isMeant = (input: Input, flag: string, ids: Wish['ids']): boolean =>
	ids === undefined || input.has(flag) || !input.has('gpu-ids');

function needOf(input: Input, command: ClaimingCommand, wish: Wish): Need | undefined {
	const given = <Value>(flag: 'min-memory' | 'model' | 'min-compute', value: Value): Value | undefined =>
		isMeant(input, flag, wish.ids) ? value : undefined;
	const need: Need = {
		shareMiB: shareOf(input),
		minMemoryMiB: given('min-memory', input.config.get(`${command}.min-memory`)),
		models: given('model', input.config.get(`${command}.model`)),
		minCompute: given('min-compute', input.config.get(`${command}.min-compute`)),
		sameModel: sameModelOf(input, command, wish),
		nvlink: nvlinkOf(input, command, wish),
	};
	return Object.values(need).every((value) => value === undefined) ? undefined : need;
}

export const wantFlags = (command: ClaimingCommand): Flags => ({
	gpus: {shortFlag: 'g', value: 'N', summary: 'number of GPUs (default: 1)', setting: `${command}.gpus`},
	'gpu-ids': idsFlag('parts'),
	...needFlags(command),
	note: {
		shortFlag: 'n',
		value: 'TEXT',
		summary: 'a note that everyone can see',
		setting: `${command}.note`,
		mayBeEmpty: true,
	},
	user: {
		shortFlag: 'u',
		value: 'NAME',
		summary: 'your name, if several people share this account',
		setting: `${command}.user`,
		mayBeEmpty: true,
		completes: 'labels',
	},
	nonblock: {
		summary: 'exit with code 3 instead of waiting in the queue',
		setting: `${command}.nonblock`,
	},
	wait: {
		shortFlag: 'w',
		value: 'TIME',
		summary: 'leave the queue after this time and exit with code 3',
		setting: `${command}.wait`,
		mayBeEmpty: true,
		completes: usualDurations,
	},
});

export function wantedOf(
	input: Input,
	command: ClaimingCommand,
): {readonly ids: readonly number[] | undefined; readonly count: number; readonly need: Need | undefined} {
	const named = namedPartsOf(input);
	const mig = instanceNeedOf(input, named);
	// A typed number of GPUs overrides GPU ids from a config file.
	const configured = input.has('gpus') ? undefined : input.config.get(`${command}.gpu-ids`);
	const ids = mig === undefined ? (named?.ids ?? configured) : undefined;
	const count = countOf(input, `${command}.gpus`, mig !== undefined && 'instances' in mig ? mig.instances : ids);
	return {
		ids,
		count,
		need: mig === undefined ? needOf(input, command, {count, ids}) : needOfInstances(input, command, mig),
	};
}

/** Returns the details that a scan must read. Reading MIG instances takes long, so only requests for MIG instances read them. */
export const detailsFor = (need: Need | undefined): 'parts' | undefined =>
	need?.mig === undefined ? undefined : 'parts';

/** Returns the number of GPUs. With `--gpu-ids`, `--gpus` must be the number of ids, or 1, which many scripts always pass. */
export function countOf(
	input: Input,
	setting: 'run.gpus' | 'reserve.gpus',
	ids: readonly unknown[] | undefined,
): number {
	const isTypedAlone = ids !== undefined && input.has('gpu-ids') && !input.has('gpus');
	const count = isTypedAlone ? undefined : input.config.get(setting);
	if (ids !== undefined && count !== undefined && count !== 1 && count !== ids.length) {
		throw new CanhazgpuError('usage', `conflicting gpu count (${count}) and gpu ids (count: ${ids.length})`, {
			hint: input.has('gpus')
				? 'Leave out --gpus: --gpu-ids says how many.'
				: `Remove the setting ${setting}: ${setting.replace('gpus', 'gpu-ids')} says how many.`,
		});
	}

	return ids?.length ?? count ?? 1;
}

/** Returns the seconds to wait. 0 means not to wait, and undefined means no limit. `--nonblock` overrides `--wait`. */
export function waitSecondsOf(input: Input, command: ClaimingCommand): number | undefined {
	const waits = input.has('wait') && !input.has('nonblock');
	return input.config.get(`${command}.nonblock`) === true && !waits ? 0 : input.config.get(`${command}.wait`);
}

async function modelsOfPool(app: App): Promise<string> {
	try {
		return await withWorld(app, {willScan: true}, async (world) => {
			const [{gpus}, observation] = await Promise.all([world.store.read(), world.gpus.observe()]);
			return inventoryText(observation.gpus.filter(({index}) => index < gpus.length));
		});
	} catch {
		return '';
	}
}

export async function requireModelNames(app: App, input: Input): Promise<void> {
	// Only an empty name gets this far. All other invalid names were refused when the flags were read.
	if (input.text('model') !== '') {
		return;
	}

	const isElsewhere = input.has('on') || (await app.foreignEngine()) !== undefined;
	const models = isElsewhere ? '' : await modelsOfPool(app);
	throw new CanhazgpuError('usage', '--model needs at least one GPU model, not ""', {
		hint: models === '' ? 'Write --model NAMES, such as h100,a100' : `The pool has ${sanitize(models)}.`,
	});
}
