import {expect, test} from 'vitest';
import type {PolicySetting} from '../../source/core/model/types.js';
import {policyProblemWords, policySetWords} from '../../source/format/policy.js';

const snapshot = (settings: Readonly<Record<string, string>>) => ({
	policy: new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}])),
});

test('what is set and holds is told in a line; what does not count is told apart', () => {
	expect(policySetWords(snapshot({}))).toBeUndefined();
	expect(policySetWords(snapshot({clean: 'on', strategy: 'lru', 'of a later version': 'x'}))).toBe(
		'strategy=lru, clean=on',
	);
	const wrong = snapshot({strategy: '\u{1B}[31mfast', clean: 'on'});
	expect(policySetWords(wrong)).toBe('clean=on');
	expect(policyProblemWords(wrong)).toMatch(
		/^The policy cannot be read, and until it is set again GPUs are handed out in the default order: strategy: /v,
	);
	expect(policyProblemWords(wrong)).not.toMatch(/\p{Control}/v);
	expect(policyProblemWords(snapshot({clean: 'off'}))).toBeUndefined();
});
