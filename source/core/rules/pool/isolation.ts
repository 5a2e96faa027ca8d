import {fences, isolationLevels, type Fence, type IsolationLevel} from '../../model/isolation.js';
import {policyDoubtOf, policyValue, type PolicyDoubt, type StoredPolicy} from '../policy/policy.js';

export const isolationWishes = ['auto', 'require', 'off', ...fences] as const;

export type IsolationWish = (typeof isolationWishes)[number];

export const isIsolationWish = (typed: string): typed is IsolationWish =>
	(isolationWishes as readonly string[]).includes(typed);

export const wishedFence = (wish: IsolationWish | undefined): Fence | undefined =>
	fences.find((fence) => fence === wish);

const stricter = (one: IsolationLevel, other: IsolationLevel): IsolationLevel =>
	isolationLevels.indexOf(one) < isolationLevels.indexOf(other) ? other : one;

export type PoolIsolation = {
	readonly level: IsolationLevel;
	/** Why the policy is unknown, so that `level` is the strictest level. Absent if the policy is known. */
	readonly doubt?: PolicyDoubt;
};

export const poolIsolationOf = (snapshot: StoredPolicy): PoolIsolation => ({
	level: policyValue(snapshot, 'isolate'),
	doubt: policyDoubtOf(snapshot, ['isolate']),
});

type IsolationRules = {
	readonly wish?: IsolationWish;
	readonly setting?: IsolationLevel;
	readonly policy?: IsolationLevel;
};

/**
Returns the strictest level of command line, config and pool. `off` on the command line overrides the config and the pool's `prefer`. If the pool
has `require`, `off` is a `contradiction`.
*/
export function isolationLevelOf({
	wish,
	setting = 'off',
	policy = 'off',
}: IsolationRules): IsolationLevel | 'contradiction' {
	if (wish === 'off') {
		return policy === 'require' ? 'contradiction' : 'off';
	}

	// The name of a mechanism, as in `--isolate=bwrap`, is not a level. It counts as `prefer`, and config and pool may be stricter.
	const wished = wish === undefined ? 'off' : wish === 'require' ? 'require' : 'prefer';
	return stricter(stricter(wished, setting), policy);
}
