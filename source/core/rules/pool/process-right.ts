import type {GpuProcess} from '../../model/types.js';
import type {StatusRow} from './status.js';

export const processRights = ['not-holder', 'unreserved', 'unknown', 'little', 'desktop', 'holder'] as const;

/**
Whether a process may use its GPU. `not-holder`: another user holds the GPU. `unreserved`: nobody holds the GPU.
`unknown`: the user is unknown or could be the holder in a container, or the GPU cannot be judged. `little`: nobody
holds the GPU, and so little of its memory is in use that the GPU counts as free. `desktop`: the process draws a screen.
`holder`: the user holds the GPU or a share of it.
*/
export type ProcessRight = (typeof processRights)[number];

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
