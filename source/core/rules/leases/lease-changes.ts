/** Plans how leases expire, are released or are extended. A plan fails if a record has changed since the read, so a late commit never changes another lease. */
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Host} from '../../model/ports.js';
import type {EndReason, Lease, PoolEvent, QueueEntry, QueueRecord, Snapshot} from '../../model/types.js';
import {planHoldings, type HoldingChange} from './holding-changes.js';
import {gpusOf, holdingsIn, type Holding} from './holdings.js';
import {judgeEntry, judgeLease, timedEndOf, type Ending} from './liveness.js';
import {auditEntryOf, endingEntries, extensionEntries, positionEntry, type AuditContext} from './audit-entries.js';

type Ended = {readonly holding: Holding; readonly ending: Ending};

const endChange = (ended: Ended): HoldingChange => ({kind: 'end', ...ended});

export const planEnd = (endings: readonly Ended[], event: PoolEvent, context: AuditContext): Plan => ({
	...planHoldings(endings.map((end) => endChange(end))),
	audit: endingEntries(endings, context),
	event,
	grants: false,
});

function dropFromQueue(gone: readonly QueueRecord[]): Pick<Plan, 'expect' | 'writes'> {
	return {
		expect: gone.map((record) => ({
			kind: 'entry',
			id: record.id,
			raw: record.kind === 'orphan' ? undefined : record.raw,
		})),
		writes: gone.map(({id}) => ({kind: 'leave', id})),
	};
}

/** Returns the lease or entry with a new heartbeat. The heartbeat also ends any watch for a missed one. */
export const withHeartbeat = <Held extends Lease | QueueEntry>(held: Held, now: number): Held => ({
	...held,
	lastHeartbeat: now,
	silence: undefined,
});

/** In a long queue, a waiting command checks this many entries at the front for live processes, and on average as many others. */
const judgedCount = 8;

/**
Returns which entries a waiting command checks: the first entries, entries with GPUs, and a random sample. Not all are checked, because each check
inspects a process. `random` is in [0, 1).
*/
export function judgedByWaiter({queue, gpus}: Snapshot, random: () => number): (record: QueueRecord) => boolean {
	const holding = new Set(holdingsIn(gpus).map(({lease}) => lease.partialQueueId));
	const judged = new Set(
		queue.filter(
			({id}, index) => index < judgedCount || holding.has(id) || random() < judgedCount / (queue.length - judgedCount),
		),
	);
	return (record) => judged.has(record);
}

/**
Plans to remove ended leases, entries of ended processes together with the GPUs that they hold, and queue ids without an entry. Also starts watches
for holders that missed a heartbeat, and sends heartbeats for holders that are alive. Every command plans this first.
@param isJudged - Returns whether an entry is checked. All other entries stay as they are.
*/
export function planExpiry(
	snapshot: Snapshot,
	host: Host,
	isJudged: (record: QueueRecord) => boolean = () => true,
): Plan {
	const holdings = holdingsIn(snapshot.gpus);
	if (holdings.length === 0 && snapshot.queue.length === 0) {
		return emptyPlan;
	}

	const entries = snapshot.queue
		.filter((record) => record.kind === 'entry')
		.filter((record) => isJudged(record))
		.map((record) => ({record, judgement: judgeEntry(record.entry, snapshot, host)}));
	const reasons = new Map<QueueRecord, EndReason>(
		entries.flatMap(({record, judgement}) => (judgement.kind === 'ended' ? [[record, judgement.ending] as const] : [])),
	);
	const gone = snapshot.queue.filter((record) => record.kind === 'orphan' || reasons.has(record));
	const staying: Snapshot = {...snapshot, queue: snapshot.queue.filter((record) => !gone.includes(record))};
	const leases = holdings.map((holding) => ({
		holding,
		judgement: judgeLease(holding.lease, staying, host),
	}));
	const ended = leases.flatMap(({holding, judgement}) =>
		judgement.kind === 'ended' ? [{holding, ending: judgement.ending}] : [],
	);
	// Watches and heartbeats change nothing that other processes react to, so they need no event.
	const noted = leases.flatMap(({holding, judgement}): readonly HoldingChange[] =>
		judgement.kind === 'watch'
			? [{kind: 'change', holding, lease: {...holding.lease, silence: judgement.silence}}]
			: judgement.kind === 'vouch'
				? [{kind: 'change', holding, lease: withHeartbeat(holding.lease, snapshot.now)}]
				: [],
	);
	const watched = entries.flatMap(({record: {id, raw, entry}, judgement}) =>
		judgement.kind === 'watch' ? [{id, raw, entry: {...entry, silence: judgement.silence}}] : [],
	);
	if (gone.length === 0 && ended.length === 0 && noted.length === 0 && watched.length === 0) {
		return emptyPlan;
	}

	const changes = planHoldings([...ended.map((end) => endChange(end)), ...noted]);
	const drops = dropFromQueue(gone);
	// Ids of missing entries for which GPUs are held. The plan expects that they are still missing, so the commit conflicts if one reappears.
	const orphaned = new Set(
		ended
			.map(({holding}) => holding.lease.partialQueueId)
			.filter((id) => id !== undefined && gone.every((entry) => entry.id !== id)),
	) as ReadonlySet<string>;
	const context: AuditContext = {now: snapshot.now, host: host.hostname};
	return {
		...changes,
		expect: [
			...changes.expect,
			...drops.expect,
			...[...orphaned].map((id) => ({kind: 'entry', id, raw: undefined}) as const),
			...watched.map(({id, raw}) => ({kind: 'entry', id, raw}) as const),
		],
		writes: [...changes.writes, ...drops.writes, ...watched.map(({entry}) => ({kind: 'entry', entry}) as const)],
		audit: [
			...endingEntries(ended, context),
			...gone
				.filter((record) => record.kind === 'entry')
				.map((record) => positionEntry('left', record.entry, context, reasons.get(record))),
		],
		event:
			gone.length === 0 && ended.length === 0
				? undefined
				: {kind: 'expired', gpus: gpusOf(ended.map(({holding}) => holding)), left: gone.map(({id}) => id)},
		grants: false,
	};
}

/** Plans to release these leases now. A lease that has already expired ends at its expiry time. */
export const planRelease = (holdings: readonly Holding[], user: string, context: AuditContext): Plan =>
	planEnd(
		holdings.map((holding) => ({
			holding,
			ending: {reason: 'released', endTime: Math.min(context.now, timedEndOf(holding.lease) ?? Infinity)},
		})),
		{kind: 'released', gpus: gpusOf(holdings), user},
		context,
	);

export const planChange = (
	holdings: readonly Holding[],
	change: (lease: Lease, holding: Holding) => Lease,
	event: PoolEvent | undefined,
): Plan => ({
	...planHoldings(
		holdings.map((holding): HoldingChange => ({kind: 'change', holding, lease: change(holding.lease, holding)})),
	),
	audit: [],
	event,
	grants: false,
});

type Extension = {
	readonly expiryOf: (lease: Lease) => number;
	readonly keepUntilOf?: ((lease: Lease) => number) | undefined;
};

/** Plans the extension of leases. With `keepUntilOf`, also ends their idle time and withdraws the warning. */
export function planExtend(
	holdings: readonly Holding[],
	{expiryOf, keepUntilOf}: Extension,
	user: string,
	context: AuditContext,
): Plan {
	const extend = (lease: Lease): Lease => ({
		...lease,
		...(lease.type === 'manual' ? {expiryTime: expiryOf(lease)} : {endsBy: expiryOf(lease)}),
		...(keepUntilOf !== undefined && {keepUntil: keepUntilOf(lease), idle: undefined, parked: undefined}),
	});
	const moved = holdings.filter(({lease}) => keepUntilOf === undefined || expiryOf(lease) !== lease.expiryTime);
	const kept =
		keepUntilOf === undefined ? [] : Map.groupBy(holdings, ({index, lease}) => lease.leaseId ?? index).values();
	return {
		...planChange(holdings, extend, {kind: 'extended', gpus: gpusOf(holdings), user}),
		audit: [
			...extensionEntries(
				moved.map(({index, lease}) => ({index, lease: extend(lease)})),
				context,
			),
			...Array.from(kept, (ofLease) => ({
				...auditEntryOf(ofLease, context),
				kind: 'idle' as const,
				reason: 'kept',
				until: keepUntilOf?.(ofLease[0]!.lease),
			})),
		],
	};
}
