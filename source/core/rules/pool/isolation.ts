/** Whether a job is to be isolated from the GPUs that it was not granted, and how strictly. */
import {fences, isolationLevels, type Fence, type IsolationLevel} from '../../model/isolation.js';
import {policyDoubtOf, policyValue, type PolicyDoubt, type StoredPolicy} from '../policy/policy.js';

/** Values of `--isolate=`. */
export const isolationWishes = ['auto', 'require', 'off', ...fences] as const;

export type IsolationWish = (typeof isolationWishes)[number];

export const isIsolationWish = (typed: string): typed is IsolationWish =>
	(isolationWishes as readonly string[]).includes(typed);

/** The one that was asked for by name. */
export const wishedFence = (wish: IsolationWish | undefined): Fence | undefined =>
	fences.find((fence) => fence === wish);

const stricter = (one: IsolationLevel, other: IsolationLevel): IsolationLevel =>
	isolationLevels.indexOf(one) < isolationLevels.indexOf(other) ? other : one;

/** The pool's setting for jobs of `run`. */
export type PoolIsolation = {
	readonly level: IsolationLevel;
	/** Why it is unknown what an administrator has set, so that `level` is the strictest. */
	readonly doubt?: PolicyDoubt;
};

export const poolIsolationOf = (snapshot: StoredPolicy): PoolIsolation => ({
	level: policyValue(snapshot, 'isolate'),
	doubt: policyDoubtOf(snapshot, ['isolate']),
});

type IsolationRules = {
	/** The user's choice for this job. */
	readonly wish?: IsolationWish;
	/** The user's config. */
	readonly setting?: IsolationLevel;
	/** The pool's policy. */
	readonly policy?: IsolationLevel;
};

/**
The stricter of what the user and the pool want. Only `off` that is typed lifts what the config says, and what the pool merely prefers.

@returns `contradiction` where that is typed against a pool that requires isolation.
*/
export function isolationLevelOf({
	wish,
	setting = 'off',
	policy = 'off',
}: IsolationRules): IsolationLevel | 'contradiction' {
	if (wish === 'off') {
		return policy === 'require' ? 'contradiction' : 'off';
	}

	// A fence that is named says which one, and not how strictly: that the config and the pool say.
	const wished = wish === undefined ? 'off' : wish === 'require' ? 'require' : 'prefer';
	return stricter(stricter(wished, setting), policy);
}
