import {requirePossible} from '../rules/allocation/impossible.js';
import {anyGpus, dependsOnGpus, eligibilityOf, type Eligibility} from '../rules/allocation/need.js';
import {withinSharePolicy} from '../rules/allocation/share-policy.js';
import type {Limits} from '../rules/limits/limits.js';
import {checkAgentRequest} from '../rules/policy/agents.js';
import {checkWanted, type AcquireRequest, type TimedRequest, type Wanted} from '../rules/request/request.js';
import type {World} from '../model/ports.js';
import type {Observation, Snapshot} from '../model/types.js';
import {createLinkReader, type ReadLinks} from './acquire-now.js';
import {limitsFor, withinLimits} from './limits.js';
import {readCurrent} from './transact.js';

type Options = {
	/** Absent if all GPUs are eligible. */
	readonly observation?: Observation | undefined;
	readonly readLinks: ReadLinks;
};

type PossibleRequest = {
	readonly wanted: Wanted;
	readonly eligibility: Eligibility;
	readonly limits: Limits;
	readonly timed: TimedRequest;
};

/** Throws `impossible` for a request that the pool can never serve to this account. */
export async function requirePossibleIn(
	world: World,
	snapshot: Snapshot,
	request: AcquireRequest,
	{observation, readLinks}: Options,
): Promise<PossibleRequest> {
	const gpuCount = snapshot.gpus.length;
	const wanted = checkWanted(request, gpuCount);
	checkAgentRequest(snapshot, request, wanted.count);
	const limits = limitsFor(world, snapshot, request.requester);
	const timed = withinLimits(request, wanted, {limits, policy: snapshot});
	// The strategy does not influence which groups are eligible, so the links are read as for the default strategy.
	const links = await readLinks(wanted, 'mru');
	const seen = observation === undefined ? anyGpus : eligibilityOf(wanted, observation, gpuCount, links);
	const eligibility = withinSharePolicy(wanted, seen, snapshot);
	requirePossible(wanted, {eligibility, observation, gpuCount, links});
	return {wanted, eligibility, limits, timed};
}

/** Reads the pool, scans the GPUs if the request depends on them, and throws like {@link requirePossibleIn}. */
export async function requirePossibleLater(world: World, request: AcquireRequest): Promise<PossibleRequest> {
	const snapshot = await readCurrent(world);
	const wanted = checkWanted(request, snapshot.gpus.length);
	return requirePossibleIn(world, snapshot, request, {
		observation: dependsOnGpus(wanted) ? await world.gpus.observe() : undefined,
		readLinks: createLinkReader(world),
	});
}
