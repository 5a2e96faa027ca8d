import {expect, test} from 'vitest';
import type {PolicySetting} from '../../source/core/model/types.js';
import {policyProblemText, policySetText} from '../../source/format/policy.js';

const snapshot = (settings: Readonly<Record<string, string>>) => ({
	policy: new Map(Object.entries(settings).map(([key, value]): [string, PolicySetting] => [key, {value, since: 5}])),
});

test('policySetText lists valid settings, and policyProblemText describes invalid settings', () => {
	expect(policySetText(snapshot({}))).toBeUndefined();
	expect(policySetText(snapshot({clean: 'on', strategy: 'lru', 'of a later version': 'x'}))).toBe(
		'strategy=lru, clean=on',
	);
	const wrong = snapshot({strategy: '\u{1B}[31mfast', clean: 'on'});
	expect(policySetText(wrong)).toBe('clean=on');
	expect(policyProblemText(wrong)).toMatch(
		/^The policy cannot be read\. Until it is set again, GPUs are handed out in the default order\. The problem: strategy: /v,
	);
	expect(policyProblemText(wrong)).not.toMatch(/\p{Control}/v);
	expect(policyProblemText(snapshot({clean: 'off'}))).toBeUndefined();
});
