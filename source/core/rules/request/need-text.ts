/** What GPUs must have, in one line of words, as the monitor's dialog takes it: `40G h100 nvlink`, or `1g.10gb` for an instance of MIG. */
import {CanhazgpuError, quoted} from '../../../errors.js';
import type {Need} from '../../model/types.js';
import {parseProfile} from '../mig/profile.js';
import {parseMemoryMiB} from './memory-size.js';

type Words = {
	/** A size, as it was typed. */
	readonly memory: string | undefined;
	readonly compute: string | undefined;
	readonly models: readonly string[];
	readonly isMixed: boolean;
	readonly isLinked: boolean;
	/** Of an instance of MIG. */
	readonly profile: string | undefined;
};

/** @throws CanhazgpuError `usage` for a word that is none of these, for two sizes, and for what goes with whole GPUs beside a profile of MIG. */
function sortWords(text: string): Words {
	const words = text.split(/[\s,]+/v).filter((word) => word !== '');
	const isSize = (word: string): boolean => parseMemoryMiB(word) !== undefined;
	const isCompute = (word: string): boolean => /^\d{1,3}\.\d{1,3}$/v.test(word);
	const isName = (name: string, word: string): boolean => word.toLowerCase() === name;
	const sizes = words.filter((word) => isSize(word));
	const capabilities = words.filter((word) => isCompute(word));
	const profiles = words.map((word) => parseProfile(word)).filter((profile) => profile !== undefined);
	const models = words.filter(
		(word) =>
			!isSize(word) &&
			!isCompute(word) &&
			parseProfile(word) === undefined &&
			!isName('mixed', word) &&
			!isName('nvlink', word),
	);
	// Some models are numbers of four digits.
	const isModelName = (word: string): boolean =>
		/^\d{4}$/v.test(word) || (/\p{Letter}/v.test(word) && !/^[\d.]+[gkmt]i?b?$/iv.test(word));
	const wrong = models.find((word) => !isModelName(word)) ?? sizes[1] ?? capabilities[1] ?? profiles[1];
	if (wrong !== undefined) {
		throw new CanhazgpuError('usage', `Needs: ${quoted(wrong)} is one too many, or nothing that a GPU can have`, {
			hint: 'Write 40G for memory, 8.0 for compute capability, models such as h100, nvlink or mixed; 1g.10gb for an instance of MIG.',
		});
	}

	const [profile] = profiles;
	const ofWhole = words.find((word) => isSize(word) || isName('mixed', word) || isName('nvlink', word));
	if (profile !== undefined && ofWhole !== undefined) {
		throw new CanhazgpuError(
			'usage',
			`Needs: ${profile} is an instance of MIG, and ${quoted(ofWhole)} is about whole GPUs`,
			{hint: 'Leave out one of them.'},
		);
	}

	return {
		memory: sizes[0],
		compute: capabilities[0],
		models,
		isMixed: words.some((word) => isName('mixed', word)),
		isLinked: words.some((word) => isName('nvlink', word)),
		profile,
	};
}

/**
@param text - Words with blanks or commas between them: a size of memory, a compute capability, models, `nvlink`, `mixed`, a profile of MIG.
@throws CanhazgpuError `usage` for a word that is none of these, or does not go with another.
@returns Undefined where nothing is needed.
*/
export function parseNeed(text: string): Need | undefined {
	const {memory, compute, models, isMixed, isLinked, profile} = sortWords(text);
	const need: Need = {
		minMemoryMiB: memory === undefined ? undefined : parseMemoryMiB(memory),
		models: models.length === 0 ? undefined : models,
		minCompute: compute,
		sameModel: isMixed ? false : undefined,
		nvlink: isLinked ? true : undefined,
		mig: profile === undefined ? undefined : {profile},
	};
	return Object.values(need).every((value) => value === undefined) ? undefined : need;
}

/** The flags of `reserve` that say the same. None while a word is wrong. */
export function needFlagsFor(text: string): readonly string[] {
	let words: Words;
	try {
		words = sortWords(text);
	} catch {
		return [];
	}

	const {memory, compute, models, isMixed, isLinked, profile} = words;
	return [
		...(memory === undefined ? [] : ['--min-memory', memory]),
		...(models.length === 0 ? [] : ['--model', models.join(',')]),
		...(compute === undefined ? [] : ['--min-compute', compute]),
		...(isMixed ? ['--mixed'] : []),
		...(isLinked ? ['--nvlink'] : []),
		...(profile === undefined ? [] : ['--mig', profile]),
	];
}
