/** Whether a process has a right to be on its GPU. */
import type {GpuProcess} from '../../model/types.js';
import type {StatusRow} from './status.js';

/** From the worst to what needs no one's attention. */
export const processRights = ['not-holder', 'unreserved', 'unknown', 'little', 'desktop', 'holder'] as const;

/**
`not-holder`: someone else holds the GPU. `unreserved`: no one does, and the GPU counts as used. `unknown`: the user is unknown, or may be the
holder in a container, or the GPU cannot be judged. `little`: no one holds the GPU, which counts as free all the same. `desktop`: it draws a
screen. `holder`: its user holds the GPU, or a share of it.
*/
export type ProcessRight = (typeof processRights)[number];

/** @param process - One of the row's. */
export function rightOf(
	{state, owner, shares = [], squatters}: Pick<StatusRow, 'state' | 'owner' | 'shares' | 'squatters'>,
	process: GpuProcess,
): ProcessRight {
	if (squatters.includes(process)) {
		return 'not-holder';
	}

	if (
		(process.user !== undefined && process.user === owner) ||
		shares.some(({processes}) => processes.includes(process))
	) {
		return 'holder';
	}

	if (process.kind === 'graphics') {
		return 'desktop';
	}

	switch (state) {
		case 'unreserved': {
			return 'unreserved';
		}

		case 'available': {
			return 'little';
		}

		case 'in-use':
		case 'error': {
			return 'unknown';
		}
	}
}
