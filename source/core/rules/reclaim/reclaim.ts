/**
Returns idle reservations to the pool. Each scan starts, continues or ends the idle time of a reservation. After `idle.after` the owner is warned, and
after `idle.grace` the reservation ends. Unknown readings, long gaps and lost data restart the idle time.
*/
import {emptyPlan, type Expectation, type Plan} from '../../model/plan.js';
import type {AuditRecord, EntryRecord, LeaseIdle, LeaseParked, Observation, Snapshot} from '../../model/types.js';
import {auditEntryOf, endingEntries} from '../leases/audit-entries.js';
import {planHoldings, type HoldingChange} from '../leases/holding-changes.js';
import {gpusOf} from '../leases/holdings.js';
import {policyExpectations} from '../policy/policy.js';
import {idleRulesOf, keptUntil, type IdleRules} from '../policy/idle-rules.js';
import {outagesSeen} from '../queue/out-of-service.js';
import {candidatesIn, useOf, waitersIn, type Candidate} from './candidates.js';
import {isSameParked, isWithoutLoad, parkedAfter} from './parked.js';
import {noteReturns} from './returns.js';
import {judge, type Sight} from './sight.js';
import {isGraceOver, isUnbroken, seenAgain, spanFrom} from './spans.js';

type Step =
	| {readonly kind: 'nothing'}
	/** Ends the idle time. `reason` and `withdrawn` explain why a warning is withdrawn. */
	| {readonly kind: 'clear'; readonly reason: 'used' | 'kept' | 'unknown'}
	| {readonly kind: 'set'; readonly idle: LeaseIdle; readonly withdrawn?: 'unknown' | 'policy' | undefined}
	| {readonly kind: 'warn'; readonly idle: LeaseIdle; readonly wantedBy: EntryRecord | undefined}
	| {readonly kind: 'reclaim'; readonly wantedBy: EntryRecord | undefined};

const nothing: Step = {kind: 'nothing'};

/** A reservation that has been idle for `idle.after`. The waiting requests decide its step. */
type Due = {
	readonly kind: 'due';
	readonly idle: LeaseIdle;
	readonly isWarned: boolean;
	readonly mayEnd: boolean;
	/** The step if the reservation is neither warned nor ended. */
	readonly otherwise: Step;
};

const isKeptNow = ({holdings}: Candidate, snapshot: Snapshot): boolean =>
	holdings.some((holding) => keptUntil(holding.lease, snapshot) !== undefined);

function stepOf(
	candidate: Candidate,
	verdict: ReturnType<typeof judge>,
	{snapshot, sight, rules}: Context,
): Step | Due {
	const {lease, holdings, idle, hasIdle} = candidate;
	const {seenAt, canAdvance} = sight;
	const isKept = isKeptNow(candidate, snapshot);
	if (!isKept && verdict === 'hidden' && idle !== undefined && isUnbroken(idle, seenAt, snapshot)) {
		// Other observers may see the hidden processes. The idle time that they saw stays valid, and this observer does not extend it.
		return nothing;
	}

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
			idle: spanFrom(seenAt, seenAt),
			withdrawn: holdings.some((holding) => holding.lease.idle?.deadline !== undefined) ? 'unknown' : undefined,
		};
	}

	const {since, deadline} = idle;
	const latest = seenAgain(idle, seenAt);
	const refresh: Step = latest === idle ? nothing : {kind: 'set', idle: latest};
	const isWarned = deadline !== undefined;
	// An administrator can raise `idle.after` after a warning. The owner is then warned again before the GPUs go back. An observation that is older than
	// the one that led to the warning does not withdraw the warning.
	if (isWarned && Math.max(seenAt, idle.seen) - since < rules.afterSeconds) {
		return {kind: 'set', idle: spanFrom(since, latest.seen), withdrawn: 'policy'};
	}

	if (seenAt - since < rules.afterSeconds) {
		return refresh;
	}

	return {
		kind: 'due',
		idle,
		isWarned,
		mayEnd: isWarned && isGraceOver(idle, seenAt, sight.timer),
		otherwise: refresh,
	};
}

function dueStep(
	candidate: Candidate,
	{idle, isWarned, mayEnd, otherwise}: Due,
	{sight: {seenAt, timer}, rules, demand}: Context,
): Step {
	if (isWarned && !mayEnd) {
		return otherwise;
	}

	const wantedBy = rules.isOnlyWanted ? demand()[isWarned ? 'neededFor' : 'wantedBy'].get(candidate) : undefined;
	if (rules.isOnlyWanted && wantedBy === undefined) {
		return otherwise;
	}

	if (isWarned) {
		return {kind: 'reclaim', wantedBy};
	}

	const warning = {
		since: idle.since,
		seen: Math.max(idle.seen, Math.floor(seenAt)),
		warned: Math.ceil(seenAt),
		deadline: Math.ceil(seenAt + rules.graceSeconds),
		...(timer !== undefined && {timer}),
	};
	return {kind: 'warn', idle: warning, wantedBy};
}

type Demand = {
	/** The requests that could use the GPUs of idle reservations. Their owners are warned. */
	readonly wantedBy: ReadonlyMap<Candidate, EntryRecord>;
	/** The requests for which reservations must end now. */
	readonly neededFor: ReadonlyMap<Candidate, EntryRecord>;
};

type Context = {
	readonly snapshot: Snapshot;
	readonly sight: Sight;
	readonly rules: IdleRules;
	readonly demand: () => Demand;
};

/** Returns the request for which each due reservation is warned or ended. A reservation is ended only after its grace period. */
function demandFor(
	found: ReadonlyArray<{readonly candidate: Candidate; readonly step: Step | Due}>,
	{snapshot, sight}: Context,
	observation: Observation,
): Demand {
	const out = outagesSeen(snapshot, observation, sight.memoryThresholdMiB);
	const waiting = waitersIn(snapshot, out, sight.isAnswering);
	const due = found.flatMap(({candidate, step}) => (step.kind === 'due' ? [{candidate, mayEnd: step.mayEnd}] : []));
	const ofAll = due.map(({candidate}) => candidate);
	const ending = due.filter(({mayEnd}) => mayEnd).map(({candidate}) => candidate);
	return {
		wantedBy: useOf(ofAll, waiting, snapshot).wanted,
		neededFor: useOf(ending, waiting, snapshot).needed,
	};
}

function idleAfter(idle: LeaseIdle | undefined, step: Step): LeaseIdle | undefined {
	return step.kind === 'set' || step.kind === 'warn' ? step.idle : step.kind === 'clear' ? undefined : idle;
}

const changesOf = (
	{holdings}: Candidate,
	{step, parked}: {readonly step: Step; readonly parked: LeaseParked | undefined},
	now: number,
): readonly HoldingChange[] =>
	step.kind === 'reclaim'
		? holdings.map((holding) => ({kind: 'end', holding, ending: {reason: 'reclaimed', endTime: now}}))
		: holdings.flatMap((holding): readonly HoldingChange[] => {
				const {lease} = holding;
				const idle = idleAfter(lease.idle, step);
				return idle === lease.idle && isSameParked(parked, lease.parked)
					? []
					: [{kind: 'change', holding, lease: {...lease, idle, parked}}];
			});

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
			const isWarned = holdings.some(({lease}) => lease.idle?.deadline !== undefined);
			const reason = step.kind === 'set' ? step.withdrawn : isWarned ? step.reason : undefined;
			return reason === undefined ? [] : [{...auditEntryOf(holdings, context), kind: 'idle', reason}];
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
			known ??= demandFor(found, context, observation);
			return known;
		},
	};
	// If not all reservations must end, those that have been idle for longest end first.
	const found = candidates
		.toSorted((a, b) => (a.idle?.since ?? Number.MAX_VALUE) - (b.idle?.since ?? Number.MAX_VALUE))
		.map((candidate) => ({
			candidate,
			step: stepOf(candidate, judge(candidate, snapshot, observation, sight), context),
		}));
	const steps = found.map(({candidate, step}) => {
		const isParked = isWithoutLoad(candidate, observation, sight.memoryThresholdMiB) && !isKeptNow(candidate, snapshot);
		return {
			candidate,
			step: step.kind === 'due' ? dueStep(candidate, step, context) : step,
			parked: parkedAfter(candidate, isParked, context),
		};
	});
	const taken = steps.filter(({step}) => step.kind !== 'nothing');
	const nextSeconds = Math.min(...steps.map(({candidate, step}) => secondsToNext(candidate, step, context)));
	const changes = steps.flatMap(({candidate, ...after}) => changesOf(candidate, after, snapshot.now));
	if (changes.length === 0) {
		return {plan: emptyPlan, nextSeconds};
	}

	const holdingPlan = planHoldings(changes);
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
	const notes = noteReturns(snapshot, freed, 'reclaimed');
	return {
		plan: {
			...emptyPlan,
			...holdingPlan,
			writes: [...holdingPlan.writes, ...notes.writes],
			expect: [
				...holdingPlan.expect,
				...notes.expect,
				...(isDecision ? policyExpectations(snapshot) : []),
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
