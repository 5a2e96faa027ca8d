/** `gpu_renew` for several reservations of one connection. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {acquireNow} from '../../source/core/operations/acquire-now.js';
import {findJobLease} from '../../source/core/operations/job-lease.js';
import {renewJobLease} from '../../source/core/operations/renew-job-lease.js';
import {release} from '../../source/core/operations/reservations.js';
import {renew} from '../../source/mcp/tools/renew.js';
import type {Call} from '../../source/mcp/tool.js';
import {freshEmbeddedBox} from '../_helpers/program/processes.js';
import {createTestWorld, person} from '../_helpers/world.js';
import {connect, expectError} from './_client.js';

const requester = person('alice');

test('gpu_renew without lease_id renews the remaining reservations and names those that have ended', async () => {
	const world = await createTestWorld({gpuCount: 2});
	const leases = await Promise.all(
		['one', 'other'].map(async (id, index) => {
			const tenure = {type: 'run', timeLimitSeconds: 1800, holder: world.host.self} as const;
			await acquireNow(world, {requester, ids: [index], count: 1, tenure, via: 'mcp'}, id);
			return [id, await findJobLease(world, id)] as const;
		}),
	);
	const found = new Map(leases);
	const call = {
		world,
		requester,
		held: {
			ids: () => found.keys().toArray(),
			renew: async (_world: unknown, _requester: unknown, id: string, seconds: number | undefined) =>
				renewJobLease(world, requester, {jobLease: found.get(id)!, seconds}),
		},
	} as unknown as Call;

	await release(world, requester, {by: 'lease', leaseId: 'one'});
	expect(await renew.call(call, {duration: '1h'})).toMatchObject({
		json: {extended: [{gpu_id: 1}]},
		words: 'Renewed 1 GPU(s): [1] until 1h 0m 0s from now. Not renewed: That reservation has already ended.',
	});
	await release(world, requester, {by: 'lease', leaseId: 'other'});
	await expect(renew.call(call, {duration: '1h'})).rejects.toThrow('That reservation has already ended');
});

test('gpu_renew without a duration moves no end to an earlier time', async () => {
	const box = await freshEmbeddedBox(2);
	const agent = await connect(box);
	await agent.call('gpu_reserve', {duration: '3h'});
	const {lease_id: id} = (await agent.call('gpu_reserve', {duration: '3h', detached: true})).json as {
		readonly lease_id: string;
	};
	const kept = /^Renewed 1 GPU\(s\): \[\d\] until (?:3h 0m 0s|2h 59m \d+s) from now\.$/v;
	expect((await agent.call('gpu_renew')).words).toMatch(kept);
	expect((await agent.call('gpu_renew', {lease_id: id})).words).toMatch(kept);
	// A lower limit ends no reservations.
	await box.run('admin --set agents.max-duration=1h');
	expect((await agent.call('gpu_renew')).words).toMatch(kept);
	expect((await agent.call('gpu_renew', {lease_id: id})).words).toMatch(kept);
	expect((await agent.call('gpu_renew', {duration: '2h'})).words).toContain(' until 2h 0m 0s from now');
	expect((await agent.call('gpu_renew', {lease_id: id, duration: '2h'})).words).toContain(' until 2h 0m 0s from now');
	expectError(await agent.call('gpu_renew', {duration: '150m'}), /^Agents may hold GPUs for at most 1h at a time\./v);
});

test('gpu_renew without a duration renews up to the longest time that the policy allows for agents', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('admin --set agents.max-duration=30m');
	const agent = await connect(box);
	await agent.call('gpu_reserve', {duration: '5m'});
	const {lease_id: id} = (await agent.call('gpu_reserve', {duration: '5m', detached: true})).json as {
		readonly lease_id: string;
	};
	await sleep(1500);
	const renewed = /^Renewed 1 GPU\(s\): \[\d\] until 0h 29m \d+s from now\.$/v;
	expect((await agent.call('gpu_renew')).words).toMatch(renewed);
	expect((await agent.call('gpu_renew', {lease_id: id})).words).toMatch(renewed);
	await box.run('admin --set agents.max-duration=1s');
	expectError(
		await agent.call('gpu_renew'),
		/^This reservation has lasted as long as the policy allows for agents\. .* Release the GPUs and reserve again\.$/v,
	);
});
