/** What every face says of a policy that cannot be read. */
import {policyProblemOf} from '../core/rules/policy/policy.js';
import type {Snapshot} from '../core/model/types.js';
import {sanitize} from './text/text.js';

/** One line for people, harmless to print. Undefined: all of the policy counts. */
export function policyProblemWords(snapshot: Pick<Snapshot, 'policy' | 'policyProblem'>): string | undefined {
	const problem = policyProblemOf(snapshot);
	return problem === undefined
		? undefined
		: `The policy cannot be read, and the defaults hold instead: ${sanitize(problem)}. See canhazgpu doctor`;
}
