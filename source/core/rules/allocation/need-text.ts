/** What GPUs must have, in one line of words, as the monitor's dialog takes it: `40G h100 nvlink`. */
import {CanhazgpuError, quoted} from '../../../errors.js';
import type {Need} from '../../model/types.js';
import {parseMemoryMiB} from './memory-size.js';

type Words = {
	/** A size, as it was typed. */
	readonly memory: string | undefined;
	readonly compute: string | undefined;
	readonly models: readonly string[];
	readonly isMixed: boolean;
	readonly isLinked: boolean;
};

/** @throws CanhazgpuError `usage` for a word that is none of these, and for two sizes. */
function sortWords(text: string): Words {
	const words = text.split(/[\s,]+/v).filter((word) => word !== '');
	const isSize = (word: string): boolean => parseMemoryMiB(word) !== undefined;
	const isCompute = (word: string): boolean => /^\d{1,3}\.\d{1,3}$/v.test(word);
	const isName = (name: string, word: string): boolean => word.toLowerCase() === name;
	const sizes = words.filter((word) => isSize(word));
	const capabilities = words.filter((word) => isCompute(word));
	const models = words.filter(
		(word) => !isSize(word) && !isCompute(word) && !isName('mixed', word) && !isName('nvlink', word),
	);
	// Some models are numbers of four digits.
	const isModelName = (word: string): boolean =>
		/^\d{4}$/v.test(word) || (/\p{Letter}/v.test(word) && !/^[\d.]+[gkmt]i?b?$/iv.test(word));
	const wrong = models.find((word) => !isModelName(word)) ?? sizes[1] ?? capabilities[1];
	if (wrong !== undefined) {
		throw new CanhazgpuError('usage', `Needs: ${quoted(wrong)} is one too many, or nothing that a GPU can have`, {
			hint: 'Write 40G for memory, 8.0 for compute capability, models such as h100, nvlink or mixed.',
		});
	}

	return {
		memory: sizes[0],
		compute: capabilities[0],
		models,
		isMixed: words.some((word) => isName('mixed', word)),
		isLinked: words.some((word) => isName('nvlink', word)),
	};
}

/**
@param text - Words with blanks or commas between them: a size of memory, a compute capability, models, `nvlink`, `mixed`.
@throws CanhazgpuError `usage` for a word that is none of these.
@returns Undefined where nothing is needed.
*/
export function parseNeed(text: string): Need | undefined {
	const {memory, compute, models, isMixed, isLinked} = sortWords(text);
	const need: Need = {
		minMemoryMiB: memory === undefined ? undefined : parseMemoryMiB(memory),
		models: models.length === 0 ? undefined : models,
		minCompute: compute,
		sameModel: isMixed ? false : undefined,
		nvlink: isLinked ? true : undefined,
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

	const {memory, compute, models, isMixed, isLinked} = words;
	return [
		...(memory === undefined ? [] : ['--min-memory', memory]),
		...(models.length === 0 ? [] : ['--model', models.join(',')]),
		...(compute === undefined ? [] : ['--min-compute', compute]),
		...(isMixed ? ['--mixed'] : []),
		...(isLinked ? ['--nvlink'] : []),
	];
}
