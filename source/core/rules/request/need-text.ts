/** Parses the requirements of a request from one line, as typed into dialogs: `40G h100 nvlink`, or `1g.10gb` for a MIG instance. */
import {CanhazgpuError, quoted} from '../../../errors.js';
import type {Need} from '../../model/types.js';
import {parseProfile} from '../mig/profile.js';
import {strategyNames, type StrategyName} from '../../model/need.js';
import {parseMemoryMiB, shareMiBOf} from './memory-size.js';

type Words = {
	readonly memory: string | undefined;
	readonly compute: string | undefined;
	readonly models: readonly string[];
	readonly isMixed: boolean;
	readonly isLinked: boolean;
	readonly profile: string | undefined;
	readonly strategy: StrategyName | undefined;
};

const isStrategy = (word: string): word is StrategyName => (strategyNames as readonly string[]).includes(word);

/** Whether a word names a GPU model. Some models are numbers of four digits. */
const isModelName = (word: string): boolean =>
	/^\d{4}$/v.test(word) || (/\p{Letter}/v.test(word) && !/^[\d.]+[gkmt]i?b?$/iv.test(word));

function kindOf(word: string): 'size' | 'compute' | 'profile' | 'strategy' | 'mixed' | 'nvlink' | 'model' | 'wrong' {
	const name = word.toLowerCase();
	if (name === 'mixed' || name === 'nvlink') {
		return name;
	}

	return isStrategy(name)
		? 'strategy'
		: parseMemoryMiB(word) === undefined
			? /^\d{1,3}\.\d{1,3}$/v.test(word)
				? 'compute'
				: parseProfile(word) === undefined
					? isModelName(word)
						? 'model'
						: 'wrong'
					: 'profile'
			: 'size';
}

const kindsOfWhole: ReadonlySet<string> = new Set(['size', 'mixed', 'nvlink', 'strategy']);

function sortWords(text: string): Words {
	const words = text.split(/[\s,]+/v).filter((word) => word !== '');
	const byKind = Map.groupBy(words, kindOf);
	const of = (kind: ReturnType<typeof kindOf>): readonly string[] => byKind.get(kind) ?? [];
	const [sizes, capabilities] = [of('size'), of('compute')];
	const profiles = of('profile').map((word) => parseProfile(word)!);
	const strategies = of('strategy').map((word) => word.toLowerCase() as StrategyName);
	const wrong = of('wrong')[0] ?? sizes[1] ?? capabilities[1] ?? profiles[1] ?? strategies[1];
	if (wrong !== undefined) {
		throw new CanhazgpuError('usage', `Needs: ${quoted(wrong)} is unknown, or contradicts another word`, {
			hint: `Use words such as 40G (memory), 8.0 (compute capability), h100 (model), nvlink (linked GPUs), mixed (different models), 1g.10gb (MIG instance), or a strategy: ${strategyNames.join(', ')}.`,
		});
	}

	const [profile] = profiles;
	const ofWhole = words.find((word) => kindsOfWhole.has(kindOf(word)));
	if (profile !== undefined && ofWhole !== undefined) {
		throw new CanhazgpuError(
			'usage',
			`Needs: ${profile} asks for a MIG instance, but ${quoted(ofWhole)} applies only to whole GPUs`,
			{hint: 'Leave out one of them.'},
		);
	}

	return {
		memory: sizes[0],
		compute: capabilities[0],
		models: of('model'),
		isMixed: byKind.has('mixed'),
		isLinked: byKind.has('nvlink'),
		profile,
		strategy: strategies[0],
	};
}

type Needed = {readonly need: Need | undefined; readonly strategy: StrategyName | undefined};

/** Parses memory size, compute capability, models, `nvlink`, `mixed`, MIG profile and strategy. Throws `usage` for unknown or conflicting words. */
export function parseNeeds(text: string): Needed {
	const {memory, compute, models, isMixed, isLinked, profile, strategy} = sortWords(text);
	const need: Need = {
		minMemoryMiB: memory === undefined ? undefined : parseMemoryMiB(memory),
		models: models.length === 0 ? undefined : models,
		minCompute: compute,
		sameModel: isMixed ? false : undefined,
		nvlink: isLinked ? true : undefined,
		mig: profile === undefined ? undefined : {profile},
	};
	return {need: Object.values(need).every((value) => value === undefined) ? undefined : need, strategy};
}

function withShare(need: Need | undefined, typed: string): Need | undefined {
	if (typed === '') {
		return need;
	}

	if (need?.mig !== undefined) {
		throw new CanhazgpuError('usage', 'Share: a MIG instance cannot be shared', {
			hint: 'Leave out the share or the MIG profile.',
		});
	}

	return {...need, shareMiB: shareMiBOf(typed, 'Share')};
}

/** Returns the request that a form's fields describe. `share` is empty for whole GPUs. Throws `usage` for invalid or conflicting words. */
export function wishOf({
	count,
	needs,
	share,
}: {
	readonly count: number;
	readonly needs: string;
	readonly share: string;
}) {
	const {need: needed, strategy} = parseNeeds(needs);
	const need = withShare(needed, share);
	if (need?.nvlink === true && count === 1) {
		throw new CanhazgpuError('usage', 'Needs: nvlink is for links between GPUs, but you asked for only one GPU', {
			hint: 'Ask for more GPUs, or leave out nvlink.',
		});
	}

	return {need, strategy} satisfies Needed;
}

/** Returns the equivalent flags of `reserve`, or none for an invalid text. */
export function needFlagsFor(text: string): readonly string[] {
	let words: Words;
	try {
		words = sortWords(text);
	} catch {
		return [];
	}

	const {memory, compute, models, isMixed, isLinked, profile, strategy} = words;
	return [
		...(memory === undefined ? [] : ['--min-memory', memory]),
		...(models.length === 0 ? [] : ['--model', models.join(',')]),
		...(compute === undefined ? [] : ['--min-compute', compute]),
		...(isMixed ? ['--mixed'] : []),
		...(isLinked ? ['--nvlink'] : []),
		...(profile === undefined ? [] : ['--mig', profile]),
		...(strategy === undefined ? [] : ['--strategy', strategy]),
	];
}
