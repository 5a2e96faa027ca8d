/**
The limits of accounts, set by an administrator. A limit for a user overrides limits for groups, and a limit
for a group overrides the limit for everybody. Root has no limits.
*/
import {CanhazgpuError, cutShort} from '../../../errors.js';
import type {Expectation} from '../../model/plan.js';
import type {GpuRecord, Requester} from '../../model/types.js';
import {isRoot} from '../leases/ownership.js';
import {definitionOf} from '../policy/keys.js';
import {limitKeyFor, limitNames, namedLimitOf, type LimitName} from '../policy/limit-keys.js';
import type {StoredPolicy} from '../policy/policy.js';
import {usualDurationSeconds, type AskedTenure, type Tenure, type Wanted} from '../request/request.js';

export type Limit = {
	/** A count, or a duration in seconds. */
	readonly value: number;
	/** The key of the policy that sets the limit, and its value as typed. */
	readonly key: string;
	readonly text: string;
};

/** The limits of one account. An absent limit is unlimited. */
export type Limits = Readonly<Partial<Record<LimitName, Limit | undefined>>>;

export const noLimits: Limits = {};

type Limited = {
	readonly account: string;
	readonly groups?: readonly string[] | undefined;
};

/** The names under which the account with uid 0 appears: its usual name, and its uid if it has no name. */
const rootNames: ReadonlySet<string> = new Set(['root', '0']);

/** Whether a key sets a limit for root, which has no effect. */
export function isLimitOfRoot(key: string): boolean {
	const named = namedLimitOf(key);
	return named?.kind === 'user' && rootNames.has(named.name);
}

const isReadable = ({policy, policyProblem}: StoredPolicy): boolean => policy.size > 0 && policyProblem === undefined;

export const limitedGroupsOf = (stored: StoredPolicy): readonly string[] =>
	isReadable(stored)
		? [
				...new Set(
					stored.policy
						.keys()
						.map((key) => namedLimitOf(key))
						.flatMap((named) => (named?.kind === 'group' ? [named.name] : [])),
				),
			].toSorted()
		: [];

/** Returns the limit that a key sets, or `off` if the key lifts the limit. Undefined if the key is not set or cannot be read. */
function settingOf({policy}: StoredPolicy, key: string): Limit | 'off' | undefined {
	const text = policy.get(key)?.value;
	const value = text === undefined ? undefined : definitionOf(key)?.read(text);
	return value === 'off' ? 'off' : typeof value === 'number' ? {value, key, text: text!} : undefined;
}

const mostGenerous = (settings: ReadonlyArray<Limit | 'off'>): Limit | 'off' | undefined =>
	settings.includes('off')
		? 'off'
		: settings.filter((setting) => setting !== 'off').toSorted((a, b) => b.value - a.value)[0];

/** Returns the limit of an account. If several groups have a limit, the most generous limit counts. An unreadable policy limits nobody. */
export function limitOf(stored: StoredPolicy, limit: LimitName, {account, groups = []}: Limited): Limit | undefined {
	if (!isReadable(stored) || rootNames.has(account)) {
		return undefined;
	}

	const setting =
		settingOf(stored, limitKeyFor({kind: 'user', name: account, limit})) ??
		mostGenerous(groups.flatMap((name) => settingOf(stored, limitKeyFor({kind: 'group', name, limit})) ?? [])) ??
		settingOf(stored, `limits.${limit}`);
	return setting === 'off' ? undefined : setting;
}

/** Returns all limits of a requester. `groupsAmong` returns the groups in `names` to which the requester belongs. */
export function limitsOf(
	stored: StoredPolicy,
	requester: Pick<Requester, 'account' | 'uid' | 'userNamespace'>,
	groupsAmong: (names: readonly string[]) => readonly string[],
): Limits {
	if (!isReadable(stored) || isRoot(requester)) {
		return noLimits;
	}

	const named = limitedGroupsOf(stored);
	const limited = {account: requester.account, groups: named.length === 0 ? [] : groupsAmong(named)};
	return Object.fromEntries(limitNames.map((limit) => [limit, limitOf(stored, limit, limited)]));
}

export const settingText = ({key, text}: Limit): string => `${key}=${text}`;

/** Throws `impossible` for a request for more GPUs than the account can ever hold. */
export function requireWithinMaxGpus({count}: Wanted, {'max-gpus': limit}: Limits, account: string): void {
	if (limit !== undefined && count > limit.value) {
		throw new CanhazgpuError(
			'impossible',
			`Cannot reserve ${count} GPUs: ${cutShort(account)} can hold at most ${limit.value}`,
			{
				hint: `The limit is ${settingText(limit)}. Ask for ${limit.value} or fewer.`,
			},
		);
	}
}

/** Returns how long a reservation without a duration lasts: the default of the policy, or its maximum if the maximum is shorter. */
export const defaultSeconds = ({'default-duration': usual, 'max-duration': most}: Limits): number =>
	Math.min(usual?.value ?? usualDurationSeconds, most?.value ?? Infinity);

/** Returns the tenure with its duration. Throws `impossible` if the requested time is longer than allowed. */
export function tenureWithin(tenure: AskedTenure, limits: Limits): Tenure {
	const most = limits['max-duration'];
	const asked = tenure.type === 'manual' ? tenure.durationSeconds : tenure.timeLimitSeconds;
	if (most !== undefined && asked !== undefined && asked > most.value) {
		// An agent holds a reservation as a job does, but has no command.
		const isReservation = tenure.type === 'manual' || tenure.holder !== undefined;
		throw new CanhazgpuError(
			'impossible',
			isReservation ? `A reservation can last at most ${most.text}` : `A job can ask for at most ${most.text}`,
			{hint: `The limit is ${settingText(most)}.`},
		);
	}

	return tenure.type === 'manual' ? {...tenure, durationSeconds: asked ?? defaultSeconds(limits)} : tenure;
}

/**
Throws `impossible` if the new end is later than `max-duration` from now. A lease that already ends later can be
shortened to any end. `advice` is for the hint.
*/
export function requireEndWithin(
	{end, before, now}: {readonly end: number; readonly before: number | undefined; readonly now: number},
	limits: Limits,
	advice: string,
): void {
	const most = limits['max-duration'];
	if (most !== undefined && end > Math.max(Math.ceil(now + most.value), before ?? -Infinity)) {
		throw new CanhazgpuError('impossible', `A reservation can end at most ${most.text} from now`, {
			hint: `The limit is ${settingText(most)}. Nothing was changed. ${advice}`,
		});
	}
}

const overMaxWaiting = {limit: 'max-waiting'} as const;

/** Whether the error is that of {@link requireWithinMaxWaiting}. The request can join the queue once another one of its account has left. */
export const isOverMaxWaiting = (error: CanhazgpuError): boolean => error.details === overMaxWaiting;

/** Throws `unavailable` if the account already has as many requests in the queue as its limit allows. */
export function requireWithinMaxWaiting(waiting: number, {'max-waiting': limit}: Limits, account: string): void {
	if (limit !== undefined && waiting >= limit.value) {
		throw new CanhazgpuError(
			'unavailable',
			`${cutShort(account)} already has ${waiting} of at most ${limit.value} requests in the queue`,
			{
				hint: `The limit is ${settingText(limit)}. Cancel one first: canhazgpu queue --leave ID`,
				agentHint: `The limit is ${settingText(limit)}. See them: gpu_queue. To cancel a waiting job: gpu_cancel`,
				details: overMaxWaiting,
			},
		);
	}
}

/**
Returns the preconditions of a grant to an account with a limit: no GPU record has changed since the read. Omits
GPUs in `expected`, and records that cannot be compared.
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
