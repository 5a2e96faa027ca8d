/**
Returns idle reservations to the pool. Each scan starts, continues or ends the idle time of a reservation. After `idle.after` the owner is warned, and
after `idle.grace` the reservation ends. Unknown readings, long gaps and lost data restart the idle time.
*/
import {emptyPlan, type Expectation, type Plan} from '../../model/plan.js';
import type {AuditRecord, EntryRecord, LeaseIdle, Observation, Snapshot} from '../../model/types.js';
import {auditEntryOf, endingEntries} from '../leases/audit-entries.js';
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {gpusOf} from '../leases/holdings.js';
import {policyExpectation} from '../policy/policy.js';
import {isUnusedForCertain, mayHideProcess} from '../usage/idle.js';
import {idleRulesOf, keptUntil, longestGapSeconds, type IdleRules} from '../policy/idle-rules.js';
import {candidatesIn, demandIn, type Candidate, type Demand} from './candidates.js';

/** How often the store is updated while a reservation stays idle. The longest gap is long enough for two scans of a slow scanner. */
const refreshSeconds = 120;

export type Sight = {
	readonly seenAt: number;
	readonly memoryThresholdMiB: number;
	readonly host: string;
	/** False for an old observation or one of another process, which can end idle times, but not start or continue them. */
	readonly canAdvance: boolean;
	readonly pidNamespace?: string | undefined;
};

/** Returns `idle` if every GPU of the reservation is certainly idle, `used` if one is certainly in use, and otherwise `unknown`. */
function judge(
	{holdings}: Candidate,
	{drains}: Snapshot,
	observation: Observation,
	sight: Sight,
): 'idle' | 'used' | 'unknown' {
	const isIdle = new Set(
		holdings.map(({index}) => {
			const reading = observation.gpus.find((gpu) => gpu.index === index);
			if (observation.failure !== undefined || drains.has(index)) {
				return undefined;
			}

			const isUnused = isUnusedForCertain(reading, sight.memoryThresholdMiB);
			return isUnused === true && mayHideProcess(reading, sight.pidNamespace) ? undefined : isUnused;
		}),
	);
	return isIdle.has(false) ? 'used' : isIdle.has(undefined) ? 'unknown' : 'idle';
}

/** Whether the stored idle time can be continued, because there was neither a long gap nor a loss of data. */
const isUnbroken = ({since, seen}: LeaseIdle, seenAt: number, {revision}: Snapshot): boolean =>
	Math.abs(seenAt - seen) <= longestGapSeconds && revision.since !== undefined && revision.since <= since;

type Step =
	| {readonly kind: 'nothing'}
	/** Ends the idle time. `reason` explains why a warning is withdrawn. */
	| {readonly kind: 'clear'; readonly reason: 'used' | 'kept' | 'unknown'}
	| {readonly kind: 'set'; readonly idle: LeaseIdle; readonly isWithdrawn?: boolean}
	| {readonly kind: 'warn'; readonly idle: LeaseIdle; readonly wantedBy: EntryRecord | undefined}
	| {readonly kind: 'reclaim'; readonly wantedBy: EntryRecord | undefined};

const nothing: Step = {kind: 'nothing'};

function stepOf(
	candidate: Candidate,
	verdict: ReturnType<typeof judge>,
	{snapshot, sight, rules, demand}: Context,
): Step {
	const {lease, holdings, idle, hasIdle} = candidate;
	const {seenAt, canAdvance} = sight;
	const isKept = holdings.some((holding) => keptUntil(holding.lease, snapshot) !== undefined);
	if (isKept || verdict !== 'idle') {
		return hasIdle ? {kind: 'clear', reason: isKept ? 'kept' : verdict === 'used' ? 'used' : 'unknown'} : nothing;
	}

	const keepUntil = Math.max(...holdings.map((holding) => holding.lease.keepUntil ?? 0));
	if (!canAdvance || seenAt < lease.startTime || seenAt < keepUntil) {
		return nothing;
	}

	if (idle === undefined || !isUnbroken(idle, seenAt, snapshot)) {
		return {
			kind: 'set',
			idle: {since: Math.ceil(seenAt), seen: Math.floor(seenAt)},
			isWithdrawn: holdings.some((holding) => holding.lease.idle?.deadline !== undefined),
		};
	}

	const {since, deadline} = idle;
	const seen = Math.max(idle.seen, Math.floor(seenAt));
	const refresh: Step = seen - idle.seen >= refreshSeconds ? {kind: 'set', idle: {...idle, seen}} : nothing;
	if (seenAt - since < rules.afterSeconds || (deadline !== undefined && seenAt < deadline)) {
		return refresh;
	}

	const isWarned = deadline !== undefined;
	const wantedBy = rules.isOnlyWanted ? demand()[isWarned ? 'takenFor' : 'wantedBy'](candidate) : undefined;
	if (rules.isOnlyWanted && wantedBy === undefined) {
		return refresh;
	}

	const warning = {since, seen, warned: Math.ceil(seenAt), deadline: Math.ceil(seenAt + rules.graceSeconds)};
	return isWarned ? {kind: 'reclaim', wantedBy} : {kind: 'warn', idle: warning, wantedBy};
}

type Context = {
	readonly snapshot: Snapshot;
	readonly sight: Sight;
	readonly rules: IdleRules;
	readonly demand: () => Demand;
};

const changesOf = ({holdings}: Candidate, step: Step, now: number): readonly HoldingChange[] => {
	switch (step.kind) {
		case 'nothing': {
			return [];
		}

		case 'reclaim': {
			return holdings.map((holding) => ({kind: 'end', holding, ending: {reason: 'reclaimed', endTime: now}}));
		}

		case 'clear': {
			return holdings
				.filter(({lease}) => lease.idle !== undefined)
				.map((holding) => ({kind: 'change', holding, lease: {...holding.lease, idle: undefined}}));
		}

		case 'set':
		case 'warn': {
			return holdings.map((holding) => ({kind: 'change', holding, lease: {...holding.lease, idle: step.idle}}));
		}
	}
};

function auditOf(candidate: Candidate, step: Step, {snapshot: {now}, sight: {host}}: Context): readonly AuditRecord[] {
	const {holdings} = candidate;
	const context = {now, host};
	switch (step.kind) {
		case 'nothing': {
			return [];
		}

		case 'reclaim': {
			return endingEntries(
				holdings.map((holding) => ({holding, ending: {reason: 'reclaimed', endTime: now}})),
				context,
			);
		}

		case 'warn': {
			return [{...auditEntryOf(holdings, context), kind: 'idle', until: step.idle.deadline}];
		}

		case 'clear':
		case 'set': {
			const isWithdrawn =
				step.kind === 'set'
					? step.isWithdrawn === true
					: holdings.some(({lease}) => lease.idle?.deadline !== undefined);
			const reason = step.kind === 'clear' ? step.reason : 'unknown';
			return isWithdrawn ? [{...auditEntryOf(holdings, context), kind: 'idle', reason}] : [];
		}
	}
}

/** Returns the seconds until the next warning or return. Infinity if neither is due without another event. */
function secondsToNext({idle}: Candidate, step: Step, {rules, sight}: Context): number {
	const next = step.kind === 'set' || step.kind === 'warn' ? step.idle : step.kind === 'nothing' ? idle : undefined;
	const seconds = next === undefined ? Infinity : (next.deadline ?? next.since + rules.afterSeconds) - sight.seenAt;
	return seconds > 0 ? seconds : Infinity;
}

export type ReclaimPlan = {
	readonly plan: Plan;
	/** Seconds after the observation at which the next step is due, if the GPUs stay idle. */
	readonly nextSeconds: number;
};

export const noPlan: ReclaimPlan = {plan: emptyPlan, nextSeconds: Infinity};

/** Plans the warnings and ends that follow from a scan. The snapshot must not be older than the scan. */
export function planReclaim(snapshot: Snapshot, observation: Observation, sight: Sight): ReclaimPlan {
	const rules = idleRulesOf(snapshot);
	const candidates = rules === undefined || observation.isPartial === true ? [] : candidatesIn(snapshot);
	if (rules === undefined || candidates.length === 0) {
		return noPlan;
	}

	let known: Demand | undefined;
	const context: Context = {
		snapshot,
		sight,
		rules,
		demand() {
			known ??= demandIn(snapshot);
			return known;
		},
	};
	// If not all are needed, the reservations that have been idle for longest end first.
	const steps = candidates
		.toSorted((a, b) => (a.idle?.since ?? Number.MAX_VALUE) - (b.idle?.since ?? Number.MAX_VALUE))
		.map((candidate) => ({
			candidate,
			step: stepOf(candidate, judge(candidate, snapshot, observation, sight), context),
		}));
	const taken = steps.filter(({step}) => step.kind !== 'nothing');
	const nextSeconds = Math.min(...steps.map(({candidate, step}) => secondsToNext(candidate, step, context)));
	if (taken.length === 0) {
		return {plan: emptyPlan, nextSeconds};
	}

	const holdingPlan = planHoldings(taken.flatMap(({candidate, step}) => changesOf(candidate, step, snapshot.now)));
	const waiters = new Map(
		taken.flatMap(({step}) =>
			'wantedBy' in step && step.wantedBy !== undefined ? [[step.wantedBy.id, step.wantedBy] as const] : [],
		),
	);
	const isDecision = taken.some(({step}) => step.kind === 'warn' || step.kind === 'reclaim');
	const audit = taken.flatMap(({candidate, step}) => auditOf(candidate, step, context));
	const freed = taken.flatMap(({candidate, step}) => (step.kind === 'reclaim' ? candidate.holdings : []));
	const noted = taken.flatMap(({candidate, step}) =>
		auditOf(candidate, step, context).length > 0 ? candidate.holdings : [],
	);
	return {
		plan: {
			...emptyPlan,
			...holdingPlan,
			expect: [
				...holdingPlan.expect,
				...(isDecision ? [policyExpectation(snapshot)] : []),
				...Array.from(waiters.values(), ({id, raw}): Expectation => ({kind: 'entry', id, raw})),
			],
			audit,
			event:
				freed.length > 0
					? {kind: 'expired', gpus: gpusOf(freed)}
					: audit.length > 0
						? {kind: 'notice', gpus: gpusOf(noted)}
						: undefined,
		},
		nextSeconds,
	};
}
