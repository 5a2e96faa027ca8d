import type {NumaProblem} from '../core/model/numa.js';
import {sanitize, shorten} from './text/text.js';

/** Maximum number of characters that are quoted from a tool's message. */
const longestText = 200;

function reasonOf(problem: NumaProblem): string {
	switch (problem.kind) {
		case 'unknown-node': {
			return `the NUMA node of GPU ${problem.gpu} is unknown here`;
		}

		case 'no-processors': {
			return `NUMA node ${problem.node} has no CPUs here`;
		}

		case 'no-program': {
			return 'neither numactl nor taskset is installed. Install one: sudo apt install numactl, or: sudo dnf install numactl';
		}

		case 'refused': {
			const words = shorten(sanitize(problem.words.trim()), longestText);
			return `${problem.program} failed${words === '' ? '' : `: ${words}`}`;
		}
	}
}

export const notBoundLine = (problem: NumaProblem): string =>
	`canhazgpu: NOT bound to NUMA nodes: ${reasonOf(problem)}`;
