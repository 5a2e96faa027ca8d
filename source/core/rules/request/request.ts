/** Checks a request against the pool, so that a request that can never succeed fails at once. */
import {CanhazgpuError, cutShort} from '../../../errors.js';
import type {InstanceNeed, InstanceOfGpu, Need, ProcessIdentity, Requester} from '../../model/types.js';
import {instanceText} from '../mig/instances.js';
import type {StrategyName} from '../../model/need.js';

/** Maximum length of a note. Limited, because every reader of the pool reads all notes. */
export const longestNote = 500;

export const longestReason = 200;

/** Maximum length of `--user`. Account names have at most 32 characters. */
export const longestLabel = 64;

export const characterCount = (text: string): number => [...text].length;

function checkLength(text: string | undefined, what: string, most: number): void {
	// `length` counts UTF-16 units, and a character has one or two of them.
	const count = text === undefined || text.length <= most ? 0 : characterCount(text);
	if (count > most) {
		throw new CanhazgpuError('usage', `${what} has ${count} characters, but the limit is ${most}`, {
			hint: 'Shorten it.',
		});
	}
}

export function checkNote(note: string | undefined): void {
	checkLength(note, 'The note', longestNote);
}

export function checkReason(reason: string | undefined): void {
	checkLength(reason, 'The reason', longestReason);
}

export type Wanted = {
	readonly count: number;
	/** The requested GPU ids, sorted. Undefined if any suitable GPUs are accepted. */
	readonly ids?: readonly number[];
	readonly need?: Need;
};

export const isPartOfGpu = (need: Need | undefined): boolean => need?.shareMiB !== undefined || need?.mig !== undefined;

const idRange = (gpuCount: number): string => (gpuCount === 1 ? 'the only id is 0' : `ids are 0 to ${gpuCount - 1}`);

/** Throws `impossible` for an id that is not in the pool or occurs twice. */
export function checkIds(ids: readonly number[], gpuCount: number): void {
	const outside = ids.filter((id) => !Number.isSafeInteger(id) || id < 0 || id >= gpuCount);
	if (outside.length > 0) {
		const which = cutShort(outside.join(', '));
		throw new CanhazgpuError(
			'impossible',
			outside.length === 1 ? `GPU ${which} is out of range` : `GPUs ${which} are out of range`,
			{
				hint: gpuCount === 0 ? 'The pool has no GPU.' : `The pool has ${gpuCount} GPU(s): ${idRange(gpuCount)}.`,
			},
		);
	}

	const twice = ids.find((id, position) => ids.indexOf(id) !== position);
	if (twice !== undefined) {
		throw new CanhazgpuError('impossible', `GPU ${twice} is named twice in ${cutShort(ids.join(','))}`, {
			hint: 'Name each GPU once.',
		});
	}
}

function checkInstances(need: InstanceNeed, count: number, gpuCount: number): number {
	if ('instances' in need) {
		const {instances} = need;
		checkIds([...new Set(instances.map(({gpu}) => gpu))], gpuCount);
		const names = instances.map((instance) => instanceText(instance));
		const twice = names.find((name, position) => names.indexOf(name) !== position);
		if (twice !== undefined) {
			throw new CanhazgpuError('impossible', `Instance ${twice} is named twice in ${cutShort(names.join(','))}`, {
				hint: 'Name each instance once.',
			});
		}

		return instances.length;
	}

	if (!Number.isSafeInteger(count) || count < 1) {
		throw new CanhazgpuError('impossible', `Cannot reserve ${count} MIG instances`, {hint: 'Ask for 1 or more.'});
	}

	return count;
}

/** Returns the request with sorted ids. Throws `impossible` if the pool can never satisfy the request. */
export function checkWanted({count, ids, need}: Wanted, gpuCount: number): Wanted {
	if (need?.mig !== undefined) {
		return {count: checkInstances(need.mig, count, gpuCount), need};
	}

	if (ids !== undefined) {
		checkIds(ids, gpuCount);
		return {count: ids.length, ids: [...ids].toSorted((a, b) => a - b), need};
	}

	if (!Number.isSafeInteger(count) || count < 1) {
		throw new CanhazgpuError('impossible', `Cannot reserve ${count} GPUs`, {hint: `Ask for 1 to ${gpuCount}.`});
	}

	if (count > gpuCount) {
		throw new CanhazgpuError('impossible', `Cannot reserve ${count} GPUs: the pool has ${gpuCount}`, {
			hint: `Ask for ${gpuCount} or fewer.`,
		});
	}

	return {count, need};
}

/** `timeLimitSeconds`: how long the job may run before its wrapper stops it. */
type JobTenure = {
	readonly type: 'run';
	readonly timeLimitSeconds?: number | undefined;
	/** The process that holds the GPUs. Defaults to this process, together with the job that it starts. */
	readonly holder?: ProcessIdentity;
	/** A running process that keeps the GPUs as long as it lives, without heartbeats. */
	readonly job?: ProcessIdentity;
};

type ManualTenure = {
	readonly type: 'manual';
	readonly keepSeconds?: number | undefined;
};

export type Tenure = JobTenure | (ManualTenure & {readonly durationSeconds: number});

/** How long a reservation lasts if neither the request nor the policy sets a duration. */
export const usualDurationSeconds = 8 * 3600;

/** A tenure as requested. Without a duration, the policy decides how long a reservation lasts. */
export type AskedTenure = JobTenure | (ManualTenure & {readonly durationSeconds?: number | undefined});

export type AcquireRequest = {
	readonly requester: Requester;
	/** Number of GPUs, or of MIG instances if `need.mig` is set. Ignored if specific GPUs are requested. */
	readonly count: number;
	readonly ids?: readonly number[];
	readonly need?: Need;
	readonly strategy?: StrategyName;
	readonly tenure: AskedTenure;
	readonly note?: string;
	readonly via?: string;
	readonly force?: boolean;
	readonly host?: string;
};

export type TimedRequest = Omit<AcquireRequest, 'tenure'> & {readonly tenure: Tenure};

export type Grant = {
	readonly kind: 'granted';
	readonly gpus: readonly number[];
	readonly instances?: readonly InstanceOfGpu[];
	readonly leaseId: string;
	readonly startTime: number;
	/** Store time at which the lease ends at the latest. Undefined for a job without a time limit. */
	readonly endsBy: number | undefined;
	readonly keepUntil?: number | undefined;
	readonly isBeyondLimit?: true;
	readonly durationSeconds?: number;
	/** The GPUs' machine and their ids there, in the same order. Set by an engine such as Slurm, which manages several machines. */
	readonly place?: {readonly node: string; readonly gpuIds: readonly number[]};
};
