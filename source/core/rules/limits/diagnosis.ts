/** Finds limits for users and groups that no longer exist. Such a limit would apply to a later account of the same name. */
import {namedLimitOf, type NamedLimit} from '../policy/limit-keys.js';
import type {StoredPolicy} from '../policy/policy.js';

type LimitedName = Pick<NamedLimit, 'kind' | 'name'> & {
	readonly keys: readonly string[];
};

export const limitedNamesIn = ({policy}: Pick<StoredPolicy, 'policy'>): readonly LimitedName[] =>
	Map.groupBy(
		policy.keys().flatMap((key) => {
			const named = namedLimitOf(key);
			return named === undefined ? [] : [{...named, key}];
		}),
		({kind, name}) => `${kind} ${name}`,
	)
		.values()
		.map((group) => ({kind: group[0]!.kind, name: group[0]!.name, keys: group.map(({key}) => key)}))
		.toArray();

/** A name that a shell reads as one plain word. */
const isPlain = (name: string): boolean => /^[\w\-.]+$/v.test(name);

export const judgeUnknownNames = (unknown: readonly LimitedName[]) =>
	unknown.map(
		({kind, name, keys}) =>
			({
				check: 'pool',
				level: 'warning',
				words: `This machine does not know the ${kind === 'user' ? 'account' : 'group'} ${name}, which has limits in the policy: ${keys.join(', ')}`,
				fix: isPlain(name)
					? `If it does not exist any more: canhazgpu admin ${keys.map((key) => `--unset ${key}`).join(' ')}`
					: 'See all limits: canhazgpu admin --policy',
			}) as const,
	);
