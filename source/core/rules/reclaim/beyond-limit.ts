/**
Ends reservations beyond their account's limit when somebody else waits. The owner is warned first, and the reservation ends after `idle.grace`, even
if its GPUs are in use. The warning is withdrawn if nobody waits any longer. No scan is needed.
*/
import {emptyPlan, type Expectation} from '../../model/plan.js';
import type {AuditRecord, EntryRecord, GpuGroup, LeaseSlack, Snapshot} from '../../model/types.js';
import {auditEntryOf, endingEntries} from '../leases/audit-entries.js';
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {gpusOf, type Holding} from '../leases/holdings.js';
import {ownerOf} from '../leases/ownership.js';
import {slackLeasesIn, type SlackLease} from '../limits/slack.js';
import {policyExpectation, policyValue} from '../policy/policy.js';
import {limitExpectations} from '../limits/limits.js';
import {freeGpus, isRecent, waitersIn} from './candidates.js';
import {noPlan, type ReclaimPlan} from './reclaim.js';
import {noteReturns} from './returns.js';
import type {Observer} from './sight.js';
import {isGraceOver} from './spans.js';

/** Whether a reservation was granted beyond a limit and may have to end. */
export const hasMarked = ({gpus}: Pick<Snapshot, 'gpus'>): boolean =>
	gpus.some((record) => record.kind === 'leased' && record.lease.slack !== undefined);

const mostIn = (groups: readonly GpuGroup[], gpus: ReadonlySet<number>): number =>
	Math.max(0, ...groups.map((group) => group.filter((index) => gpus.has(index)).length));

/** Returns the newest reservations that together have as many usable GPUs as a request still lacks. */
function newestFor(beyond: readonly SlackLease[], usable: ReadonlySet<number>, missing: number): readonly SlackLease[] {
	const counted = beyond
		.map((one) => ({one, count: one.holdings.filter(({index}) => usable.has(index)).length}))
		.filter(({count}) => count > 0);
	return counted
		.filter((_, position) => counted.slice(0, position).reduce((sum, {count}) => sum + count, 0) < missing)
		.map(({one}) => one);
}

/** Returns the request for which each reservation must end, by lease id. The newest reservations end first, and only as many as the requests need. */
function neededFor(
	beyond: readonly SlackLease[],
	snapshot: Snapshot,
	isAnswering: Observer['isAnswering'],
): ReadonlyMap<string, EntryRecord> {
	const needed = new Map<string, EntryRecord>();
	const records = freeGpus(snapshot);
	const longFree = new Set(gpusOf(records.filter(({lastReleased}) => !isRecent(lastReleased, snapshot))));
	let free: ReadonlySet<number> = new Set(gpusOf(records));
	for (const {record, owner, usable, groups, takesAny, missing} of waitersIn(snapshot, isAnswering)) {
		const untaken = isRecent(record.entry.enqueueTime, snapshot) ? new Set<number>() : free.intersection(longFree);
		// A request that has left a free GPU untaken for a minute cannot use it, for example because the GPU is in use without a reservation. But a
		// request with several groups takes no GPU before one of the groups has enough.
		const cannotUseUntaken = takesAny || mostIn(groups, untaken) >= missing;
		const missed = missing - mostIn(groups, cannotUseUntaken ? free.difference(untaken) : free);
		// The request will take the other free GPUs at once, so they are not free for later requests.
		const others = beyond.filter(({lease}) => owner !== ownerOf(lease) && !needed.has(lease.leaseId!));
		free = free.difference(usable);
		for (const {lease} of newestFor(others, usable, missed)) {
			needed.set(lease.leaseId!, record);
		}
	}

	return needed;
}

/** How long to wait if the deadline has passed on the store's clock, but the grace period has not ended on the monotonic clock. */
const retrySeconds = 1;

type Step = {
	readonly holdings: readonly Holding[];
	readonly changes: readonly HoldingChange[];
	readonly audit: readonly AuditRecord[];
	readonly isEnd?: boolean;
	readonly waiter?: EntryRecord;
};

function changeTo(one: SlackLease, slack: LeaseSlack): readonly HoldingChange[] {
	return one.holdings.map((holding) => ({kind: 'change', holding, lease: {...holding.lease, slack}}));
}

/** Plans the warnings and ends that are due. */
export function planBeyondLimit(snapshot: Snapshot, {host, isAnswering, timer}: Observer): ReclaimPlan {
	const graceSeconds = policyValue(snapshot, 'idle.grace');
	if (graceSeconds === 'never' || !hasMarked(snapshot)) {
		return noPlan;
	}

	const {now} = snapshot;
	const context = {now, host};
	const marked = slackLeasesIn(snapshot);
	const needed = neededFor(
		marked.filter(({limit}) => limit !== undefined),
		snapshot,
		isAnswering,
	);
	let nextSeconds = Infinity;
	const stepOf = (one: SlackLease): Step | undefined => {
		const {holdings, lease, slack} = one;
		const {groups, deadline} = slack;
		const waiter = needed.get(lease.leaseId!);
		const facts = auditEntryOf(holdings, context);
		if (waiter === undefined) {
			return deadline === undefined
				? undefined
				: {
						holdings,
						changes: changeTo(one, {groups}),
						audit: [{...facts, kind: 'beyond-limit', reason: 'unwanted'}],
					};
		}

		if (deadline === undefined) {
			const until = Math.ceil(now + graceSeconds);
			nextSeconds = Math.min(nextSeconds, until - now);
			return {
				holdings,
				changes: changeTo(one, {groups, warned: Math.ceil(now), deadline: until, ...(timer !== undefined && {timer})}),
				audit: [{...facts, kind: 'beyond-limit', until}],
				waiter,
			};
		}

		if (!isGraceOver(slack, now, timer)) {
			nextSeconds = Math.min(nextSeconds, Math.max(retrySeconds, deadline - now));
			return undefined;
		}

		const ends = holdings.map((holding) => ({holding, ending: {reason: 'beyond-limit', endTime: now}}) as const);
		return {
			holdings,
			changes: ends.map((end) => ({kind: 'end', ...end})),
			audit: endingEntries(ends, context),
			isEnd: true,
			waiter,
		};
	};

	const steps = marked.map((one) => stepOf(one)).filter((step) => step !== undefined);
	if (steps.length === 0) {
		return {plan: emptyPlan, nextSeconds};
	}

	const changes = planHoldings(steps.flatMap((step) => step.changes));
	const waiters = new Map(steps.flatMap(({waiter}) => (waiter === undefined ? [] : [[waiter.id, waiter]])));
	const ended = steps.filter(({isEnd}) => isEnd === true).flatMap(({holdings}) => holdings);
	const limit = marked.find((one) => one.limit !== undefined)?.limit;
	const notes = noteReturns(snapshot, ended, 'beyond-limit');
	return {
		plan: {
			...emptyPlan,
			...changes,
			writes: [...changes.writes, ...notes.writes],
			expect: [
				...changes.expect,
				...notes.expect,
				policyExpectation(snapshot),
				...Array.from(waiters.values(), ({id, raw}): Expectation => ({kind: 'entry', id, raw})),
				// Whether an account holds more than its limit depends on every GPU.
				...(ended.length > 0 ? limitExpectations(snapshot.gpus, limit, changes.expect) : []),
			],
			audit: steps.flatMap((step) => step.audit),
			event:
				ended.length > 0
					? {kind: 'expired', gpus: gpusOf(ended)}
					: {kind: 'notice', gpus: gpusOf(steps.flatMap(({holdings}) => holdings))},
		},
		nextSeconds,
	};
}
