/**
Random queues of people who join, leave, die, stop and continue. Whenever all requests have settled, no entry is blocked by an unrelated request
or was overtaken, and no GPU is left over.
*/
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {planQueueGrant} from '../../../../source/core/rules/grants/queue-grant.js';
import {drain, undrain} from '../../../../source/core/operations/pool/drain.js';
import {isPossible} from '../../../../source/core/rules/queue/eligible.js';
import {entryFor, holdingsOf, planJoin} from '../../../../source/core/rules/queue/queue.js';
import {isServable, outagesByRecord} from '../../../../source/core/rules/queue/out-of-service.js';
import {release, reserve} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {estimateWaits} from '../../../../source/core/rules/queue/estimates.js';
import type {Lease, Snapshot} from '../../../../source/core/model/types.js';
import {checkAuditLog} from '../../../_helpers/store/audit-log.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../../_helpers/world.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {isLeased} from '../../../_helpers/leased.js';
import {isLong} from '../../../_helpers/slow.js';

const gpuCount = 4;
const boss = person('root', 'root', 0);

type Step =
	| {readonly do: 'join'; readonly count: number; readonly ids?: readonly number[]}
	| {readonly do: 'free'; readonly id: number}
	| {readonly do: 'newcomer'; readonly count: number}
	| {readonly do: 'drain' | 'undrain'; readonly id: number}
	| {readonly do: 'die' | 'sleep' | 'wake'; readonly who: number};

const who = fc.nat({max: 9});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
	fc.record({do: fc.constant('join' as const), count: fc.integer({min: 1, max: gpuCount})}),
	fc.record({
		do: fc.constant('join' as const),
		count: fc.constant(1),
		ids: fc.uniqueArray(fc.nat({max: gpuCount - 1}), {minLength: 1, maxLength: 3}),
	}),
	fc.record({do: fc.constant('free' as const), id: fc.nat({max: gpuCount - 1})}),
	fc.record({do: fc.constant('newcomer' as const), count: fc.integer({min: 1, max: gpuCount})}),
	fc.record({do: fc.constantFrom('drain' as const, 'undrain' as const), id: fc.nat({max: gpuCount - 1})}),
	fc.record({do: fc.constantFrom('die' as const, 'sleep' as const, 'wake' as const), who}),
);

const isAwakeIn =
	({processes}: TestWorld) =>
	({holder}: {readonly holder?: {readonly pid: number}}): boolean =>
		processes.get(holder!.pid) !== 'stopped';

/** Lets every entry with a running process take its GPUs until none can take more. Returns the served entries. */
async function settle(world: TestWorld): Promise<readonly string[]> {
	const served: string[] = [];
	for (;;) {
		const snapshot = await readCurrent(world);
		let hasChanged = false;
		// The last entry tries first, because grants must not depend on which request reads first.
		for (const record of snapshot.queue.toReversed()) {
			if (record.kind !== 'entry' || !isAwakeIn(world)(record.entry)) {
				continue;
			}

			const lease: Lease = {user: record.entry.user, type: 'run', startTime: 0, leaseId: `lease-${record.id}`};
			const now = await readCurrent(world);
			const grant = planQueueGrant(now, record.id, {
				lease,
				outOfService: outagesByRecord(now),
				isUsable: () => true,
				isAnswering: isAwakeIn(world),
				host: 'box',
			});
			if (grant.kind === 'nothing') {
				continue;
			}

			expect(await world.store.commit(grant.plan)).toBe('done');
			// Time passes, so that no GPU is granted twice in the same moment.
			world.pass(0.001);
			hasChanged = true;
			if (grant.kind === 'complete') {
				served.push(record.id);
			}
		}

		if (!hasChanged) {
			return served;
		}
	}
}

async function act(world: TestWorld, step: Step, position: number): Promise<void> {
	switch (step.do) {
		case 'join': {
			const wanted = step.ids === undefined ? {count: step.count} : {count: step.ids.length, ids: step.ids};
			const entry = entryFor(
				{
					id: `entry-${position}`,
					requester: person(`user${position}`),
					wanted,
					tenure: {type: 'run'},
					waitSeconds: undefined,
				},
				{...world.host, self: {pid: 100 + (position % 10)}},
				world.now(),
			);
			world.processes.delete(100 + (position % 10));
			await world.store.commit(planJoin(entry, 'box'));
			return;
		}

		case 'free': {
			await release(world, boss, {by: 'gpus', ids: [step.id]});
			return;
		}

		case 'drain': {
			await drain(world, boss, [step.id], 'fan');
			return;
		}

		case 'undrain': {
			await undrain(world, boss, [step.id]);
			return;
		}

		case 'newcomer': {
			const before = await readCurrent(world);
			const answer = await reserve(world, {requester: person('new'), count: step.count, durationSeconds: 3600});
			if (answer.kind === 'granted') {
				expect(answer.gpus.filter((index) => before.drains.has(index))).toEqual([]);
				// No earlier entry that is awake and can be served could have used what the new request got.
				for (const {entry} of before.queue.filter((record) => record.kind === 'entry')) {
					const wantsAny = entry.requestedIds.length === 0;
					expect(
						isAwakeIn(world)(entry) &&
							isServable(entry, before.gpus, outagesByRecord(before)) &&
							(wantsAny || entry.requestedIds.some((id) => answer.gpus.includes(id))),
					).toBe(false);
				}
			}

			return;
		}

		case 'die': {
			world.processes.set(100 + step.who, 'dead');
			return;
		}

		case 'sleep': {
			world.processes.set(100 + step.who, 'stopped');
			return;
		}

		case 'wake': {
			if (world.processes.get(100 + step.who) === 'stopped') {
				world.processes.delete(100 + step.who);
			}
		}
	}
}

const onDrained = ({gpus, drains}: Snapshot): readonly string[] =>
	gpus
		.filter((record) => isLeased(record))
		.filter(({index}) => drains.has(index))
		.map(({index, lease}) => `${lease.leaseId}/${index}`);

test('entries that leave the queue at any time never keep a GPU or block later entries', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(anyStep, {minLength: 1, maxLength: 30, size: 'max'}), async (steps) => {
			const world = await createTestWorld({gpuCount});
			for (const [stepIndex, step] of steps.entries()) {
				await act(world, step, stepIndex);
				const rested = await readCurrent(world);
				const before = rested.queue;
				const served = await settle(world);
				const snapshot = await readCurrent(world);
				// Drained GPUs are not granted.
				expect(onDrained(snapshot).filter((hold) => !onDrained(rested).includes(hold))).toEqual([]);
				// While an entry for any GPUs waits that could be served, no later entry was served. Entries of stopped processes do not count.
				for (const record of snapshot.queue) {
					if (
						record.kind !== 'entry' ||
						!isAwakeIn(world)(record.entry) ||
						!isServable(record.entry, snapshot.gpus, outagesByRecord(snapshot)) ||
						record.entry.requestedIds.length > 0
					) {
						continue;
					}

					const behind = before.slice(before.findIndex(({id}) => id === record.id) + 1);
					expect(behind.filter(({id}) => served.includes(id))).toEqual([]);
				}

				// No free GPU could serve an entry whose process is awake.
				const idle = snapshot.gpus
					.filter((gpu) => gpu.kind === 'free' && !snapshot.drains.has(gpu.index))
					.map(({index}) => index);
				for (const record of snapshot.queue) {
					if (!(
						record.kind === 'entry' &&
						isAwakeIn(world)(record.entry) &&
						isPossible(record.entry, gpuCount) &&
						isServable(record.entry, snapshot.gpus, outagesByRecord(snapshot))
					)) {
						continue;
					}

					const {requestedIds} = record.entry;
					expect(requestedIds.length === 0 ? idle : idle.filter((index) => requestedIds.includes(index))).toEqual([]);
				}

				// Every held GPU has its entry, every queue id has its entry, and every entry has its queue id.
				for (const {lease} of snapshot.gpus.filter((gpu) => isLeased(gpu))) {
					expect(lease.partialQueueId === undefined || world.memory.state.queue.includes(lease.partialQueueId)).toBe(
						true,
					);
				}

				expect(world.memory.state.entries.keys().toArray().toSorted()).toEqual(world.memory.state.queue.toSorted());
				expect(queueRows(snapshot).map(({held, id}) => held.length === holdingsOf(snapshot, id).length)).not.toContain(
					false,
				);
				await checkAuditLog(world, snapshot);
				for (const wait of estimateWaits(snapshot).values()) {
					expect(wait).toBeGreaterThanOrEqual(0);
				}
			}

			const leaked = (await historyOf(world.store)).filter(({durationSeconds}) => durationSeconds < 0);
			expect(leaked).toEqual([]);
		}),
		{numRuns: isLong ? 200 : 50},
	);
});
