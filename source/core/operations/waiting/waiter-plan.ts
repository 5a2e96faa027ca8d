import {planQueueGrant, type QueueGrant} from '../../rules/grants/queue-grant.js';
import type {UnusableGpu} from '../../rules/grants/newcomer-grant.js';
import {noteFor, outagesNoted, outagesSeen} from '../../rules/queue/out-of-service.js';
import type {World} from '../../model/ports.js';
import type {InstanceOfGpu, Observation, Snapshot} from '../../model/types.js';
import {holdingsIn} from '../../rules/leases/holdings.js';
import {instanceText} from '../../rules/mig/instances.js';
import {cleanRuleOf} from '../../rules/usage/cleanliness.js';
import {usageBlockFor, usageBlockOfInstance} from '../../rules/usage/usage-block.js';
import {withinSharePolicy} from '../../rules/allocation/share-policy.js';
import {requirePossible} from '../../rules/allocation/impossible.js';
import {eligibilityOf, eligibleAfterScan, isSameEligible, type Eligibility} from '../../rules/allocation/need.js';
import type {Limit} from '../../rules/limits/limits.js';
import {checkWanted, type TimedRequest} from '../../rules/request/request.js';
import {groupsOf, withSeenInstances} from '../../rules/queue/eligible.js';
import type {EntryNote} from '../../rules/queue/queue.js';
import {policyValue} from '../../rules/policy/policy.js';
import {answeringIn, leaseFor, type ReadLinks} from '../acquire-now.js';

type Options = {
	readonly request: TimedRequest;
	readonly limit?: Limit | undefined;
	readonly leaseId: string;
	readonly entryId: string;
	readonly scan: () => Promise<Observation>;
	readonly readLinks: ReadLinks;
	/** Whether to scan even if no GPU can be taken, because other requests depend on the GPUs that the entry holds or notes as out of service. */
	readonly isScanDue?: boolean;
	readonly seen?: (observation: Observation) => void;
};

export type Nothing = Extract<QueueGrant, {kind: 'nothing'}> & {
	readonly unusable: readonly UnusableGpu[];
	/** The unavailable and eligible GPUs according to the scan, to be stored in the entry. Absent without a scan. */
	readonly note?: EntryNote;
	readonly unknown?: Eligibility['unknown'];
};

type ScannedGrant = Exclude<QueueGrant, {kind: 'nothing'}> | Nothing;

/**
Plans which GPUs a waiting request can take now. Scans only if there may be GPUs to take, according to the GPU records and the notes of earlier
entries. So a release does not make all waiting commands scan at once. Returns `stale` if the scan was made after the read of the pool. The caller
then reads again, because the scan must come first.
@throws CanhazgpuError `impossible` if the pool can never satisfy the request.
*/
export async function planWithScan(
	{host, clock, memoryThresholdMiB}: World,
	snapshot: Snapshot,
	{request, limit, leaseId, entryId, scan, readLinks, isScanDue = false, seen}: Options,
): Promise<ScannedGrant | 'stale'> {
	const isAnswering = answeringIn(snapshot, host);
	const strategy = request.strategy ?? policyValue(snapshot, 'strategy');
	const options = {
		preference: {strategy},
		limit,
		lease: leaseFor(request, leaseId, host, snapshot.now),
		isAnswering,
		host: host.hostname,
		force: request.force,
	};
	const position = snapshot.queue.findIndex(({id}) => id === entryId);
	const earlier = snapshot.queue
		.slice(0, Math.max(0, position))
		.filter((record) => record.kind === 'entry' && record.entry.unavailable !== undefined && isAnswering(record.entry));
	const noted = outagesNoted(snapshot, earlier);
	const isForced = request.force === true;
	const gpuCount = snapshot.gpus.length;
	const wanted = checkWanted(request, gpuCount);
	const blind = planQueueGrant(snapshot, entryId, {
		...options,
		outOfService: noted,
		isUsable: (index) => isForced || !noted.has(index),
		isUsableInstance: ({uuid}) => isForced || !noted.has(uuid),
	});
	if (blind.kind === 'nothing' && !isScanDue) {
		return {...blind, unusable: []};
	}

	const readAtMs = clock.monotonicMs();
	const observation = await scan();
	if (observation.takenAtMs > readAtMs) {
		return 'stale';
	}

	seen?.(observation);

	const own = snapshot.queue[position];
	const links = await readLinks(wanted, strategy);
	const eligibility = withinSharePolicy(wanted, eligibilityOf(wanted, observation, gpuCount, links), snapshot);
	requirePossible(wanted, {eligibility, observation, gpuCount, links});
	const outOfService = outagesSeen(snapshot, observation, memoryThresholdMiB);
	const eligible =
		own?.kind === 'entry' ? eligibleAfterScan(own.entry, groupsOf(own.entry, gpuCount), eligibility) : {};
	if (own?.kind === 'entry' && !isSameEligible(own.entry, eligible)) {
		const note = {unavailable: noteFor({...own.entry, ...eligible}, snapshot, outOfService), eligible};
		return {kind: 'nothing', gpus: blind.gpus, unusable: [], note, unknown: eligibility.unknown};
	}

	const clean = cleanRuleOf(snapshot);
	const shareMiB = wanted.need?.shareMiB;
	const blockAt = (index: number) =>
		usageBlockFor(snapshot.gpus[index]!, observation, {shareMiB, memoryThresholdMiB, clean});
	const blockAtInstance = (instance: InstanceOfGpu) =>
		usageBlockOfInstance(instance, observation, memoryThresholdMiB, clean);
	const grant = planQueueGrant(withSeenInstances(snapshot, observation, position), entryId, {
		...options,
		outOfService,
		isUsable: (index) => isForced || eligibility.instances !== undefined || blockAt(index) === undefined,
		readingOf: (gpu) => observation.gpus.find(({index}) => index === gpu),
		groups: eligibility.groups,
		instances: eligibility.instances,
		isUsableInstance: (instance) => isForced || blockAtInstance(instance) === undefined,
		preference: {strategy, readings: observation.gpus, links},
	});
	if (grant.kind !== 'nothing') {
		return grant;
	}

	const held = new Set(holdingsIn(snapshot.gpus).map(({lease}) => lease.mig?.uuid));
	const unusableInstances = (isForced ? [] : (eligibility.instances ?? [])).flatMap((instance) => {
		const block = held.has(instance.uuid) ? undefined : blockAtInstance(instance);
		return block === undefined ? [] : [{index: instance.gpu, instance: instanceText(instance), block}];
	});
	const unusableGpus = snapshot.gpus.flatMap(({kind, index}) => {
		const isWanted =
			eligibility.instances === undefined &&
			(eligibility.groups ?? [request.ids ?? [index]]).some((group) => group.includes(index));
		const block = isWanted && !isForced && kind === 'free' ? blockAt(index) : undefined;
		return block === undefined ? [] : [{index, block}];
	});
	const note =
		observation.failure === undefined && own?.kind === 'entry'
			? {unavailable: noteFor(own.entry, snapshot, outOfService), eligible}
			: undefined;
	return {...grant, unusable: [...unusableGpus, ...unusableInstances], note, unknown: eligibility.unknown};
}
