import {CanhazgpuError} from '../../errors.js';
import {allocate, type Allocation, type Refusal} from '../rules/grants/newcomer-grant.js';
import {gpusOf, type Holding} from '../rules/leases/holdings.js';
import {mayChange, ownerOf} from '../rules/leases/ownership.js';
import {emptyPlan, type Expectation, type Plan, type Write} from '../model/plan.js';
import {instancesHeld} from '../rules/leases/holding-changes.js';
import {instancesOf} from '../rules/mig/instances.js';
import {anyGpus, type Eligibility} from '../rules/allocation/need.js';
import {checkWanted, type Wanted} from '../rules/request/request.js';
import type {GpuRecord, InstanceOfGpu, Lease, Observation, Requester, Snapshot} from '../model/types.js';
import {transact} from './transact.js';
import {createFreshScan, answeringIn} from './acquire-now.js';
import {groupsFor, limitsFor} from './limits.js';
import {requireLocal, type EngineWorld} from './engine.js';

export const undoMs = 10_000;

export type Released = {
	readonly gpus: readonly number[];
	readonly instances?: readonly InstanceOfGpu[];
	readonly lease: Lease;
};

export type Undone = {
	readonly undone: ReadonlyArray<{
		readonly gpus: readonly number[];
		readonly instances?: readonly InstanceOfGpu[] | undefined;
		readonly leaseId: string;
		readonly expiryTime: number;
	}>;
	readonly refused: readonly Refusal[];
	readonly over: readonly number[];
};

export const reasonAgainstUndo = ({type, expiryTime}: Lease): string | undefined =>
	type === 'run' || expiryTime === undefined
		? 'The release of a running job cannot be undone: nothing would release its GPUs when it ends'
		: undefined;

/** Returns the released reservations that can be restored. The GPUs of one lease can have different ends. */
export const undoableOf = (released: readonly Holding[]): readonly Released[] =>
	Map.groupBy(
		released.filter(({lease}) => reasonAgainstUndo(lease) === undefined),
		({index, lease}) => JSON.stringify([lease.leaseId ?? index, lease.expiryTime]),
	)
		.values()
		.map((holdings) => {
			const instances = instancesHeld(holdings);
			return {
				gpus: gpusOf(holdings),
				...(instances !== undefined && {instances}),
				lease: {...holdings[0]!.lease, mig: undefined, idle: undefined, parked: undefined, slack: undefined},
			};
		})
		.toArray();

/** Merges plans for reservations that are restored together. The preconditions of the plans differ only in the GPUs. */
function joined(plans: readonly Plan[]): Plan {
	const [first = emptyPlan, ...others] = plans;
	const {event} = first;
	const gpus = [...new Set(plans.flatMap((plan) => plan.event?.gpus ?? []))].toSorted((a, b) => a - b);
	const isOfGpu = (expectation: Expectation, index: number): boolean =>
		expectation.kind === 'gpu' && expectation.index === index;
	const expect = [...first.expect];
	for (const expectation of others.flatMap((plan) => plan.expect)) {
		if (expectation.kind === 'gpu' && expect.every((known) => !isOfGpu(known, expectation.index))) {
			expect.push(expectation);
		}
	}

	// Each plan is based on the plan before it, so the last write of a shared GPU contains all shares.
	const writes = new Map(
		plans.flatMap((plan) => plan.writes.map((write) => ['index' in write ? write.index : write, write] as const)),
	);
	return {
		...first,
		expect,
		writes: writes.values().toArray(),
		usage: plans.flatMap(({usage}) => usage),
		audit: plans.flatMap(({audit}) => audit),
		event: event && {...event, gpus},
	};
}

/** Returns the snapshot as it will be after these planned writes. The `raw` values stay as they were read, because the commit compares them. */
const withPlanned = (snapshot: Snapshot, writes: readonly Write[]): Snapshot => ({
	...snapshot,
	gpus: snapshot.gpus.map((record): GpuRecord => {
		const write = writes.find((one) => 'index' in one && one.index === record.index);
		switch (write?.kind) {
			case 'shares': {
				return {...write, kind: 'shared', raw: record.raw!};
			}

			case 'lease': {
				return {...write, kind: 'leased', raw: record.raw!};
			}

			case 'free': {
				return {...write, raw: record.raw};
			}

			default: {
				return record;
			}
		}
	}),
});

function onlyThese(instances: readonly InstanceOfGpu[], {gpus}: Observation): Eligibility {
	const there = instances.filter(({gpu, uuid}) =>
		instancesOf(gpus.find(({index}) => index === gpu))?.some((instance) => instance.uuid === uuid),
	);
	return {...anyGpus, groups: [], instances: there};
}

function checkUndoable(requester: Requester, {lease}: Released): void {
	if (!mayChange(requester, lease)) {
		throw new CanhazgpuError('not-owner', `That reservation belonged to ${ownerOf(lease)}`);
	}

	const reason = reasonAgainstUndo(lease);
	if (reason !== undefined) {
		throw new CanhazgpuError('unavailable', reason);
	}
}

/**
Reserves released GPUs again with the same ends, notes and labels, in one commit. Each reservation is restored completely or not at all, and the
release stays in the history. Processes that now run on the GPUs do not prevent the undo, because they may belong to the reservation.
@throws CanhazgpuError `not-owner`, `unavailable` if nothing can be undone or the time is up, and otherwise like {@link transact}.
*/
export async function undoRelease(
	world: EngineWorld,
	requester: Requester,
	released: readonly Released[],
): Promise<Undone> {
	requireLocal(world, 'undo');
	for (const each of released) {
		checkUndoable(requester, each);
	}

	const named = released.map((each) => ({...each, leaseId: world.clock.uuid()}));
	const scan = createFreshScan(world);
	await scan();
	return transact<Undone>(world, {
		async attempt(snapshot) {
			const isOver = ({lease}: Released): boolean => lease.expiryTime! <= snapshot.now;
			if (named.every((each) => isOver(each))) {
				throw new CanhazgpuError('unavailable', 'The reservation would have ended by now', {hint: 'Reserve again.'});
			}

			const observation = await scan();
			const startTime = Math.floor(snapshot.now);
			const limit = limitsFor(world, snapshot, requester)['max-gpus'];
			let before = snapshot;
			const answers = named
				.filter((each) => !isOver(each))
				.map(
					({
						gpus,
						instances,
						lease,
						leaseId,
					}): Refusal | (Allocation & {readonly leaseId: string; readonly lease: Lease}) => {
						const wanted: Wanted =
							instances === undefined
								? {
										count: gpus.length,
										ids: gpus,
										need: lease.memoryMiB === undefined ? undefined : {shareMiB: lease.memoryMiB},
									}
								: {
										count: instances.length,
										need: {mig: {instances: instances.map(({gpu, number = -1}) => ({gpu, number}))}},
									};
						const answer = allocate(before, observation, {
							wanted: checkWanted(wanted, snapshot.gpus.length),
							eligibility: instances === undefined ? anyGpus : onlyThese(instances, observation),
							lease: {...lease, startTime, lastHeartbeat: startTime, leaseId},
							force: true,
							memoryThresholdMiB: world.memoryThresholdMiB,
							isAnswering: answeringIn(snapshot, world.host),
							limit,
							groups: groupsFor(world, snapshot),
							grant: {host: world.host.hostname, account: requester.account, reason: 'undone'},
						});
						if (answer.kind === 'refused') {
							return answer;
						}

						before = withPlanned(before, answer.plan.writes);
						return {...answer, leaseId, lease};
					},
				);
			const granted = answers.filter((answer) => answer.kind === 'allocated');
			return {
				plan: joined(granted.map(({plan}) => plan)),
				result: {
					undone: granted.map(({gpus, instances, leaseId, lease}) => ({
						gpus,
						...(instances !== undefined && {instances}),
						leaseId,
						expiryTime: lease.expiryTime!,
					})),
					refused: answers.filter((answer) => answer.kind === 'refused'),
					over: named.filter((each) => isOver(each)).flatMap(({gpus}) => gpus),
				},
			};
		},
	});
}
