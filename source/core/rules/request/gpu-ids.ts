import {mostGpus} from '../../model/observation.js';

/** Whether a text can be a GPU id. Does not check that the pool has such a GPU. */
export const isGpuId = (typed: string): boolean => /^\d{1,9}$/v.test(typed);

/** Splits a text such as `1,3` or `0-3,7` into ids, in the typed order. Other words are returned unchanged, so that the caller can reject them. */
export const idWordsOf = (text: string): readonly string[] =>
	text.split(',').flatMap((part) => {
		const {first, last} = /^\s*(?<first>\d{1,9})\s*-\s*(?<last>\d{1,9})\s*$/v.exec(part)?.groups ?? {};
		const count = Number(last) - Number(first) + 1;
		return count > 0 && count <= mostGpus
			? Array.from({length: count}, (_, index) => String(Number(first) + index))
			: [part.trim()];
	});
