/** Because of whom an entry of the queue waits, in words and as JSON. */
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import type {Blocker} from '../../core/rules/queue/estimates.js';
import {timestamp} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';
import {engineReasonText} from '../engine/engine-reasons.js';
import {holderText} from '../owner.js';

/** Blockers named before the rest are only counted. */
const namedBlockers = 2;

/** Writes seconds since the epoch as a time of day. */
type FormatTime = (seconds: number) => string;

/** ` until 15:20`, ` until its job ends`; empty where nothing is known. */
export function untilText(blocker: Blocker, formatTime: FormatTime): string {
	if (blocker.until !== undefined) {
		return ` until ${formatTime(blocker.until)}`;
	}

	return blocker.kind === 'lease' && blocker.lease.type === 'run' ? ' until its job ends' : '';
}

/** `bob on GPUs 0-3 until 15:20`, `bob on GPU 2 until its job ends`, `#1 alice` for one that waits before it. */
function blockerText(blocker: Blocker, formatTime: FormatTime): string {
	if (blocker.kind === 'engine') {
		return engineReasonText(blocker.reason);
	}

	return blocker.kind === 'waiter'
		? `#${blocker.position} ${holderText(blocker.entry)}`
		: `${holderText(blocker.lease)} on ${gpuList(blocker.gpus)}${untilText(blocker, formatTime)}`;
}

/** All of them in one cell of a table; empty when it waits for no one. */
export function blockersText(blockers: readonly Blocker[], formatTime: FormatTime): string {
	const named = blockers.slice(0, namedBlockers).map((blocker) => blockerText(blocker, formatTime));
	const rest = blockers.length - named.length;
	return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** One of `blocked_by`. What is unknown is absent. */
export function blockerJson(blocker: Exclude<Blocker, {kind: 'engine'}>) {
	const held = blocker.kind === 'lease' ? blocker.lease : blocker.entry;
	return {
		kind: blocker.kind,
		user: labelOf(held) ?? ownerOf(held),
		actual_user: ownerOf(held),
		gpu_ids: blocker.gpus,
		ends_by: blocker.until === undefined ? undefined : timestamp(blocker.until),
		...(blocker.kind === 'lease'
			? {type: blocker.lease.type.toUpperCase(), lease_id: blocker.lease.leaseId}
			: {position: blocker.position, id: blocker.entry.id}),
	};
}
