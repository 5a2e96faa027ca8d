/** The pool's policy, set by an administrator. A key that cannot be read has its value `inDoubt`, and every interface shows the problem. */
import {quoted} from '../../../errors.js';
import type {Expectation} from '../../model/plan.js';
import type {PolicySetting, Snapshot} from '../../model/types.js';
import type {PolicyKey} from './key-kinds.js';
import {definitionOf, isPolicyKey, policyKeyNames, policyKeys, type PolicyKeyName} from './keys.js';
import {namedLimitOf} from './limit-keys.js';

export type StoredPolicy = Pick<Snapshot, 'policy' | 'policyProblem'>;

export type Policy = {
	readonly [Name in PolicyKeyName]: (typeof policyKeys)[Name] extends PolicyKey<infer Value> ? Value : never;
};

function valueOf(name: PolicyKeyName, {policy, policyProblem}: StoredPolicy): unknown {
	const {read, fallback, inDoubt} = policyKeys[name] as PolicyKey<unknown>;
	const stored = policy.get(name)?.value;
	return policyProblem === undefined ? (read(stored ?? fallback) ?? inDoubt.value) : inDoubt.value;
}

export const policyValue = <Name extends PolicyKeyName>(snapshot: StoredPolicy, name: Name): Policy[Name] =>
	valueOf(name, snapshot) as Policy[Name];

export type PolicyDoubt = {
	readonly problem: string;
	readonly effects: readonly string[];
	readonly fix: string;
};

export function policyDoubtOf(
	snapshot: StoredPolicy & {readonly stored?: Snapshot['stored']},
	names?: readonly PolicyKeyName[],
): PolicyDoubt | undefined {
	const {policyProblem} = snapshot;
	const doubted =
		policyProblem === undefined
			? policyRows(snapshot).filter(
					({key, problem}) => problem !== undefined && (names?.includes(key as PolicyKeyName) ?? true),
				)
			: (names ?? policyKeyNames).map((key) => ({key, problem: undefined}));
	if (doubted.length === 0) {
		return undefined;
	}

	const keys = doubted.map(({key}) => key);
	return {
		problem: policyProblem ?? doubted.map(({key, problem}) => `${key}: ${problem}`).join('; '),
		effects: [...new Set(keys.flatMap((key) => definitionOf(key)?.inDoubt.words ?? []))],
		fix:
			policyProblem === undefined
				? `An administrator can set it again: ${keys.map((key) => `canhazgpu admin --set ${key}=VALUE`).join(', ')}`
				: unreadablePolicy(policyProblem, snapshot.stored?.policy).fix,
	};
}

/**
Returns the preconditions of a plan that depends on the policy: the policy must not have changed since the read. None if the store has a value that
cannot be read as text, because such a value cannot be compared.
*/
export const policyExpectations = ({
	stored,
	policyProblem,
}: Pick<Snapshot, 'stored' | 'policyProblem'>): readonly Expectation[] =>
	policyProblem !== undefined && stored.policy === undefined ? [] : [{kind: 'policy', raw: stored.policy}];

type PolicyRow = {
	readonly key: string;
	/** The effective value, as users type it. For a key that this version does not know, the stored value. */
	readonly value: string;
	/** The default. Absent for a key that this version does not know and ignores. */
	readonly fallback?: string;
	readonly summary?: string;
	readonly setting?: PolicySetting;
	readonly problem?: string;
	readonly effect?: string;
};

/** Formats a value for people. An empty list of GPUs becomes `none`, although `none` cannot be typed. */
const textOf = (value: unknown): string => (Array.isArray(value) && value.length === 0 ? 'none' : String(value));

/** Returns a row for each known key, then for the limits of users and groups, then for the keys that are set but unknown to this version. */
export function policyRows({policy, policyProblem}: StoredPolicy): readonly PolicyRow[] {
	const rowOf = (key: string): PolicyRow => {
		const setting = policy.get(key);
		const definition = definitionOf(key);
		if (definition === undefined) {
			return {key, value: setting?.value ?? '', setting};
		}

		const {fallback, inDoubt, summary, expects, read} = definition;
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
	};

	const others = policy
		.keys()
		.filter((key) => !isPolicyKey(key))
		.toArray();
	const [named = [], unknown = []] = [true, false].map((isNamed) =>
		others.filter((key) => (namedLimitOf(key) !== undefined) === isNamed),
	);
	return [...policyKeyNames, ...named.toSorted(), ...unknown].map((key) => rowOf(key));
}

/** Describes an unreadable policy record and how to fix it. A record that is not a string must be moved by hand: no commit can replace it. */
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
