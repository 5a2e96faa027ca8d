/** Explains why a queue entry waits, for whom, and when it is served, for `queue --why`. */
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import {wantedOf} from '../../core/rules/queue/eligible.js';
import type {Blocker} from '../../core/rules/queue/estimates.js';
import {usedPatienceSeconds, type Outage} from '../../core/rules/queue/out-of-service.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';
import {beyondLimitText, idleText, reclaimTimeOf} from '../idle-text.js';
import {engineReasonText, passesAsJobsEnd} from '../engine/engine-reasons.js';
import {shownVia} from '../text/note.js';
import {holderText} from '../owner.js';
import {clockTime} from '../text/days.js';
import {longDuration, optionalTimestamp, shortDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import {firstOf} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {sanitize, shownNote} from '../text/text.js';
import {agentLimitText, overLimitText} from './over-limit.js';
import {outOfServiceText, partsOutText, wantedText} from './waiting-progress.js';

/** How many blockers a line names. Any others are only counted. */
const namedBlockers = 2;

type FormatTime = (seconds: number) => string;

/** Returns ` until 15:20` or ` until its job ends`. If the reservation goes back to the pool earlier, says this first. Empty if unknown. */
function untilText(blocker: Blocker, now: number, formatTime: FormatTime): string {
	if (blocker.kind !== 'lease') {
		return blocker.until === undefined ? '' : ` until ${formatTime(blocker.until)}`;
	}

	const {lease, until, warning, beyondLimit} = blocker;
	const end = until === undefined ? (lease.type === 'run' ? ' until its job ends' : '') : ` until ${formatTime(until)}`;
	const limit = beyondLimit === undefined ? '' : `, ${beyondLimitText(beyondLimit, now, formatTime)}`;
	if (beyondLimit?.deadline !== undefined) {
		return limit;
	}

	return warning === undefined
		? `${end}${limit}`
		: `, ${idleText(warning, now, formatTime)}${limit}${end === '' ? '' : `, or${end}`}`;
}

/** Returns `bob on GPUs 0-3 until 15:20`, `bob on GPU 2 until its job ends`, or `#1 alice` for an entry ahead. */
function blockerText(blocker: Blocker, now: number, formatTime: FormatTime): string {
	if (blocker.kind === 'engine') {
		return engineReasonText(blocker.reason);
	}

	return blocker.kind === 'waiter'
		? `#${blocker.position} ${holderText(blocker.entry)}`
		: `${holderText(blocker.lease)} on ${gpuList(blocker.gpus)}${untilText(blocker, now, formatTime)}`;
}

/** Names the blockers of an entry, and until when they have their GPUs. `now` is in seconds on the store's clock. */
export const blockersText = (blockers: readonly Blocker[], now: number, formatTime: FormatTime): string =>
	firstOf(
		blockers.map((blocker) => blockerText(blocker, now, formatTime)),
		namedBlockers,
	);

/** Returns an item of `blocked_by`, without unknown values. */
export function blockerJson(blocker: Exclude<Blocker, {kind: 'engine'}>) {
	const held = blocker.kind === 'lease' ? blocker.lease : blocker.entry;
	return {
		kind: blocker.kind,
		user: labelOf(held) ?? ownerOf(held),
		actual_user: ownerOf(held),
		gpu_ids: blocker.gpus,
		ends_by: optionalTimestamp(blocker.until),
		...(blocker.kind === 'lease'
			? {
					type: blocker.lease.type.toUpperCase(),
					lease_id: blocker.lease.leaseId,
					idle_since: optionalTimestamp(blocker.warning?.since),
					reclaim_at: optionalTimestamp(reclaimTimeOf(blocker)),
					beyond_limit: blocker.beyondLimit === undefined ? undefined : true,
				}
			: {position: blocker.position, id: blocker.entry.id}),
	};
}

export function outageText({kind, detail}: Outage): string {
	const words = detail === undefined ? '' : sanitize(detail);
	switch (kind) {
		case 'drained': {
			return words === '' ? 'drained' : `drained: ${words}`;
		}

		case 'unreadable': {
			return `its record cannot be read: ${words}`;
		}

		case 'used': {
			return `used ${words === '' ? '' : `by ${words} `}without a reservation`;
		}

		case 'broken':
		case 'mode':
		case 'unknown': {
			return words === '' ? 'something is wrong with it' : words;
		}
	}
}

/** Returns why an entry is stuck, so that other entries go first. Undefined for an entry that is not stuck. */
export function stuckText({
	outages,
	keepsHoldings,
	held,
	silentSeconds,
	overLimit,
	agentLimit,
}: Pick<QueueRow, 'outages' | 'keepsHoldings' | 'held' | 'silentSeconds' | 'overLimit' | 'agentLimit'>):
	string | undefined {
	if (silentSeconds !== undefined) {
		const holdings = held.length > 0 ? ` and may take ${gpuList(held)} from it` : '';
		return `does not answer: its process has shown no sign of life for ${shortDuration(silentSeconds)}; others go first${holdings}`;
	}

	if (overLimit !== undefined) {
		return `waits: ${overLimitText(overLimit)} (${overLimit.limit.key}); others go first`;
	}

	if (agentLimit !== undefined) {
		return `waits: ${agentLimitText(agentLimit)} (agents.max-gpus); people go first`;
	}

	if (outages.length === 0) {
		return undefined;
	}

	const why = [...new Set(outages.map((outage) => outageText(outage)))].join(', ');
	const others =
		keepsHoldings && held.length > 0
			? `others go first, and after ${shortDuration(usedPatienceSeconds)} they get the GPUs that it holds`
			: 'others can use its GPUs in the meantime';
	return `waits for ${partsOutText(outages)}, which ${outages.length === 1 ? 'is' : 'are'} out of service: ${why}; ${others}`;
}

/** Whether the wait ends when a job ends: the job of a blocker, or a job of the external engine. */
export const endsWithJobs = (blockers: readonly Blocker[]): boolean =>
	blockers.some((blocker) => blocker.kind !== 'engine' || passesAsJobsEnd(blocker.reason));

export function estimateText(row: QueueRow): string {
	const {isPossible, isUnknown, overLimit, agentLimit, outages, estimateSeconds, blockers} = row;
	if (!isPossible) {
		return 'never: impossible in this pool';
	}

	if (isUnknown) {
		return 'unknown: too little of this pool is known to qualify';
	}

	if (overLimit !== undefined) {
		return `when ${sanitize(overLimit.account)} holds fewer GPUs`;
	}

	if (agentLimit !== undefined) {
		return 'when agents hold fewer GPUs';
	}

	// If no job blocks the entry, unreserved GPUs are in use or are left for another entry, and nobody knows for how long.
	const unknown = endsWithJobs(blockers) ? 'when a job ends' : 'unknown';
	return (
		outOfServiceText(outages) ?? (estimateSeconds === undefined ? unknown : `in about ${longDuration(estimateSeconds)}`)
	);
}

/** Returns `bob has GPUs 0-3 until 15:20, note "eval"` or `#1 erin is ahead in the queue for GPU 3`. */
function blockerLine(blocker: Blocker, now: number): string {
	const until = untilText(blocker, now, (time) => clockTime(time, now));
	if (blocker.kind === 'waiter') {
		const {position, entry, gpus} = blocker;
		return `#${position} ${holderText(entry)} is ahead in the queue for ${gpuList(gpus)}${until}`;
	}

	if (blocker.kind === 'engine') {
		return engineReasonText(blocker.reason);
	}

	const {lease, gpus} = blocker;
	const note = sanitize(shownNote(lease.note ?? ''));
	const via = lease.via === undefined ? '' : `, via ${shownVia(lease.via)}`;
	return `${holderText(lease)} has ${gpuList(gpus)}${until}${note === '' ? '' : `, note "${note}"`}${via}`;
}

function reasonsOf(row: QueueRow, now: number): readonly string[] {
	const stuck = stuckText(row);
	const reasons = [
		...(stuck === undefined ? [] : [stuck]),
		...row.blockers.map((blocker) => blockerLine(blocker, now)),
	];
	return reasons.length > 0 || !row.isPossible || row.isUnknown
		? reasons
		: ['no reservation blocks it: GPUs are in use without a reservation, or it is about to get them'];
}

/** Returns a header for each entry, with its reasons below. `now` is in seconds on the store's clock. */
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

export const queueWords = (rows: readonly QueueRow[]): string =>
	rows.length === 0
		? 'Nobody waits.'
		: rows
				.map((row) =>
					row.entry === undefined
						? `#${row.position} is an entry that cannot be read.`
						: `#${row.position} ${holderText(row.entry)} waits for ${wantedText(wantedOf(row.entry))}, ${longDuration(row.waitedSeconds)} so far; expected: ${estimateText(row)}.`,
				)
				.join(' ');
