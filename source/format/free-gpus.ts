import type {FreeGpus} from '../core/rules/pool/status.js';

/** Counts free GPUs in JSON rows. A GPU is split by MIG if its row has a list of instances, which may be empty. */
export function freeAmong(available: ReadonlyArray<{readonly mig_instances?: unknown}>): FreeGpus {
	const split = available.filter(({mig_instances: instances}) => Array.isArray(instances)).length;
	return {whole: available.length - split, split};
}

export const splitText = ({split}: FreeGpus): string => (split === 0 ? '' : `+${split} MIG`);

export const freeText = (free: FreeGpus): string => `${free.whole} ${splitText(free)}`.trim();
