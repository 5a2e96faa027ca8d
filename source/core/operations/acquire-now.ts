import {CanhazgpuError} from '../../errors.js';
import {allocate, type Refusal} from '../rules/grants/newcomer-grant.js';
import {requirePossible} from '../rules/allocation/impossible.js';
import {eligibilityOf} from '../rules/allocation/need.js';
import {withSeenInstances} from '../rules/queue/eligible.js';
import {withinSharePolicy} from '../rules/allocation/share-policy.js';
import {instancesHeld} from '../rules/leases/holding-changes.js';
import {gpusOf, holdingsIn} from '../rules/leases/holdings.js';
import {isAnswering, latestEndOf} from '../rules/leases/liveness.js';
import {checkKeep} from '../rules/policy/idle-rules.js';
import {checkAgentRequest} from '../rules/policy/agents.js';
import {policyValue} from '../rules/policy/policy.js';
import type {StrategyName} from '../model/need.js';
import {dependsOnLinks} from '../rules/allocation/choose.js';
import {emptyPlan} from '../model/plan.js';
import {requireNoClone} from '../rules/pool/pool.js';
import type {Host, World} from '../model/ports.js';
import {
	checkNote,
	checkWanted,
	type AcquireRequest,
	type Grant,
	type Tenure,
	type TimedRequest,
	type Wanted,
} from '../rules/request/request.js';
import type {GpuLinks, Lease, Observation, QueueEntry, Snapshot} from '../model/types.js';
import type {EngineWorld} from './engine.js';
import {groupsFor, limitsFor, withinLimits, withoutLimits} from './limits.js';
import {transact} from './transact.js';

/** Maximum age of a scan on which a grant is based. */
export const freshMs = 2000;

export function leaseFor(
	{requester, tenure, note, need, via}: TimedRequest,
	leaseId: string,
	host: Host,
	now: number,
): Lease {
	const common = {
		user: requester.label,
		actualUser: requester.account,
		startTime: Math.floor(now),
		lastHeartbeat: Math.floor(now),
		note,
		via,
		memoryMiB: need?.shareMiB,
		leaseId,
	};
	if (tenure.type === 'manual') {
		const {durationSeconds, keepSeconds} = tenure;
		return {
			...common,
			type: 'manual',
			expiryTime: Math.ceil(now + durationSeconds),
			keepUntil: keepSeconds === undefined ? undefined : Math.ceil(now + keepSeconds),
		};
	}

	const {timeLimitSeconds, holder = host.self, job} = tenure;
	return {
		...common,
		type: 'run',
		endsBy: timeLimitSeconds === undefined ? undefined : Math.ceil(now + timeLimitSeconds),
		machine: host.machineId,
		bootId: host.bootId,
		...(job === undefined ? {holder} : {job, lastHeartbeat: undefined}),
	};
}

export function checkKeepOf({tenure}: AcquireRequest, snapshot: Snapshot): void {
	if (tenure.type === 'manual') {
		checkKeep(snapshot, tenure.keepSeconds);
	}
}

export const grantOf = (
	{
		gpus,
		instances,
		isBeyondLimit,
	}: Pick<Grant, 'gpus' | 'isBeyondLimit'> & {readonly instances?: Grant['instances'] | undefined},
	leaseId: string,
	lease: Lease,
	tenure: Tenure | undefined,
): Grant => ({
	kind: 'granted',
	gpus,
	...(instances !== undefined && {instances}),
	leaseId,
	startTime: lease.startTime,
	endsBy: latestEndOf(lease),
	...(lease.keepUntil !== undefined && {keepUntil: lease.keepUntil}),
	...(isBeyondLimit === true && {isBeyondLimit}),
	...(tenure?.type === 'manual' && {durationSeconds: tenure.durationSeconds}),
});

/** Returns the grant with this lease id, if the pool has one. Its answer may have been lost. */
export function grantIn(snapshot: Snapshot, leaseId: string, tenure: Tenure | undefined): Grant | undefined {
	const mine = holdingsIn(snapshot.gpus).filter(
		({lease}) => lease.leaseId === leaseId && lease.partialQueueId === undefined,
	);
	const [first] = mine;
	if (first === undefined) {
		return undefined;
	}

	const parts = {gpus: gpusOf(mine), instances: instancesHeld(mine)};
	const isBeyondLimit = first.lease.slack !== undefined;
	return grantOf({...parts, ...(isBeyondLimit && {isBeyondLimit})}, leaseId, first.lease, tenure);
}

export const answeringIn =
	(snapshot: Snapshot, host: Host) =>
	(entry: QueueEntry): boolean =>
		isAnswering(entry, snapshot, host);

/** A scan gets at least this much time, even if the request's deadline is earlier. Most scans take much less. */
const leastScanMs = 2000;

const unfinishedScan = ({gpus, clock}: World): Observation => ({
	provider: gpus.name,
	takenAtMs: clock.monotonicMs(),
	simulated: gpus.simulated,
	gpus: [],
	failure: {
		message: 'The GPUs could not be read within the wait time',
		hint: 'See how long the GPU tool takes: canhazgpu doctor',
	},
	warnings: [],
});

/**
Returns a function that scans the GPUs if its last scan is older than 2 s. The function returns a failed scan at
the deadline, and rejects if `signal` is aborted.
*/
export function createFreshScan(world: World, deadlineMs = Infinity, signal?: AbortSignal): () => Promise<Observation> {
	const {gpus, clock} = world;
	let last: Observation | undefined;

	async function observeInTime(): Promise<Observation> {
		signal?.throwIfAborted();
		const enough = new AbortController();
		const calledOff = Promise.withResolvers<never>();
		const callOff = (): void => {
			calledOff.reject(signal?.reason);
		};

		signal?.addEventListener('abort', callOff, {signal: enough.signal});
		const late = async (): Promise<Observation> => {
			await clock.sleep(Math.max(leastScanMs, deadlineMs - clock.monotonicMs()), enough.signal).catch(() => undefined);
			return unfinishedScan(world);
		};

		try {
			return await Promise.race([gpus.observe(), calledOff.promise, ...(deadlineMs === Infinity ? [] : [late()])]);
		} finally {
			enough.abort();
		}
	}

	return async () => {
		if (last === undefined || clock.monotonicMs() - last.takenAtMs > freshMs) {
			last = await observeInTime();
		}

		return last;
	};
}

export type ReadLinks = (wanted: Wanted, strategy: StrategyName) => Promise<GpuLinks | undefined>;

/** Returns a function that reads the links between GPUs for requests that depend on links. The links are read once, but a failed read is repeated. */
export function createLinkReader({gpus}: Pick<World, 'gpus'>): ReadLinks {
	let known: GpuLinks | undefined;
	return async ({need}, strategy) => {
		if (need?.nvlink !== true && !dependsOnLinks(strategy)) {
			return undefined;
		}

		known ??= await gpus.readLinks?.();
		return known;
	};
}

/**
Grants GPUs now, or returns a refusal. If an earlier call with the same lease id has got GPUs, returns their grant. Throws `impossible` for a request
that can never succeed, `usage` for a note that is too long, and otherwise like {@link transact}.
*/
export async function acquireNow(
	world: World,
	request: AcquireRequest,
	leaseId: string,
	scan = createFreshScan(world),
): Promise<Grant | Refusal> {
	checkNote(request.note);
	// Scans before the read of the pool. Later calls of `scan` return the same scan unless it is outdated.
	await scan();
	const readLinks = createLinkReader(world);
	return transact<Grant | Refusal>(world, {
		user: request.requester.label,
		async attempt(snapshot) {
			requireNoClone(snapshot, world.host, world.store.location);
			checkKeepOf(request, snapshot);
			const wanted = checkWanted(request, snapshot.gpus.length);
			checkAgentRequest(snapshot, request, wanted.count);
			const limits = limitsFor(world, snapshot, request.requester);
			const timed = withinLimits(request, wanted, {limits, policy: snapshot});
			const earlier = grantIn(snapshot, leaseId, timed.tenure);
			if (earlier !== undefined) {
				return {plan: emptyPlan, result: earlier};
			}

			const lease = leaseFor(timed, leaseId, world.host, snapshot.now);
			const observation = await scan();
			const gpuCount = snapshot.gpus.length;
			const strategy = request.strategy ?? policyValue(snapshot, 'strategy');
			const links = await readLinks(wanted, strategy);
			const eligibility = withinSharePolicy(wanted, eligibilityOf(wanted, observation, gpuCount, links), snapshot);
			requirePossible(wanted, {eligibility, observation, gpuCount, links});
			const answer = allocate(withSeenInstances(snapshot, observation), observation, {
				wanted,
				eligibility,
				strategy,
				links,
				lease,
				force: request.force ?? false,
				memoryThresholdMiB: world.memoryThresholdMiB,
				isAnswering: answeringIn(snapshot, world.host),
				limit: limits['max-gpus'],
				groups: groupsFor(world, snapshot),
				grant: {host: world.host.hostname, forced: request.force},
			});
			return answer.kind === 'refused'
				? {plan: emptyPlan, result: answer}
				: {plan: answer.plan, result: grantOf(answer, leaseId, lease, timed.tenure)};
		},
	});
}

function refusalReason({available, overLimit, agentLimit}: Refusal): string {
	if (overLimit !== undefined) {
		return `${overLimit.held} of at most ${overLimit.limit.value} held`;
	}

	return agentLimit === undefined
		? `${available} available`
		: `${agentLimit.held} of at most ${agentLimit.most} held by agents`;
}

/** Grants GPUs now, or records the refusal in the audit log. */
export async function acquireOrRefuse(
	world: EngineWorld,
	request: AcquireRequest,
	leaseId: string,
	scan?: () => Promise<Observation>,
): Promise<Grant | Refusal> {
	if (world.engine !== undefined) {
		return world.engine.acquireNow(withoutLimits(request));
	}

	const answer = await acquireNow(world, request, leaseId, scan);
	if (answer.kind === 'granted') {
		return answer;
	}

	const {wanted, now} = answer;
	const {account, label} = request.requester;
	try {
		await world.store.commit({
			...emptyPlan,
			audit: [
				{
					time: now,
					kind: 'refused',
					account,
					label: label === account ? undefined : label,
					host: world.host.hostname,
					gpus: wanted.ids ?? [],
					count: wanted.count,
					need: wanted.need,
					memoryMiB: wanted.need?.shareMiB,
					forced: request.force === true ? true : undefined,
					reason: refusalReason(answer),
					note: request.note,
				},
			],
			event: {kind: 'notice', gpus: []},
		});
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}
	}

	return answer;
}
