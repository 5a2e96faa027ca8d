/** What every face says of the policy, and of one that cannot be read. */
import {policyProblemOf, policyRows} from '../core/rules/policy/policy.js';
import type {Snapshot} from '../core/model/types.js';
import {sanitize} from './text/text.js';

/** One line for people, harmless to print. Undefined: all of the policy counts. */
export function policyProblemWords(snapshot: Pick<Snapshot, 'policy' | 'policyProblem'>): string | undefined {
	const problem = policyProblemOf(snapshot);
	return problem === undefined
		? undefined
		: `The policy cannot be read, and the defaults hold instead: ${sanitize(problem)}. See canhazgpu doctor`;
}

/** What is set and holds: `strategy=lru, clean=on`. Harmless to print. Undefined: nothing is set. */
export function policySetWords(snapshot: Pick<Snapshot, 'policy'>): string | undefined {
	const set = policyRows(snapshot).filter(
		({setting, fallback, problem}) => setting !== undefined && fallback !== undefined && problem === undefined,
	);
	return set.length === 0 ? undefined : set.map(({key, value}) => sanitize(`${key}=${value}`)).join(', ');
}
