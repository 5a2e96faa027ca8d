import type {GpuProcess} from '../../model/types.js';
import type {StatusRow} from './status.js';

export const processRights = ['not-holder', 'unreserved', 'unknown', 'little', 'desktop', 'holder'] as const;

/**
`not-holder`: another user holds the GPU. `unreserved`: nobody holds the used GPU. `unknown`: the user is unknown or
could be the holder in a container, or the GPU cannot be judged. `little`: nobody holds the GPU, and it still counts as
free. `desktop`: the process draws a screen. `holder`: the user holds the GPU or a share.
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
