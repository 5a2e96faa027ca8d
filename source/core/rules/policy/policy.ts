/**
The policy of the pool: what an administrator has set for everybody. What cannot be read is as if it were not set, so that exclusive grants
go on; every face says so.
*/
import {CanhazgpuError, quoted} from '../../../errors.js';
import {emptyPlan, type Expectation, type Plan} from '../../model/plan.js';
import type {AuditRecord, PolicySetting, Snapshot} from '../../model/types.js';
import type {AuditContext} from '../leases/audit-entries.js';
import {isPolicyKey, policyKeyNames, policyKeys, type PolicyKey, type PolicyKeyName} from './keys.js';

type Stored = Pick<Snapshot, 'policy'>;

/** The value of every key, as `core/rules/policy/keys.ts` types it. */
export type Policy = {
	readonly [Name in PolicyKeyName]: (typeof policyKeys)[Name] extends PolicyKey<infer Value> ? Value : never;
};

/** A value that a later version or another hand wrote is no value: then the default holds. */
function valueOf(name: PolicyKeyName, {policy}: Stored): unknown {
	const {read, fallback} = policyKeys[name] as PolicyKey<unknown>;
	const stored = policy.get(name)?.value;
	return (stored === undefined ? undefined : read(stored)) ?? read(fallback);
}

/** What holds now. */
export const policyOf = (snapshot: Stored): Policy =>
	Object.fromEntries(policyKeyNames.map((name) => [name, valueOf(name, snapshot)])) as Policy;

/** For every plan that depends on the policy: a change of it meanwhile is a conflict. */
export const policyExpectation = ({stored}: Pick<Snapshot, 'stored'>): Expectation => ({
	kind: 'policy',
	raw: stored.policy,
});

/** One key as it is shown. */
export type PolicyRow = {
	readonly key: string;
	/** What holds, as it would be typed. Of a key that this version does not know: what is stored. */
	readonly value: string;
	/** What holds where it is not set. Absent: this version does not know the key, and does nothing with it. */
	readonly fallback?: string;
	readonly summary?: string;
	/** Who set it, and when. Absent: it is not set. */
	readonly setting?: PolicySetting;
	/** Why the stored value does not count. */
	readonly problem?: string;
};

/** Every key that this version knows, then those that are set and that it does not know. */
export function policyRows({policy}: Stored): readonly PolicyRow[] {
	const known = policyKeyNames.map((key): PolicyRow => {
		const {fallback, summary, expects, read} = policyKeys[key] as PolicyKey<unknown>;
		const setting = policy.get(key);
		const isWrong = setting !== undefined && read(setting.value) === undefined;
		return {
			key,
			value: setting === undefined || isWrong ? fallback : setting.value,
			fallback,
			summary,
			setting,
			problem: isWrong ? `${quoted(setting.value)} is not ${expects}` : undefined,
		};
	});
	const unknown = [...policy]
		.filter(([key]) => !isPolicyKey(key))
		.map(([key, setting]): PolicyRow => ({key, value: setting.value, setting}));
	return [...known, ...unknown];
}

/** Why the policy, or a part of it, does not count. Undefined: all of it does. */
export function policyProblemOf(snapshot: Pick<Snapshot, 'policy' | 'policyProblem'>): string | undefined {
	const {policyProblem} = snapshot;
	const problems = policyRows(snapshot).flatMap(({key, problem}) =>
		problem === undefined ? [] : [`${key}: ${problem}`],
	);
	return policyProblem ?? (problems.length === 0 ? undefined : problems.join('; '));
}

/** A key to set, or to unset: `value` undefined. A key that this version does not know can be unset where it is set. */
export type PolicyChange =
	{readonly key: PolicyKeyName; readonly value: string} | {readonly key: string; readonly value: undefined};

/** @param guess - The key that was likely meant. */
export const unknownKey = (key: string, guess?: string): CanhazgpuError =>
	new CanhazgpuError('usage', `The policy has no key ${quoted(key)}`, {
		hint:
			guess === undefined
				? `The keys are: ${policyKeyNames.join(', ')}. See them: canhazgpu admin --policy`
				: `Did you mean ${guess}? See all keys: canhazgpu admin --policy`,
	});

/** @throws CanhazgpuError `usage` for a key that there is not and a value that the key cannot have, `impossible` for one that this pool cannot have. */
function checkValue(key: PolicyKeyName, value: string, gpuCount: number): void {
	const {expects, read, check} = policyKeys[key] as PolicyKey<unknown>;
	const meant = read(value);
	if (meant === undefined) {
		throw new CanhazgpuError('usage', `${key} must be ${expects}, and not ${quoted(value)}`, {
			hint: 'Nothing was changed. See what holds now: canhazgpu admin --policy',
		});
	}

	check?.(meant, gpuCount);
}

/** A key whose value has changed. */
export type PolicyChanged = {
	readonly key: string;
	/** Undefined: it is no longer set. */
	readonly value: string | undefined;
	/** The value before. Undefined: it was not set. */
	readonly before: string | undefined;
};

/**
Plans all changes at once. A key that has the value already stays as it is, with who set it and when.

@throws CanhazgpuError `usage` for a value that the key cannot have, `impossible` for one that this pool cannot have, `pool-garbage` when the
record cannot be read.
*/
export function planPolicy(
	snapshot: Snapshot,
	changes: readonly PolicyChange[],
	context: AuditContext,
): {readonly plan: Plan; readonly changed: readonly PolicyChanged[]} {
	const {policy, policyProblem, stored} = snapshot;
	if (policyProblem !== undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy);
		throw new CanhazgpuError('pool-garbage', words, {hint: `Nothing was changed. ${fix}`});
	}

	for (const {key, value} of changes) {
		if (value !== undefined) {
			checkValue(key, value, snapshot.gpus.length);
		} else if (!isPolicyKey(key) && !policy.has(key)) {
			throw unknownKey(key);
		}
	}

	const changed = changes
		.map((change): PolicyChanged => ({...change, before: policy.get(change.key)?.value}))
		.filter(({value, before}) => value !== before);
	const settings = new Map(policy);
	for (const {key, value} of changed) {
		if (value === undefined) {
			settings.delete(key);
		} else {
			settings.set(key, {value, by: context.account, since: Math.floor(snapshot.now)});
		}
	}

	return {changed, plan: changed.length === 0 ? emptyPlan : writePolicy(snapshot, settings, {context, changed})};
}

/** Removes the record, whatever is in it. */
export function planPolicyRemoval(
	snapshot: Snapshot,
	context: AuditContext,
): {readonly plan: Plan; readonly changed: readonly PolicyChanged[]} {
	const {policy, policyProblem, stored} = snapshot;
	if (policyProblem !== undefined && stored.policy === undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy);
		throw new CanhazgpuError('pool-garbage', words, {hint: fix});
	}

	const changed =
		policyProblem === undefined
			? Array.from(policy, ([key, {value}]): PolicyChanged => ({key, value: undefined, before: value}))
			: [{key: 'all', value: undefined, before: undefined}];
	return {changed, plan: changed.length === 0 ? emptyPlan : writePolicy(snapshot, new Map(), {context, changed})};
}

/** What is wrong with the record, and the way to fix it. A value that is no string cannot be compared, and so not replaced. */
export const unreadablePolicy = (
	problem: string,
	stored: string | undefined,
): {readonly words: string; readonly fix: string} => ({
	words: `The record of the policy cannot be read: ${problem}`,
	fix:
		stored === undefined
			? 'Move it out of the way: redis-cli RENAME canhazgpu:policy canhazgpu:policy.damaged'
			: 'Remove it, and set the keys again: canhazgpu admin --unset all',
});

const writePolicy = (
	snapshot: Snapshot,
	policy: ReadonlyMap<string, PolicySetting>,
	{context, changed}: {readonly context: AuditContext; readonly changed: readonly PolicyChanged[]},
): Plan => ({
	...emptyPlan,
	expect: [{kind: 'pool', gpuCount: snapshot.gpus.length}, policyExpectation(snapshot)],
	writes: [{kind: 'policy', policy}],
	audit: changed.map(({key, value, before}): AuditRecord => ({
		time: snapshot.now,
		kind: 'policy',
		account: context.account,
		host: context.host,
		gpus: [],
		key,
		value,
		before: before === undefined ? undefined : {value: before},
	})),
	event: {kind: 'policy', gpus: [], user: context.account},
});
