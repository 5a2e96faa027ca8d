import {describe, expect, test} from 'vitest';
import type {PolicySetting} from '../../../source/core/model/types.js';
import type {Subject} from '../contract.js';
import {leaseWrite, plan, poolWrite, start, write} from '../samples.js';

const policy = new Map<string, PolicySetting>([
	['strategy', {value: 'lru', by: 'root', since: start + 0.25}],
	['of a later version\u{1B}[31m', {value: '__proto__', since: start}],
]);

export function policyContract({store, harness}: Subject): void {
	describe('the policy in a store', () => {
		test('is empty in a new store', async () => {
			await write(store(), poolWrite(2));
			const snapshot = await store().read();
			expect(snapshot).toMatchObject({policy: new Map(), stored: {policy: undefined}});
			expect(snapshot).not.toHaveProperty('policyProblem');
		});

		test('is returned as written on every connection', async () => {
			await write(store(), poolWrite(2), {kind: 'policy', policy});
			const other = await harness().open();
			expect((await other.read()).policy).toEqual(policy);
			await write(store(), {kind: 'policy', policy: new Map()});
			expect(await other.read()).toMatchObject({policy: new Map(), stored: {policy: undefined}});
		});

		test('must match byte for byte what a commit expects', async () => {
			await write(store(), poolWrite(2), {kind: 'policy', policy});
			const {stored} = await store().read();
			for (const raw of [undefined, '{}', `${stored.policy} `]) {
				const grant = plan({expect: [{kind: 'policy', raw}], writes: [leaseWrite(0)], grants: true});
				expect(await store().commit(grant)).toBe('conflict');
			}

			const change = plan({
				expect: [{kind: 'policy', raw: stored.policy}],
				writes: [{kind: 'policy', policy: new Map()}],
			});
			expect(await store().commit(change)).toBe('done');
			expect(await store().commit(change)).toBe('conflict');
			expect((await store().read()).gpus[0]).toMatchObject({kind: 'free'});
		});

		test('counts as empty if it cannot be read, and keeps every GPU in service', async () => {
			const cases: ReadonlyArray<readonly [raw: string, problem: string]> = [
				['not json', 'it is not JSON'],
				['[]', 'it is not a JSON object'],
				['{"policy":{"strategy":"lru"}}', 'policy is {"strategy":"lru"}, which is not a list of JSON objects'],
				['{"policy":[{"key":"strategy","since":1}]}', 'value is missing'],
				['{"policy":[{"value":"lru","since":1}]}', 'key is missing'],
				['{"policy":[{"key":"strategy","value":7,"since":1}]}', 'value is 7, which is not a string'],
				['{"policy":[{"key":"strategy","value":"lru"}]}', 'since is missing'],
			];
			await write(store(), poolWrite(2));
			for (const [raw, problem] of cases) {
				await harness().setValue('policy', raw);
				expect(await store().read()).toMatchObject({
					policy: new Map(),
					policyProblem: problem,
					drains: new Map(),
					stored: {policy: raw},
				});
			}

			const raw = cases.at(-1)![0];
			expect(await store().commit(plan({expect: [{kind: 'policy', raw}], writes: [{kind: 'policy', policy}]}))).toBe(
				'done',
			);
			expect((await store().read()).policy).toEqual(policy);
		});
	});
}
