import type {JobList, JobRecord} from '../core/model/jobs.js';
import type {EntryRecord, GpuRecord, Pool, QueueRecord, Snapshot} from '../core/model/types.js';
import {
	decodeDrains,
	decodeGpu,
	decodeJob,
	decodeJobIndex,
	decodeAlerts,
	decodePolicy,
	decodeOwner,
	decodePool,
	decodeQueueEntry,
	decodeRevision,
	decodeUsage,
	poolGarbage,
	type PoolOwner,
	type RawPool,
} from './records/index.js';

/** A stored value, or undefined if there is none. For a value of another type than string, `wrongType` is Redis's name of the type. */
export type RawValue = string | undefined | {readonly wrongType: string};

export type RawSnapshot = {
	readonly now: number;
	readonly storeUptimeSeconds: number;
	readonly pool: {readonly [Key in keyof RawPool]: RawValue};
	readonly drains: RawValue;
	readonly alerts: RawValue;
	readonly policy: RawValue;
	readonly revision: RawValue;
	readonly run: string | undefined;
	/** The GPU records by index. There are at least as many as the pool has GPUs. */
	readonly gpus: readonly RawValue[];
	readonly queue: ReadonlyArray<readonly [id: string, entry: RawValue]>;
	/** Recent usage records, newest first, which are searched for the last uses of `user`. */
	readonly recentUsage: readonly string[];
	/** When `user` last used each GPU, in seconds since the epoch. Replaces `recentUsage` in a store that keeps these times. */
	readonly lastUse?: ReadonlyMap<number, number> | undefined;
	readonly attemptDone?: RawValue;
};

const storedOf = (value: RawValue): string | undefined => (typeof value === 'object' ? undefined : value);

const problemOf = ({wrongType}: {readonly wrongType: string}): string => `it is a ${wrongType}, not a string`;

function poolValue(name: string, value: RawValue, owner?: PoolOwner): string | undefined {
	if (typeof value === 'object') {
		throw poolGarbage(`${name}: ${problemOf(value)}`, {owner});
	}

	return value;
}

function poolOf(raw: RawSnapshot['pool']): Pool | undefined {
	const machine = poolValue('machine', raw.machine);
	const owner = raw.gpuCount === undefined ? undefined : decodeOwner(machine);
	return decodePool({
		gpuCount: poolValue('gpu_count', raw.gpuCount, owner),
		provider: poolValue('provider', raw.provider, owner),
		machine,
	});
}

const gpuRecord = (value: RawValue, index: number): GpuRecord =>
	typeof value === 'object'
		? {kind: 'garbage', index, raw: undefined, problem: problemOf(value)}
		: decodeGpu(index, value);

const queueRecord = (id: string, value: RawValue): QueueRecord =>
	typeof value === 'object'
		? {kind: 'garbage', id, raw: undefined, problem: problemOf(value)}
		: decodeQueueEntry(id, value);

export function decodeEntry(id: string, value: RawValue): EntryRecord | undefined {
	const record = queueRecord(id, value);
	return record.kind === 'entry' ? record : undefined;
}

export const decodeJobs = (
	now: number,
	index: RawValue,
	values: ReadonlyArray<readonly [number: number, raw: RawValue]>,
): JobList => ({
	now,
	index: decodeJobIndex(storedOf(index)),
	records: values.flatMap(([number, value]): readonly JobRecord[] =>
		value === undefined
			? []
			: [
					typeof value === 'object'
						? {kind: 'garbage', number, raw: undefined, problem: problemOf(value)}
						: decodeJob(number, value),
				],
	),
});

function drainsOf(value: RawValue, gpuCount: number, now: number): Pick<Snapshot, 'drains' | 'drainProblem'> {
	const decoded = typeof value === 'object' ? {problem: problemOf(value)} : decodeDrains(value);
	if ('drains' in decoded) {
		return decoded;
	}

	const drain = {reason: `the record of drained GPUs cannot be read: ${decoded.problem}`, since: now};
	return {
		drains: new Map(Array.from({length: gpuCount}, (_, index) => [index, drain] as const)),
		drainProblem: decoded.problem,
	};
}

function policyOf(value: RawValue): Pick<Snapshot, 'policy' | 'policyProblem'> {
	const decoded = typeof value === 'object' ? {problem: problemOf(value)} : decodePolicy(value);
	return 'policy' in decoded ? decoded : {policy: new Map(), policyProblem: decoded.problem};
}

function lastUsedBy(user: string, newestFirst: readonly string[]): ReadonlyMap<number, number> {
	const label = user.toWellFormed();
	const lastUsed = new Map<number, number>();
	for (const raw of newestFirst) {
		const usage = decodeUsage(raw);
		if (usage?.user === label && usage.gpuId !== undefined && !lastUsed.has(usage.gpuId)) {
			lastUsed.set(usage.gpuId, usage.endTime);
		}
	}

	return lastUsed;
}

/** Decodes a snapshot. `user` is the label for which `lastUsed` is set. Throws `pool-garbage` if the pool's values are invalid. */
export function decodeSnapshot(raw: RawSnapshot, user: string | undefined): Snapshot {
	const pool = poolOf(raw.pool);
	const gpuCount = pool?.gpuCount ?? 0;
	const {drains, drainProblem} = drainsOf(raw.drains, gpuCount, raw.now);
	const {policy, policyProblem} = policyOf(raw.policy);
	const {alerts, dataLoss, baselines, overuse, returned} = decodeAlerts(storedOf(raw.alerts));
	return {
		now: raw.now,
		storeUptimeSeconds: raw.storeUptimeSeconds,
		pool,
		gpus: raw.gpus.slice(0, gpuCount).map((value, index) => gpuRecord(value, index)),
		queue: raw.queue.map(([id, value]) => queueRecord(id, value)),
		drains,
		...(drainProblem !== undefined && {drainProblem}),
		policy,
		...(policyProblem !== undefined && {policyProblem}),
		alerts,
		dataLoss,
		baselines,
		overuse,
		...(returned.length > 0 && {returned}),
		alertsProblem: typeof raw.alerts === 'object' ? problemOf(raw.alerts) : undefined,
		stored: {
			machine: storedOf(raw.pool.machine),
			drains: storedOf(raw.drains),
			alerts: storedOf(raw.alerts),
			policy: storedOf(raw.policy),
		},
		revision: decodeRevision(storedOf(raw.revision), raw.run),
		lastUsed: raw.lastUse ?? (user === undefined ? new Map() : lastUsedBy(user, raw.recentUsage)),
		attemptDone: typeof raw.attemptDone === 'string' ? Number(raw.attemptDone) : undefined,
	};
}
