/** Decides how long a lease has been idle: no process, and no memory in use beyond the driver's own. 0 % load is not enough. Unknown readings add no time. */
import {noSuchReading} from '../../model/observation.js';
import type {GpuReading, GpuRecord, IdleSpan, Lease, Observation} from '../../model/types.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {isWhole} from '../mig/instances.js';
import {judgeUsage, isInstanceIdle} from './gpu-usage.js';
import {mayBeOfAnyone, usageOfShares} from './share-usage.js';

/** How long a new reservation may be unused, or a job may pause, before the GPU is called idle. */
export const idleGraceSeconds = 10 * 60;

/**
Whether a GPU counts as idle. A GPU counts as idle after the grace period without use. If its manual reservation is older than the grace period, the
GPU counts as idle as soon as it is unused.
*/
export const isCalledIdle = ({
	type,
	heldSeconds = 0,
	idleSeconds = 0,
	isUnused,
}: {
	readonly type: Lease['type'] | undefined;
	readonly heldSeconds?: number | undefined;
	readonly idleSeconds?: number | undefined;
	readonly isUnused: boolean;
}): boolean => idleSeconds >= idleGraceSeconds || (type === 'manual' && isUnused && heldSeconds >= idleGraceSeconds);

/** If two scans are further apart than this, the time between them counts as unknown. */
const longestGapSeconds = 300;

/** Whether a share has no processes. Undefined if unknown, because a process of an unknown account or of a container may belong to any share. */
function isShareIdle(
	reading: GpuReading | undefined,
	sharedBy: NonNullable<Holding['sharedBy']>,
	memoryThresholdMiB: number,
): boolean | undefined {
	const {mig} = sharedBy.record.shares[sharedBy.position]!;
	if (mig !== undefined) {
		return isInstanceIdle(reading, mig, memoryThresholdMiB);
	}

	const processes = reading?.failure === undefined ? reading?.processes : undefined;
	const {shares, others} = usageOfShares(sharedBy.record.shares, processes, reading);
	const own = shares[sharedBy.position]!.processes;
	if (own.some(({kind}) => kind !== 'graphics')) {
		return false;
	}

	return processes !== undefined && others.every((process) => !mayBeOfAnyone(process)) ? true : undefined;
}

/** Returns whether the GPU is idle, or undefined if unknown. Desktop processes do not count. */
function isIdle(
	{sharedBy}: Pick<Holding, 'sharedBy'>,
	reading: GpuReading | undefined,
	memoryThresholdMiB: number,
): boolean | undefined {
	if (sharedBy !== undefined) {
		return isShareIdle(reading, sharedBy, memoryThresholdMiB);
	}

	const use = judgeUsage(reading, memoryThresholdMiB);
	const working = reading?.processes?.filter(({kind}) => kind !== 'graphics');
	if (use.kind === 'used' || (working !== undefined && working.length > 0)) {
		return false;
	}

	return use.kind === 'idle' && working !== undefined ? true : undefined;
}

/** Returns whether nobody uses the whole GPU. Undefined if any reading that could show use is unknown, and for a GPU in MIG mode. */
export function isUnusedForCertain(reading: GpuReading | undefined, memoryThresholdMiB: number): boolean | undefined {
	const isIdleNow = isIdle({}, reading, memoryThresholdMiB);
	if (reading === undefined || isIdleNow === false) {
		return isIdleNow;
	}

	const {utilizationPercent: load, unknown, health = []} = reading;
	if (load !== undefined && load > 0) {
		return false;
	}

	const marker = unknown['utilizationPercent'];
	const isLoadKnown = load !== undefined || (marker !== undefined && noSuchReading.has(marker));
	return isIdleNow === true && isLoadKnown && health.length === 0 && isWhole(reading) === true ? true : undefined;
}

/** The number of the initial pid namespace, outside of all containers. It is the same on every Linux machine. */
const outerPidNamespace = '4026531836';

/** Even an empty CUDA context uses more memory than this. */
const leastContextMiB = 128;

/** Returns whether the GPU's memory may belong to a process that the caller cannot see, because the caller is in a container with its own pid namespace. */
export const mayHideProcess = (reading: GpuReading | undefined, pidNamespace: string | undefined): boolean =>
	pidNamespace !== undefined && pidNamespace !== outerPidNamespace && (reading?.memoryUsedMiB ?? 0) > leastContextMiB;

/** Returns a key that identifies a lease. Leases of the Go program have no id, so they are identified by user and start time. */
const leaseKey = ({leaseId, user, startTime, mig}: Lease): string =>
	[leaseId ?? `${user} ${startTime}`, ...(mig === undefined ? [] : [mig.uuid])].join(' ');

/** Returns the stored idle span of this lease on this GPU. If a reading has no UUID, the GPU counts as the same GPU. */
const spanOf = (
	spans: readonly IdleSpan[],
	{lease, index}: {readonly lease: Lease; readonly index: number},
	uuid: string | undefined,
): IdleSpan | undefined =>
	spans.find(
		(span) =>
			span.lease === leaseKey(lease) &&
			span.index === index &&
			(span.uuid === undefined || uuid === undefined || span.uuid === uuid),
	);

function gapSince({until}: IdleSpan, now: number): number {
	const gap = until === undefined ? 0 : Math.max(0, now - until);
	return gap > longestGapSeconds ? 0 : gap;
}

type Known = {
	readonly before: readonly IdleSpan[];
	readonly records: readonly GpuRecord[];
	readonly now: number;
	readonly memoryThresholdMiB: number;
};

export function nextIdle(
	{gpus}: Pick<Observation, 'gpus'>,
	{before, records, now, memoryThresholdMiB}: Known,
): readonly IdleSpan[] {
	return holdingsIn(records).flatMap((holding): readonly IdleSpan[] => {
		const reading = gpus.find(({index}) => index === holding.index);
		const span = spanOf(before, holding, reading?.uuid);
		const isIdleNow = isIdle(holding, reading, memoryThresholdMiB);
		if (isIdleNow === undefined) {
			return span === undefined ? [] : [{...span, until: undefined}];
		}

		const seconds = span === undefined ? 0 : span.seconds + gapSince(span, now);
		return isIdleNow
			? [{lease: leaseKey(holding.lease), index: holding.index, uuid: reading?.uuid, seconds, until: now}]
			: [];
	});
}

export function idleSecondsOf(
	{idle = []}: Pick<Observation, 'idle'>,
	held: Pick<Holding, 'lease' | 'index' | 'sharedBy'>,
	{
		reading,
		now,
		memoryThresholdMiB,
	}: {
		readonly reading: GpuReading | undefined;
		readonly now: number;
		readonly memoryThresholdMiB: number;
	},
): number | undefined {
	const span = isIdle(held, reading, memoryThresholdMiB) === true ? spanOf(idle, held, reading?.uuid) : undefined;
	return span && span.seconds + gapSince(span, now);
}
