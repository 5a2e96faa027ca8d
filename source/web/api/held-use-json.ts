/** `GET /api/held-use`: what was reserved over the last hours against what was used. */
import type {HeldUseReport} from '../../core/operations/history/held-use.js';
import {timestamp} from '../../format/text/durations.js';

const toTenThousandths = (hours: number): number => Math.round(hours * 10_000) / 10_000;

export const heldUseJson = ({window, rows}: HeldUseReport) => ({
	since: timestamp(Math.floor(window.from)),
	until: timestamp(Math.floor(window.to)),
	users: rows.map(({user, held, known, used, idle}) => ({
		name: user,
		reserved_gpu_hours: toTenThousandths(held),
		// Of how many of these it was recorded how busy the GPU was; the others are of these.
		known_gpu_hours: toTenThousandths(known),
		used_gpu_hours: toTenThousandths(used),
		idle_gpu_hours: toTenThousandths(idle),
	})),
});

export type HeldUseJson = ReturnType<typeof heldUseJson>;
