/** Replays the audit log. It must contain every lease and every queue entry exactly once, and nothing else. */
import {expect} from 'vitest';
import type {AuditKind, AuditRecord, Snapshot} from '../../../source/core/model/types.js';
import {historyOf, type TestWorld} from '../world.js';
import {isLeased} from '../leased.js';

type HeldState = {
	/** How each GPU is held, by `lease/GPU`. */
	readonly holds: Map<string, 'held' | 'granted'>;
	readonly ended: string[];
	/** Ids of the entries in the queue. */
	readonly line: Set<string>;
};

const endings: ReadonlySet<AuditKind> = new Set(['released', 'expired', 'ended']);

function playLease(kind: AuditKind, hold: string, {holds, ended}: HeldState): void {
	if (kind === 'held') {
		expect(holds.has(hold), hold).toBe(false);
		holds.set(hold, kind);
	} else if (kind === 'granted') {
		expect(holds.get(hold), hold).not.toBe(kind);
		holds.set(hold, kind);
	}

	if (!endings.has(kind)) {
		return;
	}

	expect(holds.delete(hold), hold).toBe(true);
	ended.push(hold);
}

function play({kind, gpus, leaseId, entryId}: AuditRecord, state: HeldState): void {
	for (const gpu of leaseId === undefined ? [] : gpus) {
		playLease(kind, `${leaseId}/${gpu}`, state);
	}

	if (kind === 'joined') {
		expect(state.line.has(entryId!)).toBe(false);
		state.line.add(entryId!);
	} else if (entryId !== undefined && kind !== 'held') {
		expect(state.line.delete(entryId), `${kind} ${entryId}`).toBe(true);
	}
}

/** Replays the whole audit log, and compares the result with the store. `isCrowd` means that several processes acted at the same time. */
export async function checkAuditLog(
	world: Pick<TestWorld, 'store'>,
	snapshot: Snapshot,
	{isCrowd = false}: {readonly isCrowd?: boolean} = {},
): Promise<void> {
	const state: HeldState = {holds: new Map(), ended: [], line: new Set()};
	const entries = await world.store.audit();
	for (const record of entries) {
		play(record, state);
	}

	const live = snapshot.gpus
		.filter((record) => isLeased(record))
		.map(({index, lease}) => [`${lease.leaseId}/${index}`, lease.partialQueueId === undefined ? 'granted' : 'held']);
	expect([...state.holds].toSorted()).toEqual(live.toSorted());
	const usage = await historyOf(world.store);
	expect(state.ended.toSorted()).toEqual(usage.map(({leaseId, gpuId}) => `${leaseId}/${gpuId}`).toSorted());
	expect([...state.line].toSorted()).toEqual(snapshot.queue.map(({id}) => id).toSorted());
	const times = entries.map(({time}) => time);
	// A record has the time of the snapshot that its change is based on, so records of concurrent processes can be out of order.
	expect(isCrowd || times.every((time, position) => position === 0 || time >= times[position - 1]!)).toBe(true);
}
