import {describe, expect, test} from 'vitest';
import type {Subject} from '../contract.js';
import {join, leaseWrite, plan, poolWrite, write} from '../samples.js';

export function garbageContract({store, harness}: Subject): void {
	describe('an invalid record in the store', () => {
		const records: ReadonlyArray<readonly [raw: string, problem: string]> = [
			['not json', 'it is not JSON'],
			['[1]', 'it is not a JSON object'],
			['{"user":5}', 'user is 5, which is not a string'],
			['{"user":"eve","start_time":1}', 'type is missing'],
			['{"user":"eve","start_time":"noon","type":"run"}', 'start_time is "noon", which is not a time'],
		];
		test.each(records)('of a GPU takes only that GPU out of service: %s', async (raw, problem) => {
			await write(store(), poolWrite(2), leaseWrite(1));
			await harness().setGpu(0, raw);
			const {gpus} = await store().read();
			expect(gpus[0]).toEqual({kind: 'garbage', index: 0, raw, problem});
			expect(gpus[1]?.kind).toBe('leased');
			const repair = plan({
				expect: [{kind: 'gpu', index: 0, raw}],
				writes: [{kind: 'free', index: 0, lastReleased: undefined}],
			});
			expect(await store().commit(repair)).toBe('done');
			expect((await store().read()).gpus[0]?.kind).toBe('free');
		});

		test('keeps its position and its raw text if it is a queue entry', async () => {
			await write(store(), join('a'), join('b'));
			await harness().setEntry('a', '{"user":""}');
			const {queue} = await store().read();
			expect(queue[0]).toEqual({kind: 'garbage', id: 'a', raw: '{"user":""}', problem: 'user is missing'});
			expect(queue[1]?.kind).toBe('entry');
			const drop = plan({expect: [{kind: 'entry', id: 'a', raw: '{"user":""}'}], writes: [{kind: 'leave', id: 'a'}]});
			expect(await store().commit(drop)).toBe('done');
		});

		test.each(['', '0', '-1', '1.5', 'eight', '1e3', '1025', '99999999999999999999', ' 8', '08'])(
			'of a pool with the size %j leads to an error with a hint',
			async (gpuCount) => {
				await harness().setPool(gpuCount, 'nvidia');
				await expect(store().read()).rejects.toMatchObject({
					name: 'CanhazgpuError',
					code: 'pool-garbage',
					hint: 'Correct that value. Or remove it and run canhazgpu admin, but without --force, which would end all reservations',
				});
				expect(await write(store(), poolWrite(2))).toBe('done');
				expect((await store().read()).pool?.gpuCount).toBe(2);
			},
		);

		test('of a pool with an unknown provider leads to an error', async () => {
			await harness().setPool('2');
			expect((await store().read()).pool).toEqual({gpuCount: 2, provider: 'nvidia'});
			await harness().setPool('2', 'nobody');
			await expect(store().read()).rejects.toMatchObject({code: 'pool-garbage'});
			await harness().setPool('2', 'amd', 'who knows');
			await expect(store().read()).rejects.toMatchObject({code: 'pool-garbage'});
		});
	});
}
