/** The queue, as the panels of the queue and of the selected GPU show it. */
import {queueRows, type QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {remembering} from '../../state/memo.js';
import {storeNow, type State} from '../../state/state.js';

/** The queue as of now. Estimates of a long queue take a while. */
export const waitingOf = remembering(
	({snapshot, nowMs, snapshotAtMs}: State) => [snapshot, nowMs, snapshotAtMs],
	(state): readonly QueueRow[] => {
		const {snapshot} = state;
		return snapshot === undefined ? [] : queueRows({...snapshot, now: storeNow(state)!});
	},
);
