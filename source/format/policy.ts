/** What every face says of the policy, and of one that cannot be read. */
import {policyDoubtOf, policyRows, type StoredPolicy} from '../core/rules/policy/policy.js';
import {sanitize} from './text/text.js';

const wordList = (words: readonly string[]): string =>
	new Intl.ListFormat('en', {style: 'long', type: 'conjunction'}).format(words);

/** One line for people, harmless to print. Undefined: all of the policy counts. */
export function policyProblemText(snapshot: StoredPolicy): string | undefined {
	const doubt = policyDoubtOf(snapshot);
	return (
		doubt &&
		`The policy cannot be read, and until it is set again ${wordList(doubt.effects)}: ${sanitize(doubt.problem)}. See canhazgpu doctor`
	);
}

/** What is set and holds: `strategy=lru, clean=on`. Harmless to print. Undefined: nothing is set. */
export function policySetText(snapshot: StoredPolicy): string | undefined {
	const set = policyRows(snapshot).filter(
		({setting, fallback, problem}) => setting !== undefined && fallback !== undefined && problem === undefined,
	);
	return set.length === 0 ? undefined : set.map(({key, value}) => sanitize(`${key}=${value}`)).join(', ');
}
