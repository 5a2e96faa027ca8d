/** Sample plans and records. */
import {emptyPlan, type Plan, type Write} from '../../source/core/model/plan.js';
import type {Store} from '../../source/core/model/ports.js';
import type {AuditRecord, Lease, Pool, QueueEntry, Snapshot, UsageRecord} from '../../source/core/model/types.js';

export const start = 1_760_000_000;

export const plan = (part: Partial<Plan>): Plan => ({...emptyPlan, ...part});

export const lease = (part: Partial<Lease> = {}): Lease => ({
	user: 'alice',
	actualUser: 'alice',
	type: 'manual',
	startTime: start,
	expiryTime: start + 3600,
	leaseId: 'lease-1',
	...part,
});

export const entry = (id: string, part: Partial<QueueEntry> = {}): QueueEntry => ({
	id,
	user: 'bob',
	actualUser: 'bob',
	requestedCount: 1,
	requestedIds: [],
	allocatedGpus: [],
	reservationType: 'run',
	enqueueTime: start,
	lastHeartbeat: start,
	...part,
});

export const usage = (part: Partial<UsageRecord> = {}): UsageRecord => ({
	user: 'alice',
	gpuId: 0,
	startTime: start - 60,
	endTime: start,
	durationSeconds: 60,
	reservationType: 'run',
	...part,
});

export const audit = (part: Partial<AuditRecord> = {}): AuditRecord => ({
	time: start,
	kind: 'granted',
	gpus: [0],
	...part,
});

export const pool = (gpuCount: number): Pool => ({
	gpuCount,
	provider: 'fake',
	machine: {id: 'machine-1', bootId: 'boot-1'},
});

export const poolWrite = (gpuCount: number): Write => ({kind: 'pool', pool: pool(gpuCount)});

export const leaseWrite = (index: number, part: Partial<Lease> = {}): Write => ({
	kind: 'lease',
	index,
	lease: lease(part),
});

export const join = (id: string, part: Partial<QueueEntry> = {}): Write => ({kind: 'join', entry: entry(id, part)});

/** Commits the writes without expectations. */
export const write = async (store: Store, ...writes: Write[]): Promise<string> => store.commit(plan({writes}));

/** Returns the lease on a GPU. Throws if there is none. */
export function leaseOn(snapshot: Snapshot, index: number): Lease {
	const record = snapshot.gpus[index];
	if (record?.kind !== 'leased') {
		throw new Error(`GPU ${index} is ${record?.kind}`);
	}

	return record.lease;
}

export const rawOn = (snapshot: Snapshot, index: number): string | undefined => snapshot.gpus[index]?.raw;

export const lineOf = (snapshot: Snapshot): readonly string[] => snapshot.queue.map(({id}) => id);

/** The part of a snapshot that only commits change. */
export const stateOf = (snapshot: Snapshot): Pick<Snapshot, 'pool' | 'gpus' | 'queue'> => ({
	pool: snapshot.pool,
	gpus: snapshot.gpus,
	queue: snapshot.queue,
});

export const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => Array.fromAsync(items);
