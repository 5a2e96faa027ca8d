import type {FreeGpus} from '../core/rules/pool/status.js';

/** Counts free GPUs in JSON rows. A split GPU lists its instances, even if there are none. */
export function freeAmong(available: ReadonlyArray<{readonly mig_instances?: unknown}>): FreeGpus {
	const split = available.filter(({mig_instances: instances}) => Array.isArray(instances)).length;
	return {whole: available.length - split, split};
}

export const splitText = ({split}: FreeGpus): string => (split === 0 ? '' : `+${split} MIG`);

export const freeText = (free: FreeGpus): string => `${free.whole} ${splitText(free)}`.trim();
