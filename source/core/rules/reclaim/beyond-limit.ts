/**
Ends reservations beyond their account's limit when somebody else waits. The owner is warned first, and the reservation ends after `idle.grace`, even
if its GPUs are in use. The warning is withdrawn if nobody waits any longer. If no process has looked for a while, nobody knows whether somebody waited
all the time, so the owner is warned again. No scan is needed.
*/
import {emptyPlan, type Expectation} from '../../model/plan.js';
import type {AuditRecord, EntryRecord, LeaseSlack, Snapshot} from '../../model/types.js';
import {auditEntryOf, endingEntries} from '../leases/audit-entries.js';
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {gpusOf, type Holding} from '../leases/holdings.js';
import {slackLeasesIn, type SlackLease} from '../limits/slack.js';
import {longestGapSeconds} from '../policy/idle-rules.js';
import {policyExpectations, policyValue} from '../policy/policy.js';
import {limitExpectations} from '../limits/limits.js';
import {outagesNoted} from '../queue/out-of-service.js';
import {useOf, waitersIn, type Observer} from './candidates.js';
import {noPlan, type ReclaimPlan} from './reclaim.js';
import {noteReturns} from './returns.js';
import {isGraceOver, secondsSinceGrace} from './spans.js';

/** Whether a reservation was granted beyond a limit and may have to end. */
export const hasMarked = ({gpus}: Pick<Snapshot, 'gpus'>): boolean =>
	gpus.some((record) => record.kind === 'leased' && record.lease.slack !== undefined);

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
	const {needed} = useOf(
		marked.filter(({limit}) => limit !== undefined),
		waitersIn(snapshot, outagesNoted(snapshot, snapshot.queue), isAnswering),
		snapshot,
	);
	let nextSeconds = Infinity;
	const stepOf = (one: SlackLease): Step | undefined => {
		const {holdings, slack} = one;
		const {groups, deadline} = slack;
		const waiter = needed.get(one);
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

		const isDue = isGraceOver(slack, now, timer);
		if (deadline === undefined || (isDue && secondsSinceGrace({...slack, deadline}, now, timer) > longestGapSeconds)) {
			const until = Math.ceil(now + graceSeconds);
			nextSeconds = Math.min(nextSeconds, until - now);
			return {
				holdings,
				changes: changeTo(one, {groups, warned: Math.ceil(now), deadline: until, ...(timer !== undefined && {timer})}),
				audit: [{...facts, kind: 'beyond-limit', until}],
				waiter,
			};
		}

		if (!isDue) {
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
				...policyExpectations(snapshot),
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
