import {CanhazgpuError} from '../../errors.js';
import {additionOf, grantedParts, type Addition, planHoldings} from '../rules/leases/holding-changes.js';
import {holdingsIn, holdingsOn} from '../rules/leases/holdings.js';
import {limitExpectations, settingText, type Limit} from '../rules/limits/limits.js';
import {instancesOf, instanceText, isOnInstance, isWhole} from '../rules/mig/instances.js';
import {doubtAbout, isRoot, ownerOf} from '../rules/leases/ownership.js';
import {requireNoClone} from '../rules/pool/pool.js';
import {poolExpectations} from '../model/plan.js';
import {policyExpectations} from '../rules/policy/policy.js';
import {auditContextOf, grantEntry} from '../rules/leases/audit-entries.js';
import {checkNote} from '../rules/request/request.js';
import type {
	Drain,
	GpuProcess,
	GpuReading,
	GpuRecord,
	InstanceOfGpu,
	Lease,
	Observation,
	Requester,
	Snapshot,
} from '../model/types.js';
import {transact} from './transact.js';
import {createFreshScan} from './acquire-now.js';
import {limitsFor} from './limits.js';
import {requireLocal, type EngineWorld} from './engine.js';

export type AdoptRequest = {
	readonly requester: Requester;
	readonly pid: number;
	/** Start time of the process, if the user saw it. Prevents the adoption of a later process with the same pid. */
	readonly startTicks?: number;
	readonly label?: string;
	readonly note?: string;
};

type Adopted = {
	readonly gpus: readonly number[];
	readonly instances?: readonly InstanceOfGpu[];
	readonly leaseId: string;
	readonly owner: string;
	readonly name: string | undefined;
};

type UsedGpu = {readonly index: number; readonly instance?: InstanceOfGpu};

type Seen = {readonly process: GpuProcess; readonly used: readonly UsedGpu[]};

function find({gpus, failure}: Observation, {pid, startTicks}: AdoptRequest): Seen {
	if (failure !== undefined) {
		throw new CanhazgpuError('provider', `The GPUs cannot be read: ${failure.message}`, {hint: failure.hint});
	}

	const on = gpus.filter(({processes}) => processes?.some((process) => process.pid === pid));
	const process = on[0]?.processes?.find((candidate) => candidate.pid === pid);
	if (process === undefined) {
		throw new CanhazgpuError('not-found', `Process ${pid} uses no GPU, according to the GPU tool`, {
			hint: gpus.some(({processes}) => processes === undefined)
				? 'The GPU tool does not report the processes of some GPUs.'
				: 'See the processes on GPUs: canhazgpu status',
		});
	}

	if (startTicks !== undefined && process.startTicks !== undefined && process.startTicks !== startTicks) {
		throw new CanhazgpuError('not-found', `Process ${pid} has ended, and another process has its pid now`, {
			hint: 'Nothing was reserved. See what runs on a GPU: canhazgpu who 3',
		});
	}

	return {process, used: on.map((reading) => usedGpuOf(reading, pid))};
}

/** Returns the GPU or MIG instance of the process. Throws `unavailable` if the GPU is split by MIG and the instance is unknown. */
function usedGpuOf(reading: GpuReading, pid: number): UsedGpu {
	const {index} = reading;
	if (isWhole(reading) === true) {
		return {index};
	}

	const own = reading.processes!.find((process) => process.pid === pid)!;
	const instance = instancesOf(reading)?.find((one) => isOnInstance(own, one) === true);
	if (instance === undefined) {
		throw new CanhazgpuError(
			'unavailable',
			`GPU ${index} is split by MIG, but the GPU tool does not say which instance process ${pid} uses`,
			{hint: 'To reserve the instance by its name, see: canhazgpu help mig'},
		);
	}

	return {index, instance};
}

/** Returns the owner of a process. Throws if the requester is neither the owner nor root, or if the start time of the process is unknown. */
function ownerAllowed({pid, user, startTicks}: GpuProcess, requester: Requester): string {
	const hint = doubtAbout(requester) ?? 'Only its owner or root can adopt a process.';
	if (user === undefined || startTicks === undefined) {
		throw new CanhazgpuError('not-owner', `The owner of process ${pid} is unknown`, {hint});
	}

	if (user !== requester.account && !isRoot(requester)) {
		throw new CanhazgpuError('not-owner', `Process ${pid} belongs to ${user}`, {hint});
	}

	return user;
}

function checkFree(record: GpuRecord | undefined, {index, instance}: UsedGpu, drain: Drain | undefined): Addition {
	if (record === undefined) {
		throw new CanhazgpuError('unavailable', `GPU ${index} is not in this pool`);
	}

	const name = instance === undefined ? `GPU ${index}` : `Instance ${instanceText(instance)}`;
	const holding = holdingsOn(record).find(
		({lease: {mig}}) => instance === undefined || mig === undefined || mig.uuid === instance.uuid,
	);
	if (holding !== undefined) {
		throw new CanhazgpuError('unavailable', `${name} is already held by ${ownerOf(holding.lease)}`, {
			hint: 'A process can be adopted only while nobody holds any of its GPUs.',
		});
	}

	if (record.kind === 'garbage') {
		throw new CanhazgpuError('unavailable', `GPU ${index} has an unreadable record: ${record.problem}`, {
			hint: 'To fix it: canhazgpu doctor',
		});
	}

	if (drain !== undefined) {
		throw new CanhazgpuError(
			'unavailable',
			`GPU ${index} is out of service${drain.reason === undefined ? '' : `: ${drain.reason}`}`,
			{hint: `An administrator can return it to service: canhazgpu admin --undrain ${index}`},
		);
	}

	return {record, instance};
}

/** Throws `unavailable` if the account would hold more GPUs than its limit allows. A running process cannot wait in the queue. */
function requireRoom({gpus}: Pick<Snapshot, 'gpus'>, owner: string, count: number, limit: Limit | undefined): void {
	const held = holdingsIn(gpus).filter(({lease}) => ownerOf(lease) === owner).length;
	if (limit !== undefined && held + count > limit.value) {
		throw new CanhazgpuError('unavailable', `${owner} holds ${held} of at most ${limit.value} GPUs`, {
			hint: `The limit is ${settingText(limit)}. Release other GPUs first, or ask root, who has no limits.`,
		});
	}
}

/**
Grants a running process a `run` lease on the GPUs that it uses, until the process ends. Ignores the queue, because waiting requests cannot use
these GPUs. Throws `not-found` for an unknown process, `not-owner` for a process of another account, `unavailable` if a GPU cannot be leased, and
otherwise like {@link transact}.
*/
export async function adopt(world: EngineWorld, request: AdoptRequest): Promise<Adopted> {
	requireLocal(world, 'adopt');
	const {requester, pid, label, note} = request;
	const {host, clock} = world;
	checkNote(note);
	if (host.liveness([{pid}])[0] === 'dead') {
		throw new CanhazgpuError('not-found', `There is no process ${pid}`, {
			hint: 'See what runs on a GPU: canhazgpu who 3',
		});
	}

	const scan = createFreshScan(world);
	await scan();
	const leaseId = clock.uuid();
	return transact<Adopted>(world, {
		async attempt(snapshot) {
			requireNoClone(snapshot, host, world.store.location);
			const {process, used} = find(await scan(), request);
			const owner = ownerAllowed(process, requester);
			const parts = used.map((gpu) => checkFree(snapshot.gpus[gpu.index], gpu, snapshot.drains.get(gpu.index)));
			const {gpus, instances} = grantedParts(parts);
			const limit = limitsFor(world, snapshot, requester)['max-gpus'];
			requireRoom(snapshot, owner, parts.length, limit);
			const lease: Lease = {
				user: label ?? owner,
				actualUser: owner,
				type: 'run',
				startTime: Math.floor(snapshot.now),
				note,
				leaseId,
				machine: host.machineId,
				bootId: host.bootId,
				job: {
					pid,
					startTicks: process.startTicks,
					namespace: host.self.namespace,
					timeNamespace: host.self.timeNamespace,
				},
			};
			const changes = planHoldings(parts.map((part) => additionOf(part, lease)));
			return {
				plan: {
					...changes,
					expect: [
						...poolExpectations(snapshot),
						{kind: 'drains', raw: snapshot.stored.drains},
						...policyExpectations(snapshot),
						...changes.expect,
						...limitExpectations(snapshot.gpus, limit, changes.expect),
					],
					audit: [
						grantEntry(lease, gpus, auditContextOf(world, requester, snapshot), {reason: `process ${pid}`, instances}),
					],
					event: {kind: 'granted', gpus, user: owner, ...(instances !== undefined && {shared: true})},
					grants: true,
				},
				result: {gpus, ...(instances !== undefined && {instances}), leaseId, owner, name: process.name},
			};
		},
	});
}
