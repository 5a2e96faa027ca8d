import fc from 'fast-check';
import {expect, test} from 'vitest';
import {isolationLevels, type IsolationLevel} from '../../../../source/core/model/isolation.js';
import {isolationLevelOf, isolationWishes} from '../../../../source/core/rules/pool/isolation.js';

const level = fc.option(fc.constantFrom(...isolationLevels), {nil: undefined});
const wish = fc.option(fc.constantFrom(...isolationWishes), {nil: undefined});
const rank = (name: IsolationLevel = 'off'): number => isolationLevels.indexOf(name);

test('isolationLevelOf is at least as strict as the user, the config and the policy each require', () => {
	fc.assert(
		fc.property(wish, level, level, (typed, setting, policy) => {
			const answer = isolationLevelOf({wish: typed, setting, policy});
			if (typed === 'off') {
				expect(answer).toBe(policy === 'require' ? 'contradiction' : 'off');
				return;
			}

			// A named method requires that method, but not that isolation is possible.
			const own: IsolationLevel | undefined = typed === undefined || typed === 'require' ? typed : 'prefer';
			const wanted = [own, setting, policy].map((each) => rank(each));
			expect(answer === 'contradiction' ? answer : rank(answer)).toBe(Math.max(...wanted));
		}),
	);
});
