/** Runs all waiting requests of a pool without their timers. */
import {expect} from 'vitest';
import {createLinkReader} from '../../../../source/core/operations/acquire-now.js';
import {limitsFor, withinLimits} from '../../../../source/core/operations/limits.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {planWithScan} from '../../../../source/core/operations/waiting/waiter-plan.js';
import {quitQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {checkAgentRequest} from '../../../../source/core/rules/policy/agents.js';
import type {TimedRequest, Wanted} from '../../../../source/core/rules/request/request.js';
import {wantedOf} from '../../../../source/core/rules/queue/eligible.js';
import {isNoted, planEntryHeartbeat, planEntryNote} from '../../../../source/core/rules/queue/queue.js';
import type {LeaseType, QueueRecord, Snapshot} from '../../../../source/core/model/types.js';
import {person, type TestWorld} from '../../../_helpers/world.js';

export type EntryRecord = Extract<QueueRecord, {kind: 'entry'}>;

export const entriesOf = ({queue}: Snapshot): readonly EntryRecord[] =>
	queue.filter((record) => record.kind === 'entry');

export const requestOf = (
	user: string,
	{count, ids, need}: Wanted,
	force = false,
	type: LeaseType = 'manual',
): TimedRequest => ({
	requester: person(user),
	count,
	ids,
	need,
	force,
	tenure: type === 'manual' ? {type, durationSeconds: 1e6} : {type},
});

/** Sends the heartbeat of each entry whose process is awake. An entry without heartbeats has no claim on GPUs. */
export async function beatAll(world: TestWorld, isAwake: (id: string) => boolean = () => true): Promise<void> {
	for (const {id} of entriesOf(await readCurrent(world))) {
		const snapshot = await readCurrent(world);
		const own = entriesOf(snapshot).find((record) => record.id === id);
		if (own !== undefined && isAwake(id)) {
			expect(await world.store.commit(planEntryHeartbeat(snapshot, own))).toBe('done');
		}
	}
}

/** Does what the waiting request of an entry does after an event. Returns whether it changed anything. */
async function check(world: TestWorld, id: string, canBecomeImpossible: boolean): Promise<boolean> {
	const snapshot = await readCurrent(world);
	const own = entriesOf(snapshot).find((record) => record.id === id);
	if (own === undefined) {
		return false;
	}

	const leaseId = `lease-${id}`;
	let grant: Awaited<ReturnType<typeof planWithScan>>;
	try {
		const wanted = wantedOf(own.entry);
		const {user, reservationType, via} = own.entry;
		const request = {...requestOf(user, wanted, false, reservationType), via};
		checkAgentRequest(snapshot, request, wanted.count);
		const limits = limitsFor(world, snapshot, request.requester);
		grant = await planWithScan(world, snapshot, {
			request: withinLimits(request, wanted, {limits, policy: snapshot}),
			limit: limits['max-gpus'],
			leaseId,
			entryId: id,
			scan: async () => world.gpus.observe(),
			readLinks: createLinkReader(world),
			isScanDue: true,
		});
	} catch (error) {
		if (!canBecomeImpossible) {
			throw error;
		}

		// An administrator has made the request impossible, so it fails.
		expect(error).toMatchObject({code: 'impossible'});
		await quitQueue(world, {id, leaseId, account: own.entry.user, reason: 'aborted'});
		return true;
	}

	if (grant === 'stale') {
		throw new Error('The clock stands still');
	}

	if (grant.kind !== 'nothing') {
		expect(await world.store.commit(grant.plan)).toBe('done');
		return true;
	}

	if (grant.note === undefined || isNoted(grant.note, own.entry)) {
		return false;
	}

	expect(await world.store.commit(planEntryNote(snapshot, own, grant.note, 'here'))).toBe('done');
	return true;
}

type SettleOptions = {
	readonly canBecomeImpossible?: boolean;
	readonly isAwake?: (id: string) => boolean;
};

/**
Lets every waiter look, the last in the queue first, until none of them changes anything.

@param options.canBecomeImpossible - Whether the box changes during the wait, so that a request can become impossible.
@param options.isAwake - A stopped waiter does not look.
*/
export async function settle(
	world: TestWorld,
	{canBecomeImpossible = false, isAwake = () => true}: SettleOptions = {},
): Promise<void> {
	let rounds = 0;
	for (let hasChanged = true; hasChanged;) {
		expect(rounds++).toBeLessThan(50);
		hasChanged = false;
		const awake = entriesOf(await readCurrent(world)).filter(({id}) => isAwake(id));
		for (const {id} of awake.toReversed()) {
			hasChanged = (await check(world, id, canBecomeImpossible)) || hasChanged;
			world.pass(0.001);
		}
	}
}
