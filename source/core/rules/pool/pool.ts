import {CanhazgpuError, hasCode} from '../../../errors.js';
import {gpusOf, holdingsIn} from '../leases/holdings.js';
import {planEnd} from '../leases/lease-changes.js';
import {cloneIn, endingOf} from '../leases/liveness.js';
import {ownerOf} from '../leases/ownership.js';
import {emptyPlan, poolExpectations, type Expectation, type Plan, type Write} from '../../model/plan.js';
import type {Host, Store} from '../../model/ports.js';
import type {AuditContext} from '../leases/audit-entries.js';
import type {AuditBefore, AuditRecord, Pool, Snapshot} from '../../model/types.js';
import {mostGpus} from '../../model/observation.js';

/** Throws `usage` for a number of GPUs that no pool can have. */
export function checkPoolSize(gpuCount: number): void {
	if (!Number.isSafeInteger(gpuCount) || gpuCount < 1 || gpuCount > mostGpus) {
		throw new CanhazgpuError('usage', `A pool cannot have ${gpuCount} GPUs`, {hint: `Choose 1 to ${mostGpus}.`});
	}
}

type PoolChange = {
	readonly reason: 'made' | 'remade' | 'restored';
	readonly before?: AuditBefore;
};

export const poolEntry = (
	pool: Pool,
	{now, host, account}: AuditContext,
	{reason, before}: PoolChange,
): AuditRecord => ({
	time: now,
	kind: 'pool',
	account,
	host,
	gpus: [],
	count: pool.gpuCount,
	provider: pool.provider,
	reason,
	before,
});

/** Plans the first pool. `movedFrom` is the previous location, if that is another store. */
export const planPool = (pool: Pool, context: AuditContext, movedFrom?: string): Plan => ({
	...emptyPlan,
	expect: [{kind: 'pool', gpuCount: undefined}],
	writes: [{kind: 'pool', pool}],
	audit: [
		poolEntry(pool, context, {
			reason: 'made',
			before: movedFrom === undefined ? undefined : {location: movedFrom},
		}),
	],
	event: {kind: 'pool', gpus: []},
});

/** Plans to replace the pool. All leases end now, or at their expiry time if that has passed. Unreadable records are removed, and the queue stays. */
export function planPoolReset(
	snapshot: Snapshot,
	pool: Pool,
	{host, before, ...who}: {readonly host: Host; readonly account: string; readonly before: AuditBefore},
): Plan {
	const context: AuditContext = {...who, now: snapshot.now, host: host.hostname};
	const leased = holdingsIn(snapshot.gpus);
	const ends = planEnd(
		leased.map((holding) => ({
			holding,
			ending: endingOf(holding.lease, snapshot, host) ?? {reason: 'pool-reset', endTime: snapshot.now},
		})),
		{kind: 'pool', gpus: gpusOf(leased)},
		context,
	);
	const cleaned = snapshot.gpus.filter((record) => record.kind === 'garbage' || record.index >= pool.gpuCount);
	const compared = snapshot.gpus.filter(
		(record) => record.kind === 'free' || (record.kind === 'garbage' && record.raw !== undefined),
	);
	return {
		...ends,
		expect: [
			...poolExpectations(snapshot),
			...ends.expect,
			// If a free GPU is granted in the meantime, the commit conflicts. A value that is not a string cannot be compared, so the plan does not
			// expect it.
			...compared.map(({index, raw}): Expectation => ({kind: 'gpu', index, raw})),
		],
		writes: [
			{kind: 'pool', pool},
			...ends.writes,
			...cleaned.map(({index}): Write => ({kind: 'free', index, lastReleased: undefined})),
		],
		audit: [poolEntry(pool, context, {reason: 'remade', before}), ...ends.audit],
	};
}

/** Two unknown boot ids count as different. */
const isSameBoot = ({machine}: Pick<Pool, 'machine'>, host: Host): boolean =>
	host.bootId !== undefined && machine?.bootId === host.bootId;

const isOfAnotherMachine = (pool: Pick<Pool, 'machine'>, host: Host): boolean =>
	// In a container, the machine id differs from the id of the host machine, but the boot id is the same.
	pool.machine !== undefined && pool.machine.id !== host.machineId && !isSameBoot(pool, host);

/**
Returns the machine to record for a pool that is created or replaced here. A container that replaces the pool of its host keeps the id of the host,
which could not use the pool otherwise after its next reboot.
*/
export const machineFor = (host: Host, former: Pick<Pool, 'machine'> | undefined): NonNullable<Pool['machine']> => ({
	id: former?.machine !== undefined && isSameBoot(former, host) ? former.machine.id : host.machineId,
	bootId: host.bootId,
});

/** Plans to record the current boot of the pool's machine, so that containers with other machine ids recognize the machine after a reboot. */
export function planBoot(snapshot: Snapshot, host: Host): Plan {
	const {pool} = snapshot;
	if (
		pool?.machine?.id !== host.machineId ||
		host.bootId === undefined ||
		isSameBoot(pool, host) ||
		cloneIn(snapshot, host) !== undefined
	) {
		return emptyPlan;
	}

	return {
		...emptyPlan,
		// The revision also changes when the pool is replaced or moves to another store.
		expect: [...poolExpectations(snapshot), {kind: 'revision', raw: snapshot.revision.raw}],
		writes: [{kind: 'pool', pool: {...pool, machine: {...pool.machine, bootId: host.bootId}}}],
	};
}

/** Whether the pool is this machine's and was closed by a move to another store. */
export const hasMoved = (pool: Pool, host: Host): boolean =>
	pool.machine?.movedTo !== undefined && !isOfAnotherMachine(pool, host);

const ofAnotherMachine = ({machine}: Pick<Pool, 'machine'>, location: string, hint: string): CanhazgpuError =>
	new CanhazgpuError('wrong-machine', `The pool in ${location} belongs to another machine (${machine!.id})`, {hint});

/** Returns the pool. Throws `no-pool`, or `wrong-machine` if the pool belongs to another machine or has moved to another store. */
export function requirePool(snapshot: Snapshot, host: Host, {kind, location}: Pick<Store, 'kind' | 'location'>): Pool {
	const {pool} = snapshot;
	if (pool === undefined) {
		throw new CanhazgpuError('no-pool', `There is no GPU pool in ${location}`, {
			// A count above 0 shows that there was a pool: its key was evicted, or somebody deleted it.
			hint:
				snapshot.revision.count > 0
					? 'Only its number of GPUs is missing. Its reservations are still there. Set the number again, without --force: canhazgpu admin --gpus N'
					: 'Make one with: canhazgpu admin',
		});
	}

	if (isOfAnotherMachine(pool, host)) {
		const wayOut =
			kind === 'redis'
				? 'Use that machine, or another store: --redis-host, --redis-db. In a container of that machine, run a command such as canhazgpu status outside of it first.'
				: 'In a container, run a command such as canhazgpu status outside of it first. Only if the id of this machine has changed, replace the pool and end all its reservations: sudo canhazgpu admin --force';
		throw ofAnotherMachine(pool, location, `This is ${host.hostname} (${host.machineId}). ${wayOut}`);
	}

	const {machine} = pool;
	if (machine?.movedTo !== undefined) {
		throw new CanhazgpuError('wrong-machine', `The pool that was in ${location} is in ${machine.movedTo} now`, {
			details: {movedTo: machine.movedTo},
			hint: 'Restart programs that still use the old location, and remove settings and flags that name it. If no setting or flag names the old location, the move was interrupted. Repeat that canhazgpu admin command with --force.',
		});
	}

	return pool;
}

/** Whether the error says that the pool has moved to another store. A restarted program finds the pool there. */
export const saysMoved = (error: unknown): boolean =>
	hasCode(error, 'wrong-machine') && (error.details as {movedTo?: string} | undefined)?.movedTo !== undefined;

/**
Throws `wrong-machine` if replacing the pool could end reservations of another machine. A pool in a file is always on this machine, so its record of
another machine is an earlier id of this one.
*/
export function requireReplaceable(
	pool: Pick<Pool, 'machine'> | undefined,
	host: Host,
	{kind, location, shell}: Pick<Store, 'kind' | 'location' | 'shell'>,
): void {
	if (pool !== undefined && kind === 'redis' && isOfAnotherMachine(pool, host)) {
		throw ofAnotherMachine(
			pool,
			location,
			`Nothing was changed. Create the pool of ${host.hostname} (${host.machineId}) in a database of its own: --redis-db N. If only this machine uses the pool and its id has changed, take the pool over with its reservations: ${shell} del canhazgpu:machine`,
		);
	}
}

/** Throws like {@link requireReplaceable} for a pool that cannot be read, and `pool-garbage` if the owner of a pool in Redis is unknown. */
export function requireReplaceableGarbage(
	garbage: CanhazgpuError,
	host: Host,
	store: Pick<Store, 'kind' | 'location' | 'shell'>,
): void {
	const owner = garbage.details as Pick<Pool, 'machine'> | undefined;
	if (owner === undefined && store.kind === 'redis') {
		throw new CanhazgpuError('pool-garbage', garbage.message, {
			hint: `Nothing was changed, because it is unknown which machine owns the pool. ${garbage.hint}`,
			cause: garbage,
		});
	}

	requireReplaceable(owner, host, store);
}

/** Throws `wrong-machine` if a clone of this machine uses the pool, because both would take each other's GPUs. Not called before a release. */
export function requireNoClone(snapshot: Snapshot, host: Host, location: string): void {
	const clone = cloneIn(snapshot, host);
	if (clone !== undefined) {
		throw new CanhazgpuError(
			'wrong-machine',
			`Another machine with the same machine-id (${host.machineId}) uses the pool in ${location}: a job or a waiting request of ${ownerOf(clone)} runs there`,
			{
				hint: `This is ${host.hostname}. If it was cloned, give it an id of its own (remove /etc/machine-id, run systemd-machine-id-setup and restart) and a store of its own: --redis-host, --redis-db.`,
			},
		);
	}
}
