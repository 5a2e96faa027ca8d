/** The pool's policy, set by an administrator. A key that cannot be read has its value `inDoubt`, and every interface shows the problem. */
import {CanhazgpuError, quoted} from '../../../errors.js';
import {emptyPlan, type Expectation, type Plan} from '../../model/plan.js';
import type {AuditRecord, PolicySetting, Snapshot} from '../../model/types.js';
import type {AuditContext} from '../leases/audit-entries.js';
import {isPolicyKey, policyKeyNames, policyKeys, type PolicyKey, type PolicyKeyName} from './keys.js';

export type StoredPolicy = Pick<Snapshot, 'policy' | 'policyProblem'>;

export type Policy = {
	readonly [Name in PolicyKeyName]: (typeof policyKeys)[Name] extends PolicyKey<infer Value> ? Value : never;
};

/** Returns the effective value of a key. Undefined for an invalid value, such as a value of a later version. */
function valueOf(name: PolicyKeyName, {policy, policyProblem}: StoredPolicy): unknown {
	const {read, fallback, inDoubt} = policyKeys[name] as PolicyKey<unknown>;
	const stored = policy.get(name)?.value;
	return policyProblem === undefined ? (read(stored ?? fallback) ?? inDoubt.value) : inDoubt.value;
}

export const policyValue = <Name extends PolicyKeyName>(snapshot: StoredPolicy, name: Name): Policy[Name] =>
	valueOf(name, snapshot) as Policy[Name];

/** Why a part of the policy is unknown. */
export type PolicyDoubt = {
	readonly problem: string;
	/** The resulting behavior, one clause for each effect. */
	readonly effects: readonly string[];
	readonly fix: string;
};

/** Returns why some of these keys are unknown. Undefined if all can be read. */
export function policyDoubtOf(
	snapshot: StoredPolicy & {readonly stored?: Snapshot['stored']},
	names: readonly PolicyKeyName[] = policyKeyNames,
): PolicyDoubt | undefined {
	const {policyProblem} = snapshot;
	const doubted =
		policyProblem === undefined
			? policyRows(snapshot).filter(({key, problem}) => problem !== undefined && names.includes(key as PolicyKeyName))
			: names.map((key) => ({key, problem: undefined}));
	if (doubted.length === 0) {
		return undefined;
	}

	const keys = doubted.map(({key}) => key as PolicyKeyName);
	return {
		problem: policyProblem ?? doubted.map(({key, problem}) => `${key}: ${problem}`).join('; '),
		effects: [...new Set(keys.map((key) => policyKeys[key].inDoubt.words))],
		fix:
			policyProblem === undefined
				? `An administrator can set it again: ${keys.map((key) => `canhazgpu admin --set ${key}=VALUE`).join(', ')}`
				: unreadablePolicy(policyProblem, snapshot.stored?.policy).fix,
	};
}

/** Returns the precondition of a plan that depends on the policy: the policy must not have changed since the read. */
export const policyExpectation = ({stored}: Pick<Snapshot, 'stored'>): Expectation => ({
	kind: 'policy',
	raw: stored.policy,
});

type PolicyRow = {
	readonly key: string;
	/** The effective value, as it would be typed. For a key that this version does not know, the stored value. */
	readonly value: string;
	/** The default. Absent for a key that this version does not know and ignores. */
	readonly fallback?: string;
	readonly summary?: string;
	readonly setting?: PolicySetting;
	readonly problem?: string;
	/** The effect of the value, worded as a clause. */
	readonly effect?: string;
};

/** Formats a value for people. An empty list of GPUs becomes `none`, although `none` cannot be typed. */
const textOf = (value: unknown): string => (Array.isArray(value) && value.length === 0 ? 'none' : String(value));

/** Returns a row for each known key, followed by the keys that are set but unknown to this version. */
export function policyRows({policy, policyProblem}: StoredPolicy): readonly PolicyRow[] {
	const known = policyKeyNames.map((key): PolicyRow => {
		const {fallback, inDoubt, summary, expects, read} = policyKeys[key] as PolicyKey<unknown>;
		const setting = policy.get(key);
		const isWrong = setting !== undefined && read(setting.value) === undefined;
		const problem = policyProblem ?? (isWrong ? `${quoted(setting.value)} is not ${expects}` : undefined);
		return {
			key,
			value: problem === undefined ? (setting?.value ?? fallback) : textOf(inDoubt.value),
			fallback,
			summary,
			setting,
			problem,
			effect: problem === undefined ? undefined : inDoubt.words,
		};
	});
	const unknown = [...policy]
		.filter(([key]) => !isPolicyKey(key))
		.map(([key, setting]): PolicyRow => ({key, value: setting.value, setting}));
	return [...known, ...unknown];
}

/** A key to set, or to unset if `value` is undefined. Unknown keys can only be unset. */
export type PolicyChange =
	{readonly key: PolicyKeyName; readonly value: string} | {readonly key: string; readonly value: undefined};

export const unknownKey = (key: string, guess?: string): CanhazgpuError =>
	new CanhazgpuError('usage', `The policy has no key ${quoted(key)}`, {
		hint:
			guess === undefined
				? `The keys are: ${policyKeyNames.join(', ')}. See them: canhazgpu admin --policy`
				: `Did you mean ${guess}? See all keys: canhazgpu admin --policy`,
	});

/** Throws `usage` for an unknown key or an invalid value, and `impossible` for a value that this pool cannot have. */
function checkValue(key: PolicyKeyName, value: string, gpuCount: number): void {
	const {expects, read, check} = policyKeys[key] as PolicyKey<unknown>;
	const meant = read(value);
	if (meant === undefined) {
		throw new CanhazgpuError('usage', `${key} must be ${expects}, not ${quoted(value)}`, {
			hint: 'Nothing was changed. See the current policy: canhazgpu admin --policy',
		});
	}

	check?.(meant, gpuCount);
}

export type PolicyChanged = {
	readonly key: string;
	readonly value: string | undefined;
	readonly before: string | undefined;
};

function checkChanges(snapshot: Snapshot, changes: readonly PolicyChange[]): void {
	for (const {key, value} of changes) {
		if (value !== undefined) {
			checkValue(key, value, snapshot.gpus.length);
		} else if (!isPolicyKey(key) && !snapshot.policy.has(key)) {
			throw unknownKey(key);
		}
	}
}

type PlannedPolicy = {readonly plan: Plan; readonly changed: readonly PolicyChanged[]};

/** Returns the changes that set a new value. A key that already has the requested value keeps its author and time. */
const changedBy = (policy: Snapshot['policy'], changes: readonly PolicyChange[]): readonly PolicyChanged[] =>
	changes
		.map((change): PolicyChanged => ({...change, before: policy.get(change.key)?.value}))
		.filter(({value, before}) => value !== before);

/** Plans all changes at once. Throws `usage` or `impossible` for an invalid value, `pool-garbage` if the policy cannot be read. */
export function planPolicy(snapshot: Snapshot, changes: readonly PolicyChange[], context: AuditContext): PlannedPolicy {
	const {policy, policyProblem, stored} = snapshot;
	if (policyProblem !== undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy);
		throw new CanhazgpuError('pool-garbage', words, {hint: `Nothing was changed. ${fix}`});
	}

	checkChanges(snapshot, changes);
	return writePolicy(snapshot, context, changedBy(policy, changes));
}

/**
Plans to replace the whole policy record, even if it is unreadable.
@throws CanhazgpuError as {@link planPolicy} does, and `pool-garbage` if the record cannot be replaced.
*/
export function planPolicyReplacement(
	snapshot: Snapshot,
	settings: readonly PolicyChange[],
	context: AuditContext,
): PlannedPolicy {
	const {policy, policyProblem, stored} = snapshot;
	checkChanges(snapshot, settings);
	if (policyProblem !== undefined && stored.policy === undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy);
		throw new CanhazgpuError('pool-garbage', words, {hint: fix});
	}

	const unset =
		policyProblem === undefined
			? Array.from(policy, ([key, {value}]): PolicyChanged => ({key, value: undefined, before: value})).filter(
					({key}) => settings.every((setting) => setting.key !== key),
				)
			: [{key: 'all', value: undefined, before: undefined}];
	return writePolicy(snapshot, context, [...unset, ...changedBy(policy, settings)]);
}

/** Describes an unreadable policy record and how to fix it. A commit can neither compare nor replace a value that is not a string. */
export const unreadablePolicy = (
	problem: string,
	stored: string | undefined,
	shell = 'redis-cli',
): {readonly words: string; readonly fix: string} => ({
	words: `The record of the policy cannot be read: ${problem}`,
	fix:
		stored === undefined
			? `Move it out of the way: ${shell} RENAME canhazgpu:policy canhazgpu:policy.damaged, and set the keys again at once: canhazgpu admin --set KEY=VALUE`
			: 'An administrator can replace it in one step: canhazgpu admin --unset all --set KEY=VALUE. See what was set: canhazgpu events',
});

function writePolicy(snapshot: Snapshot, context: AuditContext, changed: readonly PolicyChanged[]): PlannedPolicy {
	if (changed.length === 0) {
		return {plan: emptyPlan, changed};
	}

	const policy = new Map(snapshot.policy);
	for (const {key, value} of changed) {
		if (value === undefined) {
			policy.delete(key);
		} else {
			policy.set(key, {value, by: context.account, since: Math.floor(snapshot.now)});
		}
	}

	const plan: Plan = {
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
	};
	return {plan, changed};
}
