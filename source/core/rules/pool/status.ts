/** What every face shows: snapshot x observation -> one row a GPU. */
import {idleSecondsOf} from '../leases/idle.js';
import {latestEndOf} from '../leases/liveness.js';
import {modelOf, type Model} from '../leases/served-model.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import type {
	Drain,
	GpuProcess,
	GpuReading,
	GpuRecord,
	HealthProblem,
	Lease,
	Observation,
	Pool,
	Snapshot,
} from '../../model/types.js';
import {judgeUsage, sharedContainers, squattersOf, usersOf, wordsOnce, type GpuUsage} from '../allocation/gpu-usage.js';
import {maskSecrets} from './secrets.js';

export type GpuState = 'available' | 'in-use' | 'unreserved' | 'error';

export type StatusRow = {
	readonly index: number;
	readonly state: GpuState;
	readonly lease?: Lease;
	/** OS account that owns the lease. */
	readonly owner?: string;
	/** The lease's label, when that is not the account. */
	readonly label?: string;
	/** How long the lease has been held. */
	readonly heldSeconds?: number;
	readonly heartbeatAgeSeconds?: number;
	/** Until the lease is over at the latest: its expiry, or the time limit of its job. */
	readonly remainingSeconds?: number;
	/** How long nothing has run on a held GPU, as far as anybody watched. Absent when something does, or when that is unknown. */
	readonly idleSeconds?: number;
	/** Free GPUs that were used before. */
	readonly freeSeconds?: number;
	readonly lastReleased?: number;
	/** Undefined when the tool said nothing of this GPU. */
	readonly reading?: GpuReading;
	readonly use: GpuUsage;
	/** Empty when there are none or they are unknown; `reading.processes` tells which. Secrets in their command lines are masked. */
	readonly processes: readonly GpuProcess[];
	/** What is served or trained on it, where a command line says so. */
	readonly model?: Model;
	/** Accounts using it without a lease. Empty for a use whose users are unknown. */
	readonly unreservedUsers: readonly string[];
	/** Processes of others on somebody's lease, whatever memory they use. */
	readonly squatters: readonly GpuProcess[];
	/** Taken out of service by hand: nobody new gets it. */
	readonly drain?: Drain;
	/** Why it is unfit to be handed out. Empty: nothing is known to be wrong. */
	readonly health: readonly HealthProblem[];
	/** What is wrong with it: the record, the GPU or the scan. */
	readonly problem?: string;
};

type Seen = Pick<StatusRow, 'index' | 'reading' | 'use' | 'processes' | 'model' | 'drain' | 'health'>;

/** Why nobody new gets it, though it may well work: `drained: fan`, `Xid 79`. */
export function cautionOf({drain, health}: Pick<StatusRow, 'drain' | 'health'>): string | undefined {
	const drained = drain && (drain.reason === undefined ? 'drained' : `drained: ${drain.reason}`);
	const words = [drained, ...health.map((problem) => problem.words)].filter((word) => word !== undefined);
	return words.length === 0 ? undefined : words.join('; ');
}

/** As everybody may see it. */
const withoutSecrets = (process: GpuProcess): GpuProcess =>
	process.commandLine === undefined ? process : {...process, commandLine: maskSecrets(process.commandLine)};

/** Whether it is out of service by hand and for no other reason: then nothing is wrong with it. */
const isOnlyDrained = (row: StatusRow): boolean =>
	row.state === 'error' && row.drain !== undefined && row.health.length === 0 && row.problem === cautionOf(row);

export type ShownState = GpuState | 'drained';

/** The state as people are shown it: what was taken out of service on purpose is not broken. Scripts know such a GPU as `error`. */
export const shownStateOf = (row: StatusRow): ShownState => (isOnlyDrained(row) ? 'drained' : row.state);

type KnownOfLease = {readonly idleSeconds: number | undefined; readonly shared: ReadonlySet<string>};

function leasedRow(seen: Seen, lease: Lease, snapshot: Snapshot, {idleSeconds, shared}: KnownOfLease): StatusRow {
	const owner = ownerOf(lease);
	const end = latestEndOf(lease);
	return {
		...seen,
		state: 'in-use',
		lease,
		owner,
		label: labelOf(lease),
		heldSeconds: Math.max(0, snapshot.now - lease.startTime),
		heartbeatAgeSeconds:
			lease.type === 'run' && lease.lastHeartbeat !== undefined
				? Math.max(0, snapshot.now - lease.lastHeartbeat)
				: undefined,
		remainingSeconds: end === undefined ? undefined : Math.max(0, end - snapshot.now),
		idleSeconds,
		unreservedUsers: [],
		squatters: squattersOf(seen.processes, owner, shared),
		problem: seen.use.kind === 'failed' && seen.reading !== undefined ? seen.use.why : cautionOf(seen),
	};
}

function unleasedRow(seen: Seen, lastReleased: number | undefined, snapshot: Snapshot): StatusRow {
	const row = {
		...seen,
		lastReleased,
		freeSeconds: lastReleased === undefined ? undefined : Math.max(0, snapshot.now - lastReleased),
		unreservedUsers: [],
		squatters: [],
	};
	const caution = cautionOf(seen);
	switch (seen.use.kind) {
		case 'idle': {
			return caution === undefined ? {...row, state: 'available'} : {...row, state: 'error', problem: caution};
		}

		case 'used': {
			return {...row, state: 'unreserved', unreservedUsers: usersOf(seen.processes), problem: caution};
		}

		case 'unknown':
		case 'failed': {
			const why = [caution, seen.use.why].filter((words) => words !== undefined);
			return {...row, state: 'error', problem: wordsOnce(why).join('; ')};
		}
	}
}

type Surroundings = {
	readonly snapshot: Snapshot;
	readonly observation: Observation;
	readonly memoryThresholdMiB: number;
	/** Containers on GPUs of several holders. */
	readonly shared: ReadonlySet<string>;
};

function rowOf(record: GpuRecord, {snapshot, observation, memoryThresholdMiB, shared}: Surroundings): StatusRow {
	const reading = observation.gpus.find((gpu) => gpu.index === record.index);
	const use: GpuUsage =
		observation.failure === undefined
			? judgeUsage(reading, memoryThresholdMiB)
			: {kind: 'unknown', why: observation.failure.message};
	const processes = (reading?.processes ?? []).map((process) => withoutSecrets(process));
	const seen: Seen = {
		index: record.index,
		reading,
		use,
		processes,
		model: modelOf(reading?.processes ?? []),
		drain: snapshot.drains.get(record.index),
		health: reading?.health ?? [],
	};
	switch (record.kind) {
		case 'leased': {
			const known = {reading, now: snapshot.now, memoryThresholdMiB};
			const idleSeconds = idleSecondsOf(observation, record, known);
			return leasedRow(seen, record.lease, snapshot, {idleSeconds, shared});
		}

		case 'free': {
			return unleasedRow(seen, record.lastReleased, snapshot);
		}

		case 'garbage': {
			return {
				...seen,
				state: 'error',
				unreservedUsers: [],
				squatters: [],
				problem: `unreadable record: ${record.problem}`,
			};
		}
	}
}

/** One row a GPU of the pool, by index. */
export function statusRows(
	snapshot: Snapshot,
	observation: Observation,
	memoryThresholdMiB: number,
): readonly StatusRow[] {
	const held = snapshot.gpus.flatMap((record) =>
		record.kind === 'leased'
			? [
					{
						owner: ownerOf(record.lease),
						processes: observation.gpus.find(({index}) => index === record.index)?.processes ?? [],
					},
				]
			: [],
	);
	const surroundings = {snapshot, observation, memoryThresholdMiB, shared: sharedContainers(held)};
	return snapshot.gpus.map((record) => rowOf(record, surroundings));
}

/** Everything a face needs to draw itself. */
export type View = {
	readonly pool: Pool;
	readonly snapshot: Snapshot;
	readonly observation: Observation;
	readonly rows: readonly StatusRow[];
};
