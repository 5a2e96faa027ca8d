import {CanhazgpuError, quoted} from '../../../errors.js';
import {emptyPlan, poolExpectations, type Plan} from '../../model/plan.js';
import type {AuditRecord, Snapshot} from '../../model/types.js';
import type {AuditContext} from '../leases/audit-entries.js';
import {definitionOf, policyKeyNames} from './keys.js';
import {policyExpectations, unreadablePolicy} from './policy.js';

/** A key to set, or to unset if `value` is undefined. Unknown keys can only be unset. */
export type PolicyChange = {readonly key: string; readonly value: string | undefined};

export const unknownKey = (key: string, guess?: string): CanhazgpuError =>
	new CanhazgpuError('usage', `The policy has no key ${quoted(key)}`, {
		hint:
			guess === undefined
				? `The keys are: ${policyKeyNames.join(', ')}. Limits can also be for one user or group: limits.user.NAME.max-gpus. See them: canhazgpu admin --policy`
				: `Did you mean ${guess}? See all keys: canhazgpu admin --policy`,
	});

const nothingChanged = 'Nothing was changed. See the current policy: canhazgpu admin --policy';

function checkValue(key: string, value: string, gpuCount: number): void {
	const definition = definitionOf(key);
	if (definition === undefined) {
		throw unknownKey(key);
	}

	const {expects, read, check} = definition;
	const meant = read(value);
	if (meant === undefined) {
		throw new CanhazgpuError('usage', `${key} must be ${expects}, not ${quoted(value)}`, {hint: nothingChanged});
	}

	check?.(meant, gpuCount);
}

/** Throws `usage` if the default duration for everybody, a user or a group is longer than the maximum for the same people. */
function checkContradictions(values: ReadonlyMap<string, string>): void {
	for (const [key, value] of values) {
		const maximum = key.replace(/\.default-duration$/v, '.max-duration');
		const most = maximum === key ? undefined : definitionOf(maximum)?.read(values.get(maximum) ?? '');
		const usual = most === undefined ? undefined : definitionOf(key)?.read(value);
		if (typeof usual === 'number' && typeof most === 'number' && usual > most) {
			throw new CanhazgpuError('usage', `${key}=${value} is longer than ${maximum}=${values.get(maximum)!}`, {
				hint: nothingChanged,
			});
		}
	}
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
		} else if (definitionOf(key) === undefined && !snapshot.policy.has(key)) {
			throw unknownKey(key);
		}
	}
}

function valuesAfter(policy: Snapshot['policy'], changes: readonly PolicyChange[]): ReadonlyMap<string, string> {
	const values = new Map(Array.from(policy, ([key, {value}]) => [key, value] as const));
	for (const {key, value} of changes) {
		if (value === undefined) {
			values.delete(key);
		} else {
			values.set(key, value);
		}
	}

	return values;
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
	checkContradictions(valuesAfter(policy, changes));
	return writePolicy(snapshot, context, changedBy(policy, changes));
}

/** Plans to replace the whole policy, even if unreadable. Throws like {@link planPolicy}, and `pool-garbage` if the record cannot be replaced. */
export function planPolicyReplacement(
	snapshot: Snapshot,
	settings: readonly PolicyChange[],
	context: AuditContext,
): PlannedPolicy {
	const {policy, policyProblem, stored} = snapshot;
	checkChanges(snapshot, settings);
	checkContradictions(valuesAfter(new Map(), settings));
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
		expect: [...poolExpectations(snapshot), ...policyExpectations(snapshot)],
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
