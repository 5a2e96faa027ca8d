import {expect, test} from 'vitest';
import {eligibilityOf} from '../../../../source/core/rules/allocation/need.js';
import {withinSharePolicy} from '../../../../source/core/rules/allocation/share-policy.js';
import type {Need} from '../../../../source/core/model/types.js';
import {mixedBox} from '../../../_helpers/mixed-box.js';
import {observationOf} from '../../../_helpers/world.js';

const shared = '0,1';
const hint = 'GPUs that can be shared: 0, 1. An administrator can change that: canhazgpu admin --set share.gpus=all';

function withinPolicy(need: Need, count = 1) {
	const wanted = {count, need};
	const policy = new Map([
		['share', {value: 'on', since: 1}],
		['share.gpus', {value: shared, since: 1}],
	]);
	return withinSharePolicy(wanted, eligibilityOf(wanted, observationOf(mixedBox), mixedBox.length, undefined), {
		policy,
		gpus: mixedBox.map(({index}) => ({kind: 'free', index, raw: undefined})),
	});
}

test('withinSharePolicy keeps only the GPUs that can be shared', () => {
	expect(withinPolicy({shareMiB: 8192}).groups).toEqual([[0, 1]]);
});

test.each([
	[
		{shareMiB: 8192, models: [mixedBox.at(-1)!.name!]},
		1,
		/^This pool shares no GPU of model .* with room for a share of 8G$/v,
	],
	[{shareMiB: 8192}, 3, /^Cannot share 3 GPUs: only 2 can be shared in this pool$/v],
])('withinSharePolicy names the policy if only the policy prevents %j of %i GPUs', (need, count, message) => {
	expect(() => withinPolicy(need, count)).toThrow(
		expect.objectContaining({message: expect.stringMatching(message) as unknown, hint, exitCode: 2}),
	);
});

test('withinSharePolicy leaves needs that no GPU of the pool meets to the caller', () => {
	expect(withinPolicy({shareMiB: 10_000_000}).isPossible).toBe(false);
});
