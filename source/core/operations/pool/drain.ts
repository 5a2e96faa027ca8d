import {CanhazgpuError} from '../../../errors.js';
import {holdingsOn} from '../../rules/leases/holdings.js';
import {unreadableDrains} from '../../rules/pool/diagnosis.js';
import {emptyPlan, poolExpectations, type Plan} from '../../model/plan.js';
import type {World} from '../../model/ports.js';
import {checkIds, checkReason} from '../../rules/request/request.js';
import type {AuditRecord, Drain, Requester, Snapshot} from '../../model/types.js';
import {transact} from '../transact.js';
import {requireLocal, type EngineWorld} from '../engine.js';

type Change = {
	readonly world: World;
	readonly requester: Requester;
	readonly gpus: readonly number[];
	readonly kind: 'drained' | 'undrained';
	readonly drains: ReadonlyMap<number, Drain>;
	readonly reason?: string;
};

function planDrains(snapshot: Snapshot, {world, requester, gpus, kind, drains, reason}: Change): Plan {
	if (snapshot.drainProblem !== undefined && snapshot.stored.drains === undefined) {
		const {words, fix} = unreadableDrains(snapshot.drainProblem, undefined, world.store.shell);
		throw new CanhazgpuError('pool-garbage', words, {hint: fix});
	}

	const reasons = new Set(gpus.flatMap((gpu) => snapshot.drains.get(gpu)?.reason ?? []));
	const record: AuditRecord = {
		time: snapshot.now,
		kind,
		account: requester.account,
		host: world.host.hostname,
		gpus,
		reason,
		before: reasons.size === 0 ? undefined : {reason: [...reasons].join('; ')},
	};
	return {
		...emptyPlan,
		expect: [...poolExpectations(snapshot), {kind: 'drains', raw: snapshot.stored.drains}],
		writes: [{kind: 'drains', drains}],
		audit: [record],
		event: {kind: 'drain', gpus, user: requester.account},
	};
}

/**
Takes GPUs out of service, or changes the reason. Returns the GPUs as `gpus`, and the GPUs that are still leased as `leased`. Throws `usage` for a
reason that is too long, and otherwise like {@link undrain}.
*/
export const drain = async (
	world: EngineWorld,
	requester: Requester,
	ids: readonly number[],
	reason: string | undefined,
): Promise<{readonly gpus: readonly number[]; readonly leased: readonly number[]}> => {
	requireLocal(world, 'drain');
	checkReason(reason);
	return transact(world, {
		attempt(snapshot) {
			checkIds(ids, snapshot.gpus.length);
			const gpus = ids.toSorted((a, b) => a - b);
			const since = Math.floor(snapshot.now);
			const drains = new Map([
				...snapshot.drains,
				...gpus.map((gpu) => [gpu, {reason, by: requester.account, since}] as const),
			]);
			const leased = gpus.filter((gpu) =>
				holdingsOn(snapshot.gpus[gpu]).some(({lease}) => lease.partialQueueId === undefined),
			);
			return {
				plan: planDrains(snapshot, {world, requester, gpus, kind: 'drained', drains, reason}),
				result: {gpus, leased},
			};
		},
	});
};

/**
Puts GPUs back into service. Returns the GPUs that were out of service. Throws `impossible` for an unknown id,
`pool-garbage` for an unusable record.
*/
export const undrain = async (
	world: EngineWorld,
	requester: Requester,
	ids: readonly number[],
): Promise<readonly number[]> => {
	requireLocal(world, 'drain');
	return transact<readonly number[]>(world, {
		attempt(snapshot) {
			checkIds(ids, snapshot.gpus.length);
			const gpus = ids.filter((gpu) => snapshot.drains.has(gpu)).toSorted((a, b) => a - b);
			const drains = new Map([...snapshot.drains].filter(([gpu]) => !gpus.includes(gpu)));
			return {
				plan: gpus.length === 0 ? emptyPlan : planDrains(snapshot, {world, requester, gpus, kind: 'undrained', drains}),
				result: gpus,
			};
		},
	});
};
