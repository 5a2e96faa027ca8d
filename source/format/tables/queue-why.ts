/** `canhazgpu queue --why`: for each entry of the queue all because of whom it waits, one line each. */
import {wantedOf} from '../../core/rules/queue/eligible.js';
import type {Blocker} from '../../core/rules/queue/estimates.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';
import {untilText} from '../queue/blockers.js';
import {stuckText} from '../queue/out-of-service.js';
import {clockTime} from '../text/days.js';
import {longDuration} from '../text/durations.js';
import {engineReasonText} from '../engine/engine-reasons.js';
import {gpuList} from '../text/gpu-list.js';
import type {Paint} from '../text/paint.js';
import {sanitize, shownNote} from '../text/text.js';
import {holderText} from '../owner.js';
import {wantedText} from '../queue/waiting-progress.js';
import {estimateText} from './queue-table.js';

/** `bob has GPUs 0-3 until 15:20, note "eval"`, `#1 erin comes first, on GPU 3`. */
function blockerLine(blocker: Blocker, now: number): string {
	const until = untilText(blocker, (time) => clockTime(time, now));
	if (blocker.kind === 'waiter') {
		const {position, entry, gpus} = blocker;
		return `#${position} ${holderText(entry)} comes first, on ${gpuList(gpus)}${until}`;
	}

	if (blocker.kind === 'engine') {
		return engineReasonText(blocker.reason);
	}

	const {lease, gpus} = blocker;
	const note = sanitize(shownNote(lease.note ?? ''));
	return `${holderText(lease)} has ${gpuList(gpus)}${until}${note === '' ? '' : `, note "${note}"`}`;
}

/** Why an entry waits. */
function reasonsOf(row: QueueRow, now: number): readonly string[] {
	const stuck = stuckText(row);
	const reasons = [
		...(stuck === undefined ? [] : [stuck]),
		...row.blockers.map((blocker) => blockerLine(blocker, now)),
	];
	return reasons.length > 0 || !row.isPossible || row.isUnknown
		? reasons
		: ['no reservation is in its way: free GPUs are used without a reservation, or it takes them in a moment'];
}

/**
A head for each entry, and its reasons below it.

@param now - On the store's clock, in seconds.
*/
export function queueWhy(rows: readonly QueueRow[], paint: Paint, now: number): string {
	return rows
		.map((row) => {
			const {entry, held, waitedSeconds, position} = row;
			if (entry === undefined) {
				return paint.error(`#${position} is an entry that cannot be read`);
			}

			const wanted = wantedOf(entry);
			const got = held.length === 0 ? '' : ` and has ${gpuList(held)} already`;
			const head = `#${position} ${holderText(entry)} waits for ${wantedText(wanted)}${got}, ${longDuration(waitedSeconds)} so far`;
			return [
				`${paint.bold(head)}; expected: ${estimateText(row)}`,
				...reasonsOf(row, now).map((reason) => `   ${reason}`),
			].join('\n');
		})
		.join('\n');
}
