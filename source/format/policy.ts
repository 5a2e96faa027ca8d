import {policyDoubtOf, policyRows, type StoredPolicy} from '../core/rules/policy/policy.js';
import {sanitize} from './text/text.js';

const wordList = (words: readonly string[]): string =>
	new Intl.ListFormat('en', {style: 'long', type: 'conjunction'}).format(words);

export function policyProblemText(snapshot: StoredPolicy): string | undefined {
	const doubt = policyDoubtOf(snapshot);
	return (
		doubt &&
		`The policy cannot be read. Until it is set again, ${wordList(doubt.effects)}. The problem: ${sanitize(doubt.problem)}. See canhazgpu doctor`
	);
}

export function policySetText(snapshot: StoredPolicy): string | undefined {
	const set = policyRows(snapshot).filter(
		({setting, fallback, problem}) => setting !== undefined && fallback !== undefined && problem === undefined,
	);
	return set.length === 0 ? undefined : set.map(({key, value}) => sanitize(`${key}=${value}`)).join(', ');
}
