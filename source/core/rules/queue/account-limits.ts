/**
Applies `limits.max-gpus` to the requests of an account, and `agents.max-gpus` to the requests of all agents. Each
GPU, share and MIG instance counts as one GPU.
*/
import type {Lease, QueueEntry, Snapshot} from '../../model/types.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {silentSecondsOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {isOfAgent} from '../leases/via.js';
import {limitOf, type Limit} from '../limits/limits.js';
import {canUseSlack, type SlackRequest} from '../limits/slack.js';
import {policyValue} from '../policy/policy.js';
import {wantedCountOf} from './eligible.js';
import {countEntry, surplusOf, tallyOf, type EntryState, type Tally} from './limit-tally.js';
import {keepsHoldings, outagesNoted, servableGroups, type OutOfService} from './out-of-service.js';

export type OverLimit = {
	readonly account: string;
	/** How many GPUs the account holds. Excludes GPUs that its waiting requests hold. */
	readonly held: number;
	/** How many GPUs the account's earlier requests in the queue want. */
	readonly ahead: number;
	readonly limit: Limit;
};

/** Why a request of an agent waits although GPUs may be free. `held` and `ahead` are as in {@link OverLimit}, but count all agents. */
export type AgentLimit = Pick<OverLimit, 'held' | 'ahead'> & {
	readonly most: number;
};

/**
The account that gets GPUs, with its limit. `limit` is based on the account's current Unix groups, because the
groups in its queue entries may be out of date.
*/
export type Receiver = Pick<Lease, 'via'> & {readonly account: string; readonly limit: Limit | undefined};

type Circumstances = EntryState & {readonly own?: Receiver | undefined};

type View = Pick<Snapshot, 'gpus' | 'queue' | 'policy' | 'policyProblem'>;

export type AccountLimits = {
	/** Returns why an entry must wait until other reservations of its account end. Undefined if the entry need not wait for them. */
	readonly overLimitOf: (entry: QueueEntry) => OverLimit | undefined;
	readonly overLimitFor: (count: number) => OverLimit | undefined;
	readonly agentLimitOf: (entry: QueueEntry) => AgentLimit | undefined;
	readonly agentLimitFor: (count: number) => AgentLimit | undefined;
	/** Returns whether an entry waits until its account or other agents hold fewer GPUs. No GPU is kept for such an entry. */
	readonly isHeldBack: (entry: QueueEntry) => boolean;
	/** Returns whether an entry may exceed its limit, because the policy allows slack and no other request waits. */
	readonly mayExceed: (entry: QueueEntry) => boolean;
	readonly mayExceedWith: (request: SlackRequest) => boolean;
	/**
	Returns the GPUs that a grant to the caller must release in the same commit. Waiting requests of the caller's account hold these GPUs, or waiting
	requests of agents if the caller is an agent.
	@param count - The number of GPUs that the limits do not count yet. 0 for an entry of the queue within its limits.
	*/
	readonly surplus: (count: number) => readonly Holding[];
};

function once<Value>(compute: () => Value): () => Value {
	let known: {readonly value: Value} | undefined;
	return () => {
		known ??= {value: compute()};
		return known.value;
	};
}

function groupByAccount({gpus, queue}: View) {
	const waiting = queue.flatMap((record) => (record.kind === 'entry' ? [record.entry] : []));
	const ids = new Set(waiting.map(({id}) => id));
	const holdings = holdingsIn(gpus);
	const isPartial = ({lease: {partialQueueId}}: Holding): boolean =>
		partialQueueId !== undefined && ids.has(partialQueueId);
	const granted = holdings.filter((holding) => !isPartial(holding));
	return {
		waiting,
		entries: Map.groupBy(waiting, (entry) => ownerOf(entry)),
		granted: Map.groupBy(granted, ({lease}) => ownerOf(lease)),
		grantedToAgents: granted.filter(({lease}) => isOfAgent(lease)).length,
		partial: Map.groupBy(
			holdings.filter((holding) => isPartial(holding)),
			({lease}) => lease.partialQueueId!,
		),
	};
}

/** Decides which requests the limits allow. Computes nothing for accounts without a limit. */
export function accountLimitsOf(view: View, {own, ...state}: Circumstances): AccountLimits {
	const ofAgents = policyValue(view, 'agents.max-gpus');
	const agentMostFor = (asked: Pick<Lease, 'via'> | undefined): number | undefined =>
		ofAgents !== 'off' && asked !== undefined && isOfAgent(asked) ? ofAgents : undefined;
	const limitFor = (entry: QueueEntry): Limit | undefined => {
		const account = ownerOf(entry);
		return own?.account === account ? own.limit : limitOf(view, 'max-gpus', {account, groups: entry.groups});
	};

	// Computed on first use, because most pools have no limits.
	const grouped = once(() => groupByAccount(view));
	const heldBy = (id: string): readonly Holding[] => grouped().partial.get(id) ?? [];
	const entriesOf = (account: string): readonly QueueEntry[] => grouped().entries.get(account) ?? [];

	/** Counts these entries under the limits of these accounts, and under the limit of agents. */
	function count(entries: readonly QueueEntry[], accounts: Iterable<string>) {
		const {granted, grantedToAgents} = grouped();
		const tallies = new Map(Array.from(accounts, (account) => [account, tallyOf(granted.get(account)?.length ?? 0)]));
		const agents = tallyOf(grantedToAgents);
		for (const entry of entries) {
			const tally = tallies.get(ownerOf(entry));
			const most = agentMostFor(entry);
			const bounds = [
				...(tally === undefined ? [] : [{tally, most: limitFor(entry)?.value ?? Infinity}]),
				...(most === undefined ? [] : [{tally: agents, most}]),
			];
			countEntry(entry, bounds, state, heldBy);
		}

		return {tallies, agents};
	}

	/** Counts the requests of agents together with all requests of their accounts, because each limit depends on the other. */
	const countedAgents = once(() => {
		const isAgent = (entry: QueueEntry): boolean => agentMostFor(entry) !== undefined;
		const accounts = new Set(
			grouped()
				.entries.entries()
				.filter(
					([, entries]) =>
						entries.some((entry) => isAgent(entry)) && entries.some((entry) => limitFor(entry) !== undefined),
				)
				.map(([account]) => account),
		);
		return count(
			grouped().waiting.filter((entry) => isAgent(entry) || accounts.has(ownerOf(entry))),
			accounts,
		);
	});

	const known = new Map<string, Tally>();
	function tallyFor(account: string): Tally {
		const entries = entriesOf(account);
		const hasAgent = entries.some((entry) => agentMostFor(entry) !== undefined);
		const tally = known.get(account) ?? (hasAgent ? countedAgents() : count(entries, [account])).tallies.get(account)!;
		known.set(account, tally);
		return tally;
	}

	function overLimitOf(entry: QueueEntry): OverLimit | undefined {
		const limit = limitFor(entry);
		if (limit === undefined) {
			return undefined;
		}

		const account = ownerOf(entry);
		const {over, held} = tallyFor(account);
		const ahead = over.get(entry.id);
		return ahead === undefined ? undefined : {account, held, ahead, limit};
	}

	function agentLimitOf(entry: QueueEntry): AgentLimit | undefined {
		const most = agentMostFor(entry);
		if (most === undefined) {
			return undefined;
		}

		const {over, held} = countedAgents().agents;
		const ahead = over.get(entry.id);
		return ahead === undefined ? undefined : {most, held, ahead};
	}

	/** Returns why a request that the limit does not count yet must wait for other agents. */
	function newAgentLimit(asked: Pick<Lease, 'via'> | undefined, wanted: number): AgentLimit | undefined {
		const most = agentMostFor(asked);
		if (most === undefined) {
			return undefined;
		}

		const {isBlocked, promised, held, ahead} = countedAgents().agents;
		return isBlocked || promised + wanted > most ? {most, held, ahead} : undefined;
	}

	const isServable = (entry: QueueEntry): boolean => agentLimitOf(entry) === undefined && state.isServable(entry);

	/**
	Returns whether a request that comes after these entries of its account may exceed the limit. False if a servable
	request within its own limit waits.
	*/
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
		agentLimitOf,
		agentLimitFor: (wanted) => newAgentLimit(own, wanted),
		isHeldBack: (entry) => agentLimitOf(entry) !== undefined || overLimitOf(entry) !== undefined,
		mayExceed(entry) {
			const account = ownerOf(entry);
			const all = entriesOf(account);
			const position = all.findIndex(({id}) => id === entry.id);
			const earlier = all.slice(0, Math.max(0, position));
			return (
				isAllowed(account, earlier, {type: entry.reservationType, need: entry.need}) &&
				// The limit of agents does not count an entry that waits for its account, so the entry is checked like a new request.
				newAgentLimit(entry, wantedCountOf(entry)) === undefined
			);
		},
		mayExceedWith(request) {
			return own !== undefined && isAllowed(own.account, entriesOf(own.account), request);
		},
		overLimitFor(wanted) {
			if (own?.limit === undefined) {
				return undefined;
			}

			const {account, limit} = own;
			const {held, ahead, promised, isBlocked} = tallyFor(account);
			return isBlocked || promised + wanted > limit.value ? {account, held, ahead, limit} : undefined;
		},
		surplus(wanted) {
			const most = agentMostFor(own);
			return [
				...(own?.limit === undefined ? [] : surplusOf(tallyFor(own.account), own.limit.value, wanted, heldBy)),
				...(most === undefined ? [] : surplusOf(countedAgents().agents, most, wanted, heldBy)),
			];
		},
	};
}

/** Works like {@link accountLimitsOf}, but uses only the records, for callers that inspect no processes and grant nothing. */
export function accountLimitsSeen(snapshot: Snapshot, own?: Circumstances['own']): AccountLimits {
	let known: OutOfService | undefined;
	const out = (): OutOfService => {
		known ??= outagesNoted(snapshot, snapshot.queue);
		return known;
	};

	const isSilent = (entry: QueueEntry): boolean => silentSecondsOf(entry, snapshot) !== undefined;
	return accountLimitsOf(snapshot, {
		own,
		isServable: (entry) => !isSilent(entry) && servableGroups(entry, snapshot.gpus, out()).length > 0,
		givesHoldings: (entry) => isSilent(entry) || !keepsHoldings(entry, snapshot, out()),
	});
}
