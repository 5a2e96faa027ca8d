/** The limits for agents, which are clients of `canhazgpu mcp`. The limits apply to all agents together, so that people keep the other GPUs. */
import {CanhazgpuError} from '../../../errors.js';
import type {Expectation} from '../../model/plan.js';
import type {Lease, Snapshot} from '../../model/types.js';
import {latestEndOf} from '../leases/liveness.js';
import {isOfAgent} from '../leases/via.js';
import {usualDurationSeconds, type AcquireRequest} from '../request/request.js';
import {policyDoubtOf, policyValue, type StoredPolicy} from './policy.js';

type Asked = Pick<Lease, 'via'>;

/** The longest time for which an agent can hold GPUs under any policy. A forgotten agent must not hold GPUs for years. */
const longestAgentSeconds = 30 * 86_400;

/** Returns the preconditions of a grant to an agent: no other agent has got a GPU since the read. */
export const agentExpectations = (
	snapshot: StoredPolicy & Pick<Snapshot, 'gpus'>,
	asked: Asked,
): readonly Expectation[] =>
	isOfAgent(asked) && policyValue(snapshot, 'agents.max-gpus') !== 'off'
		? snapshot.gpus.flatMap((record) =>
				record.kind === 'garbage' ? [] : [{kind: 'gpu' as const, index: record.index, raw: record.raw}],
			)
		: [];

export const usualAgentSeconds = 1800;

/**
Returns how long an agent's reservation lasts if it names no duration, in seconds: half an hour, or less if the policy allows less.
@param mostSeconds - the longest reservation of the agent's account
*/
export function agentDefaultSeconds(snapshot: StoredPolicy, mostSeconds = Infinity): number {
	const ofAgents = policyValue(snapshot, 'agents.max-duration');
	return Math.min(usualAgentSeconds, ofAgents === 'off' ? Infinity : ofAgents, mostSeconds);
}

/** Returns the latest end that the limits for agents allow, in seconds since the epoch. Infinity for the lease of a person. */
export function latestAgentEnd(snapshot: StoredPolicy, lease: Pick<Lease, 'via' | 'startTime'>): number {
	const ofAgents = policyValue(snapshot, 'agents.max-duration');
	const most = ofAgents === 'off' ? longestAgentSeconds : Math.min(ofAgents, longestAgentSeconds);
	return isOfAgent(lease) ? Math.floor(lease.startTime + most) : Infinity;
}

/** Returns in how many seconds the last of these leases ends. 0 if they have no end. */
export const secondsUntilEnd = (leases: readonly Lease[], now: number): number =>
	Math.max(0, ...leases.map((lease) => (latestEndOf(lease) ?? now) - now));

/**
Returns in how many seconds a reservation ends if an agent's renewal names no duration: as late as for a new reservation, as far as the policy allows,
but never before its present end. Throws `impossible` if the reservation has already lasted as long as the policy allows.
*/
export function agentRenewalSeconds(
	snapshot: StoredPolicy & Pick<Snapshot, 'now'>,
	leases: readonly Lease[],
	mostSeconds?: number,
): number {
	const lastEnd = Math.min(...leases.map((lease) => latestAgentEnd(snapshot, lease)));
	if (lastEnd <= snapshot.now) {
		throw new CanhazgpuError('impossible', 'This reservation has lasted as long as the policy allows for agents', {
			hint: 'The policy of this pool sets this limit (agents.max-duration). Release the GPUs and reserve again.',
		});
	}

	const usual = Math.min(agentDefaultSeconds(snapshot, mostSeconds), lastEnd - snapshot.now);
	// Ends are rounded up to whole seconds, so this rounds down to get the same end again.
	return Math.max(usual, Math.floor(secondsUntilEnd(leases, snapshot.now)));
}

function checkPolicyKnown(snapshot: StoredPolicy): void {
	const doubt = policyDoubtOf(snapshot, ['agents.max-gpus', 'agents.max-duration']);
	if (doubt !== undefined) {
		throw new CanhazgpuError('pool-garbage', `No GPU is granted to agents: ${doubt.problem}`, {hint: doubt.fix});
	}
}

/** Throws `impossible` if an agent's reservation would last longer than the policy allows. */
export function checkAgentDuration(snapshot: StoredPolicy, asked: Asked, seconds: number): void {
	if (!isOfAgent(asked)) {
		return;
	}

	checkPolicyKnown(snapshot);
	if (seconds > longestAgentSeconds) {
		throw new CanhazgpuError('impossible', 'Agents may hold GPUs for at most 30d at a time', {
			hint: 'Ask for less time, or release the GPUs and reserve again.',
		});
	}

	const most = policyValue(snapshot, 'agents.max-duration');
	if (most === 'off' || seconds <= most) {
		return;
	}

	const typed = snapshot.policy.get('agents.max-duration')?.value ?? '';
	throw new CanhazgpuError('impossible', `Agents may hold GPUs for at most ${typed} at a time`, {
		hint: 'The policy of this pool sets this limit (agents.max-duration). Ask for less time, or release the GPUs and reserve again.',
	});
}

/** Throws `impossible` if the policy can never grant this request of an agent. */
export function checkAgentRequest(
	snapshot: StoredPolicy,
	{via, tenure}: Pick<AcquireRequest, 'via' | 'tenure'>,
	count: number,
): void {
	const asked = {via};
	checkAgentDuration(
		snapshot,
		asked,
		tenure.type === 'manual' ? (tenure.durationSeconds ?? usualDurationSeconds) : (tenure.timeLimitSeconds ?? Infinity),
	);
	const most = isOfAgent(asked) ? policyValue(snapshot, 'agents.max-gpus') : 'off';
	if (most !== 'off' && count > most) {
		throw new CanhazgpuError('impossible', `All agents together may hold at most ${most} GPUs, not ${count}`, {
			hint: 'The policy of this pool sets this limit (agents.max-gpus). Ask for fewer.',
		});
	}
}
