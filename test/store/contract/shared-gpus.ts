import {describe, expect, test} from 'vitest';
import type {Write} from '../../../source/core/model/plan.js';
import type {Subject} from '../contract.js';
import {lease, plan, poolWrite, rawOn, start, usage, write, collect} from '../samples.js';

const share = (user: string, memoryMiB: number) => lease({user, actualUser: user, leaseId: `of-${user}`, memoryMiB});

const sharesWrite = (...users: readonly string[]): Write => ({
	kind: 'shares',
	index: 1,
	shares: users.map((user, position) => share(user, 8192 + position)),
	capacityMiB: 81_559,
});

export function sharedGpuContract({store, harness}: Subject): void {
	describe('the record of a shared GPU', () => {
		test('contains all shares of the GPU', async () => {
			await write(store(), poolWrite(2), sharesWrite('alice', 'bob'));
			const other = await (await harness().open()).read();
			expect(other.gpus[1]).toMatchObject({
				kind: 'shared',
				shares: [share('alice', 8192), share('bob', 8193)],
				capacityMiB: 81_559,
			});
			expect(other.gpus[0]?.kind).toBe('free');
		});

		test('rejects a change as a conflict if another share was added or removed since the read', async () => {
			await write(store(), poolWrite(2), sharesWrite('alice', 'bob'));
			const raw = rawOn(await store().read(), 1);
			await write(store(), sharesWrite('alice', 'bob', 'carol'));
			const late = plan({expect: [{kind: 'gpu', index: 1, raw}], writes: [sharesWrite('bob')]});
			expect(await store().commit(late)).toBe('conflict');
			expect((await store().read()).gpus[1]).toMatchObject({shares: [{user: 'alice'}, {user: 'bob'}, {user: 'carol'}]});
		});

		test('keeps unknown fields, and is read as a lease if it contains no shares', async () => {
			await write(store(), poolWrite(2));
			const record = {user: '(shared)', start_time: start, type: 'manual', later: 1};
			const held = {user: 'alice', type: 'manual', start_time: start, memory_mib: 5, lease_id: 'a', new: true};
			await harness().setGpu(0, JSON.stringify(record));
			await harness().setGpu(1, JSON.stringify({...record, start_time: '2026-01-02T03:04:05Z', shares: [held]}));
			const {gpus} = await store().read();
			expect(gpus[0]).toMatchObject({kind: 'leased', lease: {user: '(shared)'}});
			expect(gpus[1]).toMatchObject({
				kind: 'shared',
				shares: [{user: 'alice', memoryMiB: 5, unknownFields: {new: true}}],
				unknownFields: {later: 1},
			});
			await harness().setGpu(1, JSON.stringify({...record, shares: [held, {...held, memory_mib: undefined}]}));
			expect((await store().read()).gpus[1]).toMatchObject({kind: 'garbage', problem: 'memory_mib is missing'});
		});

		test('contains all MIG instances, in a form that older versions read as a reservation', async () => {
			const held = (user: string, number: number) =>
				lease({
					user,
					actualUser: user,
					leaseId: 'of-both',
					mig: {uuid: `MIG-${number}`, number, profile: '1g.10gb', gpuInstanceId: 7 + number, computeInstanceId: 0},
				});
			const shares = [held('alice', 0), held('bob', 1)];
			await write(store(), poolWrite(2), {kind: 'shares', index: 1, shares});
			const {gpus} = await (await harness().open()).read();
			expect(gpus[1]).toMatchObject({kind: 'shared', shares});
			const record = JSON.parse(gpus[1]!.raw!) as Record<string, unknown>;
			expect(record).toMatchObject({
				user: '(shared)',
				type: 'manual',
				expiry_time: 4_102_444_800,
				instances: [
					{user: 'alice', mig: {uuid: 'MIG-0', number: 0, profile: '1g.10gb', gpu_instance_id: 7}},
					{user: 'bob', mig: {uuid: 'MIG-1', number: 1}},
				],
			});
			expect(record).not.toHaveProperty('shares');
			await harness().setGpu(
				1,
				JSON.stringify({...record, instances: [{user: 'alice', type: 'manual', start_time: start}]}),
			);
			expect((await store().read()).gpus[1]).toMatchObject({kind: 'garbage', problem: 'mig is missing'});
		});

		test('goes with usage records that keep the requested memory of a share', async () => {
			const now = Math.floor(Date.now() / 1000);
			await write(store(), poolWrite(2));
			await store().commit(plan({usage: [usage({startTime: now - 60, endTime: now, memoryMiB: 8192})]}));
			expect(await collect(store().history(now - 100, now + 100))).toMatchObject([{memoryMiB: 8192}]);
		});
	});
}
