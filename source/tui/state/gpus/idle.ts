import {owns} from '../../../core/rules/leases/ownership.js';
import type {HeldPart} from '../../../core/rules/leases/holdings.js';
import type {Warning} from '../../../core/rules/policy/idle-rules.js';
import {ownIdleText, ownLimitText} from '../../../format/idle-text.js';
import {clockText} from '../clock.js';
import {remembering} from '../memo.js';
import {rowsOf, storeNow, type State} from '../state.js';

type IdleGpu = HeldPart & {readonly warning: Warning};

/** Returns the user's GPUs that go back to the pool unless they are used or kept, earliest first. */
export const ownIdleGpus = remembering(
	(state: State) => [rowsOf(state)],
	(state): readonly IdleGpu[] =>
		rowsOf(state)
			.flatMap(({index, lease, warning}) =>
				lease === undefined || warning === undefined || !owns(state.settings.requester, lease)
					? []
					: [{index, lease, warning}],
			)
			.toSorted((a, b) => a.warning.deadline - b.warning.deadline),
);

/** Returns the warning about the user's GPUs that go back first. Undefined if none go back. */
export function ownIdleWords(state: State): string | undefined {
	const gpus = ownIdleGpus(state);
	const [first] = gpus;
	if (first === undefined) {
		return undefined;
	}

	const {warning} = first;
	const soonest = gpus.filter(({warning: {deadline}}) => deadline === warning.deadline).map(({index}) => index);
	const others = gpus.length - soonest.length;
	const text = ownIdleText(soonest, warning, storeNow(state)!, (time) => clockText(time, state));
	return others === 0 ? text : `${text} (and ${others} more later)`;
}

/** Returns the warning that the user exceeds the limit. The warning names the GPUs that go back to the pool first. Undefined if none go back. */
export function ownLimitWords(state: State): string | undefined {
	const own = rowsOf(state).flatMap(({index, lease, beyondLimit}) =>
		beyondLimit?.deadline === undefined || lease === undefined || !owns(state.settings.requester, lease)
			? []
			: [{index, beyondLimit, deadline: beyondLimit.deadline}],
	);
	const [first] = own.toSorted((a, b) => a.deadline - b.deadline);
	if (first === undefined) {
		return undefined;
	}

	const gpus = own.filter(({deadline}) => deadline === first.deadline).map(({index}) => index);
	return ownLimitText(gpus, first.beyondLimit, storeNow(state)!, (time) => clockText(time, state));
}
