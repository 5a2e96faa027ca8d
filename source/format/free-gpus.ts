/** How many GPUs are free, in the words of every face. */
import type {FreeGpus} from '../core/rules/pool/status.js';

/** Of free GPUs in the words of the JSON, which lists the instances of one that MIG has split, also into nothing yet. */
export function freeAmong(available: ReadonlyArray<{readonly mig_instances?: unknown}>): FreeGpus {
	const split = available.filter(({mig_instances: instances}) => Array.isArray(instances)).length;
	return {whole: available.length - split, split};
}

/** Empty where MIG has split no free GPU. */
export const splitText = ({split}: FreeGpus): string => (split === 0 ? '' : `+${split} MIG`);

/** `2`, or `2 +1 MIG`. */
export const freeText = (free: FreeGpus): string => `${free.whole} ${splitText(free)}`.trim();
