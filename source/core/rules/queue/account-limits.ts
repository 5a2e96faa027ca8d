/**
Applies `limits.max-gpus` to the requests of one account, first come, first served. Every whole GPU, share and MIG instance counts as one GPU.
A request for which the account holds too many GPUs keeps its position, but no GPU is kept for it, and others may take the GPUs that it already holds.
*/
import type {Expectation} from '../../model/plan.js';
import type {GpuRecord, QueueEntry, Snapshot} from '../../model/types.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {silentSecondsOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {limitOf, type Limit} from '../limits/limits.js';
import {canUseSlack, type SlackRequest} from '../limits/slack.js';
import {isHeldBack} from '../policy/agents.js';
import {wantedCountOf} from './eligible.js';
import {keepsHoldings, outagesNoted, servableGroups, type OutOfService} from './out-of-service.js';

export type OverLimit = {
	readonly account: string;
	/** How many GPUs the account holds, without those held by its waiting requests. */
	readonly held: number;
	/** How many GPUs the account's earlier requests in the queue want. */
	readonly ahead: number;
	readonly limit: Limit;
};

type Circumstances = {
	/** The account of the caller, and its limit. The caller knows its Unix groups better than its entries in the queue do. */
	readonly own?: {readonly account: string; readonly limit: Limit | undefined} | undefined;
	/** Whether GPUs are kept for an entry now: its process sends heartbeats, and no outage prevents it from being served. */
	readonly isServable: (entry: QueueEntry) => boolean;
	readonly givesHoldings: (entry: QueueEntry) => boolean;
};

type View = Pick<Snapshot, 'gpus' | 'queue' | 'policy' | 'policyProblem'>;

type Account = {
	readonly overLimit: ReadonlyMap<string, OverLimit>;
	readonly held: number;
	/** The number of GPUs that the waiting requests of the account want. */
	readonly ahead: number;
	/** The number of GPUs that the account holds, or that its waiting requests may still get within the limit. */
	readonly promised: number;
	/** Whether a waiting request exceeds the limit. A new request then waits behind it. */
	readonly isBlocked: boolean;
	/** Holdings that others may take from entries within the limit, because the process is stopped or an outage lasts. */
	readonly givenUp: readonly Holding[];
};

export type AccountLimits = {
	/** Returns why an entry must wait for other reservations of its account to end. Undefined if it need not. */
	readonly overLimitOf: (entry: QueueEntry) => OverLimit | undefined;
	readonly overLimitFor: (count: number) => OverLimit | undefined;
	/** Returns whether an entry that is over its limit may exceed it now, because the policy allows this and nobody else waits. */
	readonly mayExceed: (entry: QueueEntry) => boolean;
	readonly mayExceedWith: (request: SlackRequest) => boolean;
	/** Returns GPUs of the caller's waiting requests to release together with a grant. `count` is the size of a new request, or 0 for a queue entry. */
	readonly surplus: (count: number) => readonly Holding[];
};

function groupByAccount({gpus, queue}: View) {
	const waiting = queue.flatMap((record) => (record.kind === 'entry' ? [record.entry] : []));
	const ids = new Set(waiting.map(({id}) => id));
	const holdings = holdingsIn(gpus);
	const isPartial = ({lease: {partialQueueId}}: Holding): boolean =>
		partialQueueId !== undefined && ids.has(partialQueueId);
	return {
		entries: Map.groupBy(waiting, (entry) => ownerOf(entry)),
		/** Holdings by account, without those of waiting requests. */
		granted: Map.groupBy(
			holdings.filter((holding) => !isPartial(holding)),
			({lease}) => ownerOf(lease),
		),
		/** Holdings of waiting requests, by the id of the entry. */
		partial: Map.groupBy(
			holdings.filter((holding) => isPartial(holding)),
			({lease}) => lease.partialQueueId!,
		),
	};
}

/** Decides which requests each account's limit allows. Costs nothing for accounts without a limit. */
export function accountLimitsOf(view: View, {own, ...circumstances}: Circumstances): AccountLimits {
	// A request that must wait for other agents cannot be served now, and others may take what it holds.
	const isServable = (entry: QueueEntry): boolean => !isHeldBack(view, entry) && circumstances.isServable(entry);
	const givesHoldings = (entry: QueueEntry): boolean => isHeldBack(view, entry) || circumstances.givesHoldings(entry);
	const limitFor = (entry: QueueEntry): Limit | undefined => {
		const account = ownerOf(entry);
		return own?.account === account ? own.limit : limitOf(view, 'max-gpus', {account, groups: entry.groups});
	};

	// Computed on first use, because most pools have no limits.
	let grouped: ReturnType<typeof groupByAccount> | undefined;
	const heldBy = (id: string): readonly Holding[] => {
		grouped ??= groupByAccount(view);
		return grouped.partial.get(id) ?? [];
	};

	function judge(account: string): Account {
		grouped ??= groupByAccount(view);
		const entries = grouped.entries.get(account) ?? [];
		const held = grouped.granted.get(account)?.length ?? 0;
		const overLimit = new Map<string, OverLimit>();
		let promised = held;
		let ahead = 0;
		let isBlocked = false;
		const givenUp: Holding[] = [];
		for (const entry of entries) {
			const limit = limitFor(entry);
			const wanted = wantedCountOf(entry);
			const isImpossible = limit !== undefined && wanted > limit.value;
			const isWaiting = !isImpossible && isServable(entry);
			// An entry that cannot be served now blocks no other request of its account, but the GPUs that it keeps count.
			const gives = !isWaiting && givesHoldings(entry);
			const count = isWaiting ? wanted : gives ? 0 : heldBy(entry.id).length;
			if (limit !== undefined && (isImpossible || (isWaiting && isBlocked) || promised + count > limit.value)) {
				overLimit.set(entry.id, {account, held, ahead, limit});
				isBlocked ||= isWaiting;
			} else {
				promised += count;
				givenUp.push(...(gives ? heldBy(entry.id) : []));
			}

			ahead += isWaiting ? wanted : 0;
		}

		return {overLimit, held, ahead, promised, isBlocked, givenUp};
	}

	const known = new Map<string, Account>();
	const judged = (account: string): Account => {
		const answer = known.get(account) ?? judge(account);
		known.set(account, answer);
		return answer;
	};

	const overLimitOf = (entry: QueueEntry): OverLimit | undefined =>
		limitFor(entry) === undefined ? undefined : judged(ownerOf(entry)).overLimit.get(entry.id);

	/** Returns whether a request after these entries of its account may exceed the limit: no servable request within its own limit may be waiting. */
	const isAllowed = (account: string, earlier: readonly QueueEntry[], request: SlackRequest): boolean =>
		canUseSlack(view, request) &&
		earlier.every((entry) => wantedCountOf(entry) > (limitFor(entry)?.value ?? Infinity) || !isServable(entry)) &&
		view.queue.every(
			(record) =>
				record.kind !== 'entry' ||
				ownerOf(record.entry) === account ||
				overLimitOf(record.entry) !== undefined ||
				!isServable(record.entry),
		);

	return {
		overLimitOf,
		mayExceed(entry) {
			grouped ??= groupByAccount(view);
			const account = ownerOf(entry);
			const all = grouped.entries.get(account) ?? [];
			const position = all.findIndex(({id}) => id === entry.id);
			const earlier = all.slice(0, Math.max(0, position));
			return isAllowed(account, earlier, {type: entry.reservationType, need: entry.need});
		},
		mayExceedWith(request) {
			grouped ??= groupByAccount(view);
			return own !== undefined && isAllowed(own.account, grouped.entries.get(own.account) ?? [], request);
		},
		overLimitFor(count) {
			if (own?.limit === undefined) {
				return undefined;
			}

			const {account, limit} = own;
			const {held, ahead, promised, isBlocked} = judged(account);
			return isBlocked || promised + count > limit.value ? {account, held, ahead, limit} : undefined;
		},
		surplus(count) {
			if (own?.limit === undefined) {
				return [];
			}

			const {overLimit, promised, givenUp} = judged(own.account);
			return [
				...overLimit.keys().flatMap((id) => heldBy(id)),
				...(promised + count + givenUp.length > own.limit.value ? givenUp : []),
			];
		},
	};
}

/** Like {@link accountLimitsOf}, based on the records alone. For callers that inspect no processes and grant nothing. */
export function accountLimitsSeen(snapshot: Snapshot): AccountLimits {
	let known: OutOfService | undefined;
	const out = (): OutOfService => {
		known ??= outagesNoted(snapshot, snapshot.queue);
		return known;
	};

	const isSilent = (entry: QueueEntry): boolean => silentSecondsOf(entry, snapshot) !== undefined;
	return accountLimitsOf(snapshot, {
		isServable: (entry) => !isSilent(entry) && servableGroups(entry, snapshot.gpus, out()).length > 0,
		givesHoldings: (entry) => isSilent(entry) || !keepsHoldings(entry, snapshot, out()),
	});
}

/**
Returns the preconditions of a grant to an account with a limit: nothing that the account could hold has changed since the read. Omits records that
the plan expects anyway, and values that a commit cannot compare.
*/
export const limitExpectations = (
	gpus: readonly GpuRecord[],
	limit: Limit | undefined,
	expected: readonly Expectation[],
): readonly Expectation[] => {
	const known = new Set(expected.map((one) => (one.kind === 'gpu' ? one.index : undefined)));
	return limit === undefined
		? []
		: gpus
				.filter(({kind, raw, index}) => !known.has(index) && !(kind === 'garbage' && raw === undefined))
				.map(({index, raw}): Expectation => ({kind: 'gpu', index, raw}));
};
